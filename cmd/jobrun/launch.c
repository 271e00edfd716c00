/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entry point of a container, or the first word of a command line on a
 * host: finds out where it is and which peers it has, waits for what the
 * program needs, and runs the program with every framework's variables set.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/jobrun/commands.h"
#include "cmd/jobrun/launch_checkpoints.h"
#include "cmd/jobrun/launch_processes.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/spec/install.h"
#include "core/task/launch.h"
#include "core/task/task_runner.h"
#include "core/topology/contract.h"
#include "core/topology/peers.h"
#include "core/process/process.h"
#include "core/provider/extension.h"
#include "core/topology/topology_read.h"
#include "core/topology/platform.h"
#include "providers/registry.h"
#include "schema/catalogue/catalogue_get.h"

/* The statuses of env(1), timeout(1) and shells when they cannot run a
 * program. */
#define STATUS_CANNOT_RUN 126
#define STATUS_NOT_FOUND 127

struct launch_opts {
	const char *from;
	const char *tpu;
	long tries;
	long interval_s;
	long wait_peers_s;
	struct opt_list contracts;
	const char *hostfile;
	const char *source;
	struct opt_list packages;
	const char *into;
	bool supervise;
	bool exec;
	long grace_s;
	long processes;
	bool verbose;
	const char *run;
	long restart;
	long trial;
	const char *data;
	const char *trials;
	const char *install;
	struct launch_checkpoint_opts checkpoints;
};

#define AT(member) offsetof(struct launch_opts, member)
static const struct opt options[] = {
	{ 0, "from", OPT_STRING, AT(from), "PLACE",
	  "assume this provider instead of detecting it" },
	{ 0, "tpu", OPT_STRING, AT(tpu), "NAME",
	  "drive this TPU node, if TPU_CONFIG names none" },
	{ 0, "tries", OPT_COUNT, AT(tries), "N",
	  "how often to check whether the TPU is ready (40)" },
	{ 0, "interval", OPT_DURATION, AT(interval_s), "DURATION",
	  "how long to wait between checks (10s)" },
	{ 0, "wait-peers", OPT_DURATION, AT(wait_peers_s), "DURATION",
	  "wait at most this long for all tasks to start" },
	{ 0, "contract", OPT_LIST, AT(contracts), "NAME",
	  "set only this contract's variables; repeatable" },
	{ 0, "hostfile", OPT_STRING, AT(hostfile), "FILE",
	  "write the hosts to a file, for MPI and DeepSpeed" },
	{ 0, "source", OPT_STRING, AT(source), "ARCHIVE",
	  "unpack this archive, and start the command in it" },
	{ 0, "package", OPT_LIST, AT(packages), "ARCHIVE",
	  "unpack it and add it to PYTHONPATH; repeatable" },
	{ 0, "into", OPT_STRING, AT(into), "DIR",
	  "where to unpack (a new folder in TMPDIR)" },
	{ 0, "supervise", OPT_FLAG, AT(supervise), NULL,
	  "stay as the command's parent; as process 1 always" },
	{ 0, "exec", OPT_FLAG, AT(exec), NULL,
	  "become the command, also as process 1" },
	{ 0, "grace", OPT_DURATION, AT(grace_s), "DURATION",
	  "kill it this long after SIGTERM (never)" },
	{ 0, "processes", OPT_COUNT, AT(processes), "N",
	  "start it N times, each as a task of its own (1)" },
	{ 0, "run", OPT_STRING, AT(run), "DIR",
	  "be a task of the run that 'apply' put there" },
	{ 0, "restart", OPT_NUMBER, AT(restart), "N",
	  "with --run: how often it was started before (0)" },
	{ 0, "trial", OPT_COUNT, AT(trial), "N",
	  "with --run: be a task of this hyperparameter trial" },
	{ 0, "data", OPT_STRING, AT(data), "SETS",
	  "give it its share of these data sets (JSON)" },
	{ 0, "trials", OPT_STRING, AT(trials), "TRIALS",
	  "be one of these (JSON), by JOB_COMPLETION_INDEX" },
	{ 0, "install", OPT_STRING, AT(install), "DIR",
	  "install jobrun there, and run nothing" },
	{ 'v', "verbose", OPT_FLAG, AT(verbose), NULL,
	  "print where this runs, and as which task" },
	{ 0 },
};

