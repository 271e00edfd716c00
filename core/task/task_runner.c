/* SPDX-License-Identifier: Apache-2.0 */
#include "core/task/task_runner.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/spec/spec_container.h"
#include "core/spec/hosts_program.h"
#include "core/task/launch.h"
#include "core/task/task_secrets.h"
#include "core/log/log.h"
#include "core/log/log_file.h"
#include "core/process/process.h"
#include "core/process/task.h"
#include "core/spec/spec.h"
#include "core/trial/trial_spec.h"
#include "core/trial/trial_watch.h"
#include "core/spec/wrap.h"

/* How often to look at the other tasks.  With many tasks each looks less often,
 * as they share a file server. */
#define LOOK_MS 500
/* How often to look for the setup of its own node. */
#define SETUP_LOOK_MS 200
#define LIMIT_TEXT_MAX 32

struct task_runner {
	const struct task_runner_deps *deps;
	struct arena *mem;
	struct run_spec spec;
	const struct task_place *task;
	const char *attempt;   /* folder of the attempt */
	const char *container; /* the name of its container, if it has one */
	struct environment env;
	struct log_writer *log;
	struct run_spec watched;       /* the run as `watch` needs it */
	struct trial_watch *watch;     /* NULL: no early end */
	int64_t watch_ms;              /* time of the next look */
	struct loop_event *wait_timer; /* while another task does the setup */
	struct rlimit files;           /* RLIMIT_NOFILE */
	struct task_parent parent;
	struct task process; /* setup, or the program */
	int status;          /* exit status as from waitpid() */
	bool has_secrets;    /* secrets that this task must remove */
	size_t begun;        /* the first tasks known to have begun */
	bool told;           /* to end, by anybody */
	bool has_limit;      /* a time limit */
	bool over_time;      /* the time limit is over for all */
	bool done; /* the master has succeeded, or a later attempt has begun */
};

/* Appends one line in a single write. */
static int add_record(struct task_runner *m, const char *line,
		      struct error *err)
{
	const char *path =
		task_file_path(m->mem, m->attempt,
			       task_type_name(m->task->type), m->task->index);
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	int ret = 0;

	if (fd < 0 || fd_write(fd, line, strlen(line)) < 0 || fsync(fd) < 0)
		ret = error_errno(err, "cannot write '%s'", path);
	if (fd >= 0)
		close(fd);
	return ret;
}

/* ---- what it is told --------------------------------------------------- */

/* Takes the hosts and ports of the tasks from `peers`; the specification has
 * the tasks themselves. */
static int join_peers(struct task_runner *m, struct error *err)
{
	const struct topology *peers = m->deps->peers;
	struct topology *all = &m->spec.topology;
	size_t i;

	if (peers->count != all->count)
		return error_set(err, ERROR_FAILED,
				 "there are %zu tasks here, but the run has "
				 "%zu",
				 peers->count, all->count);
	for (i = 0; i < all->count; i++) {
		all->tasks[i].host = peers->tasks[i].host;
		all->tasks[i].port = peers->tasks[i].port;
	}
	all->master_port = peers->master_port;
	topology_rank(all);
	m->task = &all->tasks[m->deps->self];
	return 0;
}

static const char *home_folder(void)
{
	const char *home = getenv("HOME");
	const struct passwd *user = home ? NULL : getpwuid(geteuid());

	return home ? home : user ? user->pw_dir : "/";
}

/* Turns the specification into that of the trial, which has a folder of its own
 * in the run's and shares everything else. */
static int become_trial(struct task_runner *m, struct error *err)
{
	const struct run_spec run = m->spec;
	int number = m->deps->trial;
	const char *folder =
		arena_printf(m->mem, "%s/trials/%d", run.folder, number);
	const char *metric = arena_printf(m->mem, "%s/attempts/%d/metric",
					  folder, m->deps->restart);
	const char **values;

	if (!number)
		return 0;
	if (trial_values_read(run.folder, &run, number, m->mem, &values, err) <
	    0)
		return -1;
	trial_spec_make(&run, number, values, folder, metric, m->mem, &m->spec);
	return 0;
}

