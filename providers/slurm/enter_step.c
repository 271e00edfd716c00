/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hidden commands with which a command gets beside a task.  `enter-step` runs
 * where Slurm's commands are: it calls srun, keeps srun's own words apart from
 * those of the command, and ends the step whatever ends first.  `enter-task`
 * runs on the node, in that step.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/opt.h"
#include "core/base/text.h"
#include "core/enter/enter.h"
#include "core/process/process.h"
#include "core/process/subprocess.h"
#include "core/provider/extension.h"
#include "providers/slurm/hostlist.h"
#include "providers/slurm/queue.h"
#include "providers/slurm/slurm_internal.h"

#define CALL_MS 60000
#define ANSWER_MAX ((size_t)4 << 20)
#define NODES_MAX ((size_t)1 << 20)
#define WORDS_MAX ((size_t)64 << 10)
/* The words of srun before those of the command. */
#define SRUN_WORDS 21
/* How srun tells that the step's only task has ended, and how. */
#define TASK_ENDED "task 0: "

struct enter_step_opts {
	bool terminal;
};

static const struct opt options[] = {
	{ 0, "terminal", OPT_FLAG, offsetof(struct enter_step_opts, terminal),
	  NULL, "give the command a terminal" },
	{ 0 },
};

/* A step, seen from the machine that calls srun. */
struct entered {
	struct arena *mem;
	const char *job;   /* as srun takes it */
	const char *group; /* the option for the component, or NULL */
	const char *name;  /* of the step */
	bool is_port;      /* a connection, not a command */
	pid_t srun;
	int signals;
	int errors[2]; /* the command's standard error; -1: a terminal */
	int words[2];  /* srun's own */
	struct buf said;
	bool told; /* to end */
};

/* Calls one of Slurm's commands. */
static int call(const char *const *argv, struct command_answer *answer,
		struct error *err)
{
	const struct command_call what = { .argv = argv,
					   .output_max = ANSWER_MAX,
					   .timeout_ms = CALL_MS };

	if (command_run(&what, answer, err) < 0)
		return -1;
	if (command_status(answer) == 0)
		return 0;
	cluster_slurm_failed(argv[0], answer, err);
	command_answer_done(answer);
	return -1;
}

static bool has_node(const char *nodes, const char *node, struct arena *mem)
{
	struct hostlist list = { 0 };
	struct error ignored;
	size_t i;

	if (hostlist_add(&list, nodes, NODES_MAX, mem, &ignored) < 0)
		return false;
	for (i = 0; i < list.count; i++)
		if (!strcmp(list.hosts[i], node))
			return true;
	return false;
}

/* Takes a line "NUMBER|ID|NODES" of squeue.  srun wants the number of an
 * element, but for a component the leader's, and which one it is. */
static void take_component(struct entered *s, char **columns)
{
	const char *plus = strchr(columns[1], '+');

	s->job = arena_strdup(s->mem, columns[0]);
	if (!plus)
		return;
	s->job = arena_strndup(s->mem, columns[1], (size_t)(plus - columns[1]));
	s->group = arena_printf(s->mem, "--het-group=%s", plus + 1);
}

/* Finds the job, or its component, that has the node. */
static int find_component(struct entered *s, const char *id, const char *node,
			  struct error *err)
{
	const char *const argv[] = { "squeue", "-h",       "-j", id,
				     "-o",     "%A|%i|%N", NULL };
	struct command_answer answer = { 0 };
	char *line, *rest, *columns[3];

	if (call(argv, &answer, err) < 0)
		return -1;
	rest = answer.out.data;
	while (!s->job && rest && (line = strsep(&rest, "\n")))
		if (queue_split(line, columns, 3) &&
		    has_node(columns[2], node, s->mem))
			take_component(s, columns);
	command_answer_done(&answer);
	return s->job ? 0
		      : error_set(err, ERROR_FAILED,
				  "job %s does not run on node '%s'", id, node);
}

/* The words of srun; args: ID NODE PROGRAM TARGET COMMAND...  The program goes
 * by its whole path, as the step begins where every node has a folder. */