static struct strings list_strings(const struct opt_list *list,
				   const char **items)
{
	struct strings out = { .items = items, .count = list->count };
	size_t i;

	for (i = 0; i < list->count; i++)
		items[i] = list->items[i].value;
	return out;
}

/* Checks what needs this process to stay, and what does not go with it. */
static int check_parents(const struct launch_opts *opts, struct error *err)
{
	if (opts->trial && !opts->run)
		return error_set(err, ERROR_USAGE, "--trial needs --run");
	if (opts->processes > 1 && (opts->exec || opts->run || opts->trials ||
				    opts->checkpoints.directory))
		return error_set(err, ERROR_USAGE,
				 "--processes needs a parent, for commands "
				 "that keep no checkpoints: it excludes "
				 "--exec, --run, --trials and "
				 "--checkpoint-dir");
	if (opts->checkpoints.directory && (opts->exec || opts->run))
		return error_set(err, ERROR_USAGE,
				 "--checkpoint-dir needs a parent, for a "
				 "command: it excludes --exec and --run");
	if (opts->trials &&
	    (opts->exec || opts->run || opts->checkpoints.directory))
		return error_set(err, ERROR_USAGE,
				 "--trials needs a parent, for a command that "
				 "keeps no checkpoints: it excludes --exec, "
				 "--run and --checkpoint-dir");
	return 0;
}

static int check_options(const struct launch_opts *opts, struct error *err)
{
	if (opts->supervise && opts->exec)
		return error_set(err, ERROR_USAGE,
				 "--supervise and --exec exclude each other");
	if (opts->exec && opts->grace_s)
		return error_set(err, ERROR_USAGE,
				 "--grace and --exec exclude each other");
	if (opts->run && (opts->source || opts->packages.count ||
			  opts->contracts.count || opts->exec || opts->data))
		return error_set(err, ERROR_USAGE,
				 "--run says what to run and how: it excludes "
				 "--source, --package, --contract, --data and "
				 "--exec");
	if (check_parents(opts, err) < 0)
		return -1;
	return launch_checkpoints_check(&opts->checkpoints, err);
}

/* Returns why the options can't be used together, or NULL. */
static const char *misuse(const struct launch_opts *opts, bool given)
{
	if (opts->run && opts->install)
		return "--run and --install exclude each other";
	if (given && opts->run)
		return "--run takes no COMMAND";
	if (given && opts->install)
		return "--install takes no COMMAND";
	if (!given && !opts->run && !opts->install)
		return "missing argument COMMAND";
	return NULL;
}

/* Ends the process.  Process 1 ignores signals without a handler, but a
 * container that waits for a TPU should stop when asked to. */
static void on_signal(int number)
{
	_exit(128 + number);
}

static void handle_signals(void (*handler)(int))
{
	static const int numbers[] = { SIGTERM, SIGINT, SIGQUIT, SIGHUP };
	size_t i;

	for (i = 0; getpid() == 1 && i < COUNT(numbers); i++)
		if (signal(numbers[i], handler) == SIG_IGN)
			signal(numbers[i], SIG_IGN);
}

/* The context of the wait for a TPU. */
struct launching {
	const struct app *app;
	const struct platform *platform; /* NULL: there is none to ask */
	void *ctx;                       /* of the platform, or NULL */
};

/* Opens the platform; all providers that have one have the same. */
static void launching_open(struct launching *launching, const struct app *app)
{
	size_t i;

	*launching = (struct launching){ .app = app };
	for (i = 0; providers[i] && !launching->platform; i++)
		launching->platform = providers[i]->platform;
	if (launching->platform)
		launching->ctx = launching->platform->open(app->trace_http);
}