static int read_spec(struct task_runner *m, struct error *err)
{
	char *folder = path_absolute(m->deps->folder);
	struct run_spec *spec = &m->spec;
	char *path;
	int ret = -1;

	if (spec_read(folder, m->mem, spec, err) < 0)
		goto out;
	spec_set_folder(spec, arena_strdup(m->mem, folder), m->mem);
	if (become_trial(m, err) < 0 || join_peers(m, err) < 0)
		goto out;
	if (!strcmp(spec->directory, "~")) {
		spec->directory = home_folder();
	} else {
		path = path_join(folder, spec->directory);
		spec->directory = arena_strdup(m->mem, path);
		free(path);
	}
	m->attempt = arena_printf(m->mem, "%s/attempts/%d", spec->folder,
				  m->deps->restart);
	if (folder_make(spec->output, err) == 0 &&
	    folder_make(arena_printf(m->mem, "%s/tasks", m->attempt), err) == 0)
		ret = 0;
out:
	free(folder);
	return ret;
}

static int set_secrets(struct task_runner *m, struct error *err)
{
	return task_secrets_read(m->spec.home, &m->env, &m->has_secrets, err);
}

/* Removes the secrets, in the first task, once all tasks have begun and thus
 * read them, unless another attempt or trial may need them. */
static void forget_secrets(struct task_runner *m)
{
	const struct restart *restart = &m->spec.restart;
	const struct topology *all = &m->spec.topology;

	if (!m->has_secrets || m->deps->self != 0 || m->deps->trial ||
	    restart->max_restarts || restart->max_preemptions)
		return;
	while (m->begun < all->count) {
		const struct task_place *task = &all->tasks[m->begun];
		struct arena *mem = arena_new();
		const char *file =
			task_file_path(mem, m->attempt,
				       task_type_name(task->type), task->index);
		bool has_begun = access(file, F_OK) == 0;

		arena_free(mem);
		if (!has_begun)
			return;
		m->begun++;
	}
	task_secrets_remove(m->spec.home);
	m->has_secrets = false;
}

/* ---- a process --------------------------------------------------------- */

static int start(struct task_runner *m, const struct strings *command,
		 struct error *err)
{
	char **argv = arena_alloc(m->mem, (command->count + 1) * sizeof(*argv));

	memcpy(argv, command->items, command->count * sizeof(*argv));
	return task_start(&m->process, argv, m->env.items, m->spec.directory,
			  err);
}

static ssize_t take_output(void *arg, int stream, int pipe, size_t limit)
{
	struct task_runner *m = arg;

	return log_writer_take(m->log, (enum log_stream)stream, pipe, limit,
			       time_now_ms());
}

static void process_ended(void *arg, int status)
{
	struct task_runner *m = arg;

	m->status = status;
	loop_stop(m->parent.loop);
}

/* Ends the running process, or the wait for setup. */
static void end(struct task_runner *m, int number)
{
	task_end(&m->process, number, m->spec.grace_s * 1000);
	if (!m->process.pid)
		loop_stop(m->parent.loop);
}

/* Records once that the task was told to end, so that it is not blamed for the
 * end of the attempt. */
static void note_told(struct task_runner *m, int number)
{
	struct error ignored;

	if (m->told || m->done)
		return;
	m->told = true;
	add_record(m,
		   arena_printf(m->mem, "told %d %lld\n", number,
				(long long)time_now_ms()),
		   &ignored);
}

static void hear(void *arg, int number, bool from_kernel)
{
	struct task_runner *m = arg;

	(void)from_kernel;
	if (number == SIGCHLD)
		return;
	if (task_is_asked_by(number)) {
		note_told(m, number);
		end(m, number);
	} else {
		task_signal(&m->process, number);
	}
}

/*
 * Ends this task if the master has succeeded or another attempt has begun.  In
 * the latter case its node was thought to be lost, and is back.
 */