static char *const *srun_words(struct entered *s, char *const *args)
{
	char *program = strchr(args[2], '/') ? path_absolute(args[2]) : NULL;
	const char **argv;
	size_t count = 0, n = 0;

	while (args[4 + count])
		count++;
	argv = arena_alloc(s->mem, (SRUN_WORDS + count + 1) * sizeof(*argv));
	argv[n++] = "srun";
	argv[n++] = arena_printf(s->mem, "--jobid=%s", s->job);
	if (s->group)
		argv[n++] = s->group;
	argv[n++] = "--overlap";
	argv[n++] = "--nodes=1";
	argv[n++] = "--ntasks=1";
	argv[n++] = arena_printf(s->mem, "--nodelist=%s", args[1]);
	argv[n++] = "--chdir=/";
	argv[n++] = "--mpi=none";
	argv[n++] = "--quit-on-interrupt";
	argv[n++] = arena_printf(s->mem, "--job-name=%s", s->name);
	/* What ends with no newline would stay with srun. */
	if (s->is_port)
		argv[n++] = "--unbuffered";
	if (s->errors[1] < 0) {
		argv[n++] = "--pty";
	} else {
		/* By that name srun opens our end of the pipe; it closes all
		 * that it would inherit. */
		argv[n++] = "--open-mode=append";
		argv[n++] = arena_printf(s->mem, "--error=/proc/%ld/fd/%d",
					 (long)getpid(), s->errors[1]);
	}
	argv[n++] = program ? arena_strdup(s->mem, program) : args[2];
	argv[n++] = "enter-task";
	argv[n++] = args[3];
	argv[n++] = "--";
	memcpy(argv + n, args + 4, (count + 1) * sizeof(*argv));
	free(program);
	return (char *const *)argv;
}

/* Drops what a job sets for its steps, if we are called in one ourselves. */
static void forget_own_job(void)
{
	char **item = environ, *name;

	while (*item) {
		name = mem_printf("%.*s", (int)strcspn(*item, "="), *item);
		if ((text_starts(name, "SLURM_") ||
		     text_starts(name, "SRUN_") ||
		     text_starts(name, "SLURMD_")) &&
		    strcmp(name, "SLURM_CONF") != 0)
			unsetenv(name);
		else
			item++;
		free(name);
	}
}

/* Becomes srun in the child.  It dies with us, and with it the step. */
static void become_srun(const struct entered *s, char *const *argv,
			const sigset_t *before, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(128 + SIGTERM);
	sigprocmask(SIG_SETMASK, before, NULL);
	signal(SIGPIPE, SIG_DFL);
	process_restore_core();
	if (dup2(s->words[1], STDERR_FILENO) >= 0)
		execvp(argv[0], argv);
	dprintf(s->words[1], "srun: error: %s\n", strerror(errno));
	_exit(127);
}

static int start(struct entered *s, char *const *args, bool terminal,
		 struct error *err)
{
	pid_t self = getpid();
	sigset_t set, before;
	char *const *argv;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, &before);
	s->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->signals < 0 || pipe2(s->words, O_CLOEXEC) < 0 ||
	    (!terminal && pipe2(s->errors, O_CLOEXEC) < 0))
		return error_errno(err, "cannot start srun");
	argv = srun_words(s, args);
	forget_own_job();
	s->srun = fork();
	if (s->srun < 0)
		return error_errno(err, "cannot start srun");
	if (s->srun == 0)
		become_srun(s, argv, &before, self);
	fcntl(s->words[0], F_SETFL, O_NONBLOCK);
	if (!terminal)
		fcntl(s->errors[0], F_SETFL, O_NONBLOCK);
	return 0;
}

/* srun ends the step, and then itself. */
static void end(struct entered *s)
{
	if (!s->told)
		kill(s->srun, SIGTERM);
	s->told = true;
}

static void relay_errors(struct entered *s)
{
	char part[16384];
	ssize_t got;

	while (s->errors[0] >= 0 &&
	       (got = read(s->errors[0], part, sizeof(part))) > 0)
		if (fd_write(STDERR_FILENO, part, (size_t)got) < 0)
			end(s);
}

static void take_words(struct entered *s)
{
	char part[4096];
	ssize_t got;

	while ((got = read(s->words[0], part, sizeof(part))) > 0)
		if (s->said.len + (size_t)got < WORDS_MAX)
			buf_add(&s->said, part, (size_t)got);
}