static void launching_close(struct launching *launching)
{
	if (launching->ctx)
		launching->platform->close(launching->ctx);
	launching->ctx = NULL;
}

static int look(void *arg, const struct topology *all, struct arena *mem,
		struct tpu_view *out, struct error *err)
{
	struct launching *launching = arg;

	if (!launching->platform)
		return error_set(err, ERROR_FAILED,
				 "no provider here supports TPU nodes");
	return launching->platform->look(launching->ctx, all, mem, out, err);
}

static void say(void *arg, const char *text)
{
	struct launching *launching = arg;

	app_say(launching->app, "%s", text);
}

static void pause_s(void *arg, long seconds)
{
	(void)arg;
	time_pause(seconds * INT64_C(1000));
}

static const struct topology_reader *find_reader(const struct launch_opts *opts,
						 const struct surroundings *at,
						 struct error *err)
{
	struct topology_readers all;

	provider_readers(providers, &all);
	return opts->from ? topology_reader_find(&all, opts->from, err)
			  : topology_reader_detect(&all, at, err);
}

static void say_place(const struct app *app,
		      const struct topology_reader *reader,
		      const struct topology *all, size_t self)
{
	const struct task_place *task = &all->tasks[self];

	app_say(app, "%s: %s %d of %zu %s, on %s", reader->name,
		task_type_name(task->type), task->index, all->count,
		all->count == 1 ? "task" : "tasks", task->host);
	if (all->tpu_slice)
		app_say(app, "TPU %s%s%s%s%s", all->tpu_slice,
			all->tpu_name ? " '" : "",
			all->tpu_name ? all->tpu_name : "",
			all->tpu_name ? "'" : "",
			all->tpu_host_count ? "" : ", not checked yet");
}

static int write_hostfile(const struct topology *all, const char *path,
			  struct error *err)
{
	struct buf text = { 0 };
	int ret;

	contract_hostfile(all, &text);
	ret = file_write(path, buf_text(&text), text.len, err);
	buf_done(&text);
	return ret;
}

static int name_tpu(const struct launching *launching, const char *name,
		    struct arena *mem, struct topology *all, struct error *err)
{
	if (!launching->platform)
		return error_set(err, ERROR_USAGE,
				 "--tpu: no provider here supports TPU nodes");
	return launching->platform->name_tpu(launching->ctx, name, mem, all,
					     err);
}

/* Finds out where this is, and waits for everything that must be there before
 * the program. */
static int prepare(const struct launch_opts *opts, struct launching *launching,
		   struct arena *mem, struct topology *all, size_t *self,
		   struct error *err)
{
	const struct platform *platform = launching->platform;
	struct surroundings at = { .env = environ,
				   .catalogue = catalogue_get(err),
				   .arg = launching->ctx };
	struct tpu_wait how = { .tries = opts->tries,
				.interval_s = opts->interval_s,
				.look = look,
				.say = say,
				.pause = pause_s,
				.arg = launching };
	const struct topology_reader *reader;
	char *host;

	if (!at.catalogue)
		return -1;
	if (platform) {
		at.has_metadata = platform->has_metadata;
		at.metadata = platform->metadata;
	}
	reader = find_reader(opts, &at, err);
	if (!reader)
		return -1;
	host = launch_host_name(reader->qualifies_host);
	at.host = arena_strdup(mem, host);
	free(host);
	if (reader->read(&at, mem, all, self, err) < 0)
		return error_prefix(err, "%s", reader->name);
	if (opts->tpu && !all->tpu_slice &&
	    name_tpu(launching, opts->tpu, mem, all, err) < 0)
		return -1;
	if (opts->verbose)
		say_place(launching->app, reader, all, *self);
	if (tpu_is_awaited(all) &&
	    tpu_wait(all, at.catalogue, &how, mem, err) < 0)
		return -1;
	if (opts->wait_peers_s &&
	    peers_wait(all, *self, opts->wait_peers_s, err) < 0)
		return error_prefix(err, "waiting for the other tasks");
	return opts->hostfile ? write_hostfile(all, opts->hostfile, err) : 0;
}