static void look_around(struct task_runner *m)
{
	struct arena *mem = arena_new();
	const struct task_place *master = &m->spec.topology.tasks[0];
	struct task_record task = { .type = task_type_name(master->type),
				    .index = master->index,
				    .state = RUN_QUEUED };
	const char *next = arena_printf(mem, "%s/attempts/%d", m->spec.folder,
					m->deps->restart + 1);
	struct error ignored;

	if (access(next, F_OK) == 0) {
		m->done = true;
		end(m, SIGKILL);
	} else if (m->deps->self != 0 && !m->done &&
		   task_file_read(m->attempt, mem, &task, &ignored) == 0 &&
		   task.state == RUN_SUCCEEDED) {
		m->done = true;
		end(m, SIGTERM);
	}
	arena_free(mem);
}

static const char *over_time_path(const struct task_runner *m)
{
	return arena_printf(m->mem, "%s/" TASK_OVER_TIME_FILE, m->attempt);
}

static void end_over_time(struct task_runner *m)
{
	m->over_time = true;
	note_told(m, SIGTERM);
	end(m, SIGTERM);
}

/* Ends the run's time in the first task, and tells the others. */
static void out_of_time(void *arg, uint32_t events)
{
	struct task_runner *m = arg;
	struct error ignored;

	(void)events;
	if (m->told || m->done)
		return;
	file_write(over_time_path(m), "over\n", 5, &ignored);
	end_over_time(m);
}

static void limit_time(struct task_runner *m)
{
	char *path = path_join(m->attempt, TASK_UNTIL_FILE);
	struct error ignored;
	size_t len;
	char *text = file_read(path, LIMIT_TEXT_MAX, &len, &ignored);
	int64_t left_ms = text ? strtoll(text, NULL, 10) - time_now_ms() : 0;

	if (text && m->deps->self == 0)
		loop_add_timer(m->parent.loop, left_ms > 0 ? left_ms : 1,
			       out_of_time, m);
	m->has_limit = text;
	free(text);
	free(path);
}

static void look_at_time(struct task_runner *m)
{
	if (m->has_limit && !m->told && !m->done &&
	    access(over_time_path(m), F_OK) == 0)
		end_over_time(m);
}

/* Ends a trial if the others were better at the same step. */
static void look_at_trials(struct task_runner *m)
{
	char *path;
	struct error ignored;

	if (!m->watch || m->told || time_monotonic_ms() < m->watch_ms)
		return;
	m->watch_ms = time_monotonic_ms() + TRIAL_WATCH_MS;
	if (!trial_watch_is_hopeless(m->watch))
		return;
	path = path_join(m->attempt, TRIAL_EARLY_FILE);
	if (file_write(path, "", 0, &ignored) == 0) {
		note_told(m, SIGTERM);
		end(m, SIGTERM);
	}
	free(path);
}

static void on_look(void *arg, uint32_t events);

static void look_later(struct task_runner *m)
{
	loop_add_timer(m->parent.loop,
		       LOOK_MS + (int64_t)m->spec.topology.count, on_look, m);
}

static void on_look(void *arg, uint32_t events)
{
	struct task_runner *m = arg;

	(void)events;
	look_later(m);
	look_around(m);
	look_at_time(m);
	look_at_trials(m);
	forget_secrets(m);
}

/* Handles output, signals and the other tasks until the process has ended. */
static void attend(struct task_runner *m)
{
	struct error ignored;

	/* The status if the loop fails: we kill the process. */
	m->status = SIGKILL;
	loop_run(m->parent.loop, &ignored);
	/* Processes that it left behind still hold its pipes. */
	process_end_children();
	task_drain(&m->process);
}

/* ---- the run of a task ------------------------------------------------- */

/* Whether this task was asked to end and must not start anything more. */
static bool is_to_end(struct task_runner *m)
{
	task_parent_hear(&m->parent);
	return m->told || m->done;
}

static int make_mark(const char *mark, struct error *err)
{
	int fd = open(mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0)
		return error_errno(err, "cannot write '%s'", mark);
	close(fd);
	return 0;
}