static void hear(struct entered *s)
{
	struct signalfd_siginfo info;

	while (read(s->signals, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo != SIGCHLD)
			end(s);
}

/* Waits for the end of srun, or of those who read our output.  Returns srun's
 * status as waitpid() does. */
static int attend(struct entered *s)
{
	struct pollfd fds[] = { { .fd = s->signals, .events = POLLIN },
				{ .fd = s->words[0], .events = POLLIN },
				{ .fd = s->errors[0], .events = POLLIN },
				{ .fd = STDOUT_FILENO } };
	int status = 0;

	while (waitpid(s->srun, &status, WNOHANG) == 0) {
		if (poll(fds, COUNT(fds), -1) < 0 && errno != EINTR)
			end(s);
		if (fds[3].revents) {
			fds[3].fd = -1;
			fds[3].revents = 0;
			end(s);
		}
		hear(s);
		take_words(s);
		relay_errors(s);
	}
	take_words(s);
	relay_errors(s);
	return status;
}

/* Ends the step of an srun that was killed, which goes on without it. */
static void cancel_step(const struct entered *s)
{
	const char *const list[] = {
		"squeue", "-h", "-s", "-o", "%i|%j", NULL
	};
	const char *kill_it[] = { "scancel", NULL, NULL };
	struct command_answer answer = { 0 }, none = { 0 };
	char *line, *rest, *columns[2];
	struct error ignored;

	if (call(list, &answer, &ignored) < 0)
		return;
	rest = answer.out.data;
	while (rest && (line = strsep(&rest, "\n"))) {
		if (!queue_split(line, columns, 2) ||
		    strcmp(columns[1], s->name) != 0)
			continue;
		kill_it[1] = columns[0];
		if (call(kill_it, &none, &ignored) == 0)
			command_answer_done(&none);
	}
	command_answer_done(&answer);
}

/* Tells the end of the command from that of srun without it. */
static int judge(struct entered *s, int status, struct error *err)
{
	struct command_answer answer = { .status = status };
	const char *said = buf_text(&s->said), *line;
	int code = process_exit_code(status);

	if (WIFSIGNALED(status) && !s->told)
		cancel_step(s);
	if (!s->told && strstr(said, " CANCELLED "))
		return error_set(err, ERROR_FAILED,
				 "Slurm has ended the command, as it does with "
				 "a job that has ended");
	if (code == 0 || s->told || strstr(said, TASK_ENDED))
		return code;
	line = strstr(said, "error: ");
	if (line)
		buf_add(&answer.words, line, strcspn(line, "\n"));
	cluster_slurm_failed("srun", &answer, err);
	buf_done(&answer.words);
	return -1;
}

static int run_step(const void *given, char *const *args,
		    const struct provider_env *env, struct buf *out,
		    struct error *err)
{
	const struct enter_step_opts *opts = given;
	struct entered s = { .mem = arena_new(),
			     .errors = { -1, -1 },
			     .words = { -1, -1 },
			     .signals = -1 };
	struct enter_target target;
	int ret;

	(void)env;
	(void)out;
	s.name = arena_printf(s.mem, "enter-%ld-%lld", (long)getpid(),
			      (long long)time_now_ms());
	ret = enter_target_parse(arena_strdup(s.mem, args[3]), &target, err);
	s.is_port = ret == 0 && target.port;
	if (ret == 0)
		ret = find_component(&s, args[0], args[1], err);
	if (ret == 0)
		ret = start(&s, args, opts->terminal, err);
	if (ret == 0)
		ret = judge(&s, attend(&s), err);
	buf_done(&s.said);
	arena_free(s.mem);
	return ret;
}

const struct provider_command slurm_enter_step = {
	.name = "enter-step",
	.args = "[--terminal] ID NODE PROGRAM TARGET -- COMMAND [ARGUMENT]...",
	.summary = "start a step beside a task; called by 'exec'",
	.options = options,
	.opts_size = sizeof(struct enter_step_opts),
	.arg_count = 5,
	.has_more = true,
	.run = run_step,
};

static int run_task(const void *given, char *const *args,
		    const struct provider_env *env, struct buf *out,
		    struct error *err)
{
	struct enter_target target;

	(void)given;
	(void)env;
	(void)out;
	if (enter_target_parse(args[0], &target, err) < 0)
		return -1;
	return enter_exec(&target, args + 1, err);
}

const struct provider_command slurm_enter_task = {
	.name = "enter-task",
	.args = "TARGET -- COMMAND [ARGUMENT]...",
	.summary = "run a command beside a task; called in a step",
	.arg_count = 2,
	.has_more = true,
	.run = run_task,
};