/* Finds the only provider whose trials are started this way. */
static const struct provider_trials *find_trials(void)
{
	size_t i = 0;

	while (providers[i] && !providers[i]->trials)
		i++;
	return providers[i] ? providers[i]->trials : NULL;
}

static int enter_trial(const struct launch_opts *opts, struct arena *mem,
		       struct launch_trial *trial, char ***command,
		       struct error *err)
{
	const struct provider_trials *trials = find_trials();

	if (!opts->trials)
		return 0;
	if (!trials)
		return error_set(err, ERROR_USAGE,
				 "--trials: no provider here supports such "
				 "trials");
	if (trials->enter(opts->trials, *command, mem, trial, err) < 0)
		return -1;
	*command = trial->argv;
	return 0;
}

/* Unpacks the packages and finds the program; `status` is the exit status after
 * a failure. */
static int find_program(const struct launch_opts *opts,
			const struct strings *packages, char **argv,
			struct environment *env, char **path, int *status,
			struct error *err)
{
	char *directory = NULL;
	int ret = -1;

	*status = 0;
	if (launch_unpack(opts->source, packages, opts->into, env, &directory,
			  err) < 0)
		return -1;
	if (directory && chdir(directory) < 0) {
		error_errno(err, "cannot start in '%s'", directory);
		goto out;
	}
	*path = process_find(argv[0], ".", env->items, err);
	if (*path)
		ret = 0;
	else
		*status = STATUS_NOT_FOUND;
out:
	free(directory);
	return ret;
}

/* Prints the result, so that the log has what is lost with the container. */
static void say_result(const struct launch_trial *trial, struct arena *mem)
{
	const char *line = find_trials()->result(trial, mem);

	if (line)
		printf("%s\n", line);
	fflush(stdout);
}

static int run_program(struct app *app, const struct launch_opts *opts,
		       const struct launch_program *program,
		       const struct launch_trial *trial, struct arena *mem)
{
	bool supervise = opts->supervise || opts->grace_s || program->saver ||
			 opts->trials || (getpid() == 1 && !opts->exec);
	struct error err;
	int status;

	if (!supervise)
		launch_exec(program, &err);
	else if (launch_supervise(program, opts->grace_s, &status, &err) == 0) {
		if (opts->trials)
			say_result(trial, mem);
		return launch_end_alike(status);
	}
	app_fail(app, &err);
	return STATUS_CANNOT_RUN;
}

/* Runs a task of a run, whose specification has the command. */
static int run_member(struct app *app, const struct launch_opts *opts,
		      const struct topology *all, size_t self)
{
	struct task_runner_deps deps = { .folder = opts->run,
					 .restart = (int)opts->restart,
					 .trial = (int)opts->trial,
					 .peers = all,
					 .self = self };
	struct error err;
	int status = task_runner_run(&deps, &err);

	return status < 0 ? app_fail(app, &err) : status;
}

static bool is_standalone(char **command)
{
	struct strings words = { .items = (const char **)command };

	while (command[words.count])
		words.count++;
	return topology_is_standalone(&words);
}