static int run_setup(struct task_runner *m, struct error *err)
{
	char how[64];

	if (start(m, &m->spec.setup, err) < 0)
		return error_prefix(err, "setup did not start");
	attend(m);
	if (!m->status)
		return 0;
	process_status_format(m->status, how, sizeof(how));
	return error_set(err, ERROR_FAILED, "setup %s", how);
}

static bool has_ended(struct task_runner *m, const struct task_place *place)
{
	struct arena *mem = arena_new();
	struct task_record task = { .type = task_type_name(place->type),
				    .index = place->index,
				    .state = RUN_QUEUED };
	struct error ignored;
	bool out = task_file_read(m->attempt, mem, &task, &ignored) == 0 &&
		   run_state_is_final(task.state);

	arena_free(mem);
	return out;
}

static void stop_waiting(void *arg, uint32_t events)
{
	struct task_runner *m = arg;

	(void)events;
	m->wait_timer = NULL;
	loop_stop(m->parent.loop);
}

/* Waits a while, or until this task is to end. */
static int await_more(struct task_runner *m, struct error *err)
{
	int ret;

	m->wait_timer = loop_add_timer(
		m->parent.loop, SETUP_LOOK_MS + (int64_t)m->spec.topology.count,
		stop_waiting, m);
	ret = loop_run(m->parent.loop, err);
	loop_remove(m->parent.loop, m->wait_timer);
	return ret;
}

/* Waits while another task of this node runs setup.  If that one has ended
 * without success, there is nothing to wait for. */
static int await_setup(struct task_runner *m, const struct task_place *who,
		       const char *mark, struct error *err)
{
	while (access(mark, F_OK) < 0 && !is_to_end(m)) {
		if (!has_ended(m, who)) {
			if (await_more(m, err) < 0)
				return -1;
		} else if (access(mark, F_OK) < 0) {
			note_told(m, SIGTERM);
			return error_set(err, ERROR_FAILED,
					 "setup failed on %s: see %s %d",
					 who->host, task_type_name(who->type),
					 who->index);
		}
	}
	return 0;
}

/* Runs setup in the first task on each node; the others there wait for it. */
static int set_up(struct task_runner *m, struct error *err)
{
	const char *mark =
		arena_printf(m->mem, "%s/setup-%s", m->attempt, m->task->host);
	const struct task_place *first = m->spec.topology.tasks;

	if (!m->spec.setup.count)
		return 0;
	while (strcmp(first->host, m->task->host) != 0)
		first++;
	if (first != m->task)
		return await_setup(m, first, mark, err);
	if (run_setup(m, err) < 0)
		return -1;
	/* Without the mark, the waiting tasks see this one end. */
	return is_to_end(m) ? 0 : make_mark(mark, err);
}

/* Returns the command of the task, wrapped in this program, which saves its
 * checkpoints and streams its data. */
static struct strings command_of(struct task_runner *m)
{
	const struct strings plain = wrap_conda(
		&m->spec, spec_command(&m->spec, m->deps->self), m->mem);
	const struct wrap_container at = {
		.name = m->container,
		.folder = m->spec.home,
		.directory = m->spec.directory,
	};
	const struct strings inner = wrap_contain(
		&m->spec, m->deps->self, &plain, &m->env, &at, m->mem, NULL);
	char *folder = spec_checkpoints_folder(&m->spec);
	char self[PATH_MAX];
	struct strings out;

	process_self(self, sizeof(self));
	out = hosts_attend_task(&m->spec, m->deps->self, &inner,
				arena_strdup(m->mem, self),
				arena_strdup(m->mem, folder), m->mem);
	free(folder);
	return out;
}

static int note_start(struct task_runner *m, pid_t pid, struct error *err)
{
	return add_record(m,
			  arena_printf(m->mem, "start %s %ld %lld\n",
				       m->task->host, (long)pid,
				       (long long)time_now_ms()),
			  err);
}

/* Records a task that was not started.  Our failure counts as the task's; a
 * task that was told to end before it began ends as the others do. */