/* Runs the command with the variables of the task `self`. */
static int run_command(struct app *app, const struct launch_opts *opts,
		       struct launching *launching, const struct topology *all,
		       size_t self, const struct launch_trial *trial,
		       char **command, struct arena *mem)
{
	struct launch_program program = { .sigpipe = app->sigpipe };
	const char *names[OPT_LIST_MAX], *archives[OPT_LIST_MAX];
	const struct strings packages = list_strings(&opts->packages, archives);
	const struct launch_processes processes = {
		.all = all,
		.self = self,
		.contracts = list_strings(&opts->contracts, names),
		.data = opts->data,
		.count = (size_t)opts->processes,
		.grace_s = opts->grace_s,
		.mem = mem,
	};
	struct environment env = { 0 };
	char *path = NULL;
	struct error err;
	int status = 0, failed;

	if (launch_environment(all, self, &processes.contracts, environ, &env,
			       &err) < 0 ||
	    launch_data(&processes, self, &env, &err) < 0 ||
	    find_program(opts, &packages, command, &env, &path, &status, &err) <
		    0) {
		failed = app_fail(app, &err);
		status = status ? status : failed;
		goto out;
	}
	/* The program needs neither our thread nor our connections. */
	launching_close(launching);
	handle_signals(SIG_DFL);
	if (launch_checkpoints_keep(&opts->checkpoints, app->trace_http,
				    all->count, self, mem, &env, &program.saver,
				    &err) < 0) {
		status = app_fail(app, &err);
		goto out;
	}
	program.path = path;
	program.argv = command;
	program.envp = env.items;
	if (opts->processes <= 1)
		status = run_program(app, opts, &program, trial, mem);
	else if (launch_processes_run(&processes, command, &env, &status,
				      &err) == 0)
		status = launch_end_alike(status);
	else {
		app_fail(app, &err);
		status = STATUS_CANNOT_RUN;
	}
out:
	launch_saver_free(program.saver);
	environment_done(&env);
	free(path);
	return status;
}

static int run(struct app *app, int argc, char **argv)
{
	struct launch_opts opts = { .tries = TPU_WAIT_TRIES,
				    .interval_s = TPU_WAIT_INTERVAL_S };
	struct launch_trial trial = { 0 };
	struct launching launching;
	struct arena *mem = NULL;
	struct topology all;
	const char *wrong;
	struct error err;
	int status = 0;
	size_t self;
	char **command;
	int first;

	first = options_parse(app, &cmd_launch, argc, argv, &opts, 0, INT_MAX,
			      &status);
	if (first < 0)
		return status;
	wrong = misuse(&opts, first < argc);
	if (wrong)
		return command_misused(app, &cmd_launch, wrong);
	if (opts.install)
		return program_install(opts.install, &err) < 0
			       ? app_fail(app, &err)
			       : 0;
	command = argv + first;
	handle_signals(on_signal);
	mem = arena_new();
	launching_open(&launching, app);
	if (check_options(&opts, &err) < 0 ||
	    enter_trial(&opts, mem, &trial, &command, &err) < 0 ||
	    prepare(&opts, &launching, mem, &all, &self, &err) < 0) {
		status = app_fail(app, &err);
		goto out;
	}
	if (opts.processes > 1)
		topology_split(&all, (unsigned)opts.processes, &self, mem);
	/* Parameter servers and evaluators stay one each. */
	if (all.tasks[self].type > TASK_WORKER)
		opts.processes = 1;
	if (opts.run) {
		launching_close(&launching);
		status = run_member(app, &opts, &all, self);
		goto out;
	}
	all.standalone = is_standalone(command);
	if (opts.trials) {
		all.trial_id = trial.number;
		all.metric_file = trial.metric_file;
	}
	status = run_command(app, &opts, &launching, &all, self, &trial,
			     command, mem);
out:
	launching_close(&launching);
	arena_free(mem);
	return status;
}

const struct command cmd_launch = {
	.name = "launch",
	.group = GROUP_DATA,
	.args = "[--] COMMAND [ARGUMENT]...",
	.summary = "run a program as a task, as a container's entry point",
	.help = "Detects where it runs (AI Platform, Vertex AI, Slurm, "
		"Kubernetes, a TPU VM),\n"
		"waits until the TPU is ready, sets the variables of every "
		"framework, and becomes\n"
		"COMMAND.\n\n"
		"  ENTRYPOINT [\"jobrun\", \"launch\", \"--\", \"python3\", "
		"\"train.py\"]\n"
		"  srun jobrun launch --wait-peers 5m -- python3 train.py\n",
	.options = options,
	.shared = launch_checkpoint_options,
	.shared_offset = AT(checkpoints),
	.remote = true,
	.wraps = true,
	.run = run,
};