static void not_started(struct task_runner *m, const struct error *why)
{
	char *text = why ? mem_printf("jobrun: %s\n", why->text) : NULL;
	struct error ignored;

	m->status = m->told || m->done ? SIGTERM : 1 << 8;
	if (text)
		log_writer_add(m->log, LOG_STDERR, text, strlen(text),
			       time_now_ms());
	note_start(m, getpid(), &ignored);
	free(text);
}

static void run_task(struct task_runner *m)
{
	struct strings command;
	struct error err;

	if (set_up(m, &err) < 0) {
		not_started(m, &err);
		return;
	}
	if (is_to_end(m)) {
		not_started(m, NULL);
		return;
	}
	m->container = arena_printf(m->mem, "jobrun-%s-%ld", m->spec.job_id,
				    (long)getpid());
	command = command_of(m);
	if (start(m, &command, &err) < 0) {
		not_started(m, &err);
		return;
	}
	if (note_start(m, m->process.pid, &err) < 0)
		task_signal(&m->process, SIGKILL);
	attend(m);
	/* podman that is killed leaves the container of a deaf program. */
	if (m->status)
		wrap_remove_container(&m->spec, m->container, &m->env);
}

/* Closes the log before recording the end, so that readers of the record find
 * the whole log. */
static int put_end(struct task_runner *m, struct error *err)
{
	uint64_t lost = log_writer_lost(m->log);
	uint64_t logged;

	log_writer_close(m->log);
	m->log = NULL;
	logged = log_files_size(m->attempt, task_type_name(m->task->type),
				m->task->index, true);
	return add_record(
		m,
		arena_printf(m->mem, "end %d %lld %" PRIu64 " %" PRIu64 "\n",
			     m->status, (long long)time_now_ms(), logged, lost),
		err);
}

static int finish(struct task_runner *m, struct error *err)
{
	if (put_end(m, err) < 0)
		return -1;
	/* The task ended because all is done, or just before it was told so. */
	if (m->deps->self != 0 && !m->done)
		look_around(m);
	/* A task that ran out of time first does not end the others, which have
	 * their own grace. */
	if (m->done || m->over_time)
		return 0;
	return process_exit_code(m->status);
}

/* Watches the trials in the master only, as its end is that of the trial. */
static int watch_trials(struct task_runner *m, struct error *err)
{
	if (!m->deps->trial || m->deps->self != 0 ||
	    !m->spec.tuning.enable_trial_early_stopping)
		return 0;
	m->watched = m->spec;
	m->watched.folder = m->attempt;
	m->watch = trial_watch_new(&m->watched, m->spec.home, err);
	return m->watch ? 0 : -1;
}

static int open_loop(struct task_runner *m, struct error *err)
{
	static const int numbers[] = { SIGTERM, SIGINT,  SIGHUP,
				       SIGUSR1, SIGUSR2, SIGCHLD };
	static const struct task_hooks hooks = { .take = take_output,
						 .ended = process_ended };
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < COUNT(numbers); i++)
		sigaddset(&set, numbers[i]);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_NOFILE, &m->files);
	m->parent.no_files = &m->files;
	if (task_parent_own(&m->parent, &set, hear, m, err) < 0)
		return -1;
	task_parent_open(&m->parent, 0);
	task_init(&m->process, &m->parent, &hooks, m);
	return 0;
}

int task_runner_run(const struct task_runner_deps *deps, struct error *err)
{
	struct task_runner m = { .deps = deps, .mem = arena_new() };
	int ret = -1;

	if (open_loop(&m, err) < 0 || read_spec(&m, err) < 0 ||
	    spec_environment(&m.spec, deps->self, false, &m.env, err) < 0 ||
	    set_secrets(&m, err) < 0)
		goto out;
	environment_inherit(&m.env, environ);
	m.log = log_writer_open(m.attempt, task_type_name(m.task->type),
				m.task->index, err);
	if (!m.log || watch_trials(&m, err) < 0)
		goto out;
	look_later(&m);
	limit_time(&m);
	run_task(&m);
	ret = finish(&m, err);
out:
	trial_watch_free(m.watch);
	log_writer_close(m.log);
	task_parent_close(&m.parent);
	environment_done(&m.env);
	arena_free(m.mem);
	return ret;
}
