/* SPDX-License-Identifier: Apache-2.0 */
#include "core/supervise/children.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/data/archive.h"
#include "core/process/process.h"
#include "core/process/task.h"
#include "core/checkpoint/run_saver.h"
#include "core/spec/spec_container.h"
#include "core/spec/preflight.h"
#include "core/spec/wrap.h"

#define SWEEP_MS 1
/* Two pipes, three files of the log, and the lease of the port. */
#define FILES_PER_TASK 6
#define FILES_MORE 32

struct local_child {
	struct children *owner;
	size_t ordinal; /* of the task whose log takes the output */
	struct task task;
};

struct children {
	struct backend base;
	struct children_deps deps;
	struct task_parent parent;
	struct local_child *tasks;
	size_t count;
	struct local_child setup;
	size_t unpacked; /* number of packages unpacked */
	bool was_set_up;
	size_t alive; /* children that the reaper watches for us */
	struct loop_event *prepare_timer;
	struct loop_event *finish_timer;
	int64_t give_up_ms;     /* time limit of finishing */
	struct run_saver saver; /* for the checkpoints, if there are any */
};

static ssize_t take_output(void *arg, int stream, int pipe, size_t limit)
{
	struct local_child *child = arg;
	struct log_writer *log = child->owner->deps.logs[child->ordinal];

	return log_writer_take(log, (enum log_stream)stream, pipe, limit,
			       time_now_ms());
}

/* Starts a command as a child with its output in the log of its task. */
static int start_child(struct local_child *child, const struct strings *plain,
		       struct error *err)
{
	struct children *all = child->owner;
	const struct run_spec *spec = all->deps.spec;
	struct environment env = { 0 };
	struct arena *mem = arena_new();
	struct strings command = wrap_conda(spec, plain, mem);
	const struct wrap_container at = {
		.name = wrap_container_name(spec, child->ordinal, mem),
		.folder = spec->home,
		.directory = spec->directory,
	};
	char **argv;
	int ret = -1;

	if (spec_environment(spec, child->ordinal, true, &env, err) == 0) {
		run_saver_environment(&all->saver, &env);
		if (child == &all->setup)
			command = preflight_wrap(spec, &command, mem);
		else
			command = wrap_contain(spec, child->ordinal, &command,
					       &env, &at, mem, NULL);
		argv = arena_alloc(mem, (command.count + 1) * sizeof(*argv));
		memcpy(argv, command.items, command.count * sizeof(*argv));
		environment_inherit(&env, environ);
		ret = task_start(&child->task, argv, env.items, spec->directory,
				 err);
	}
	if (ret == 0)
		all->alive++;
	environment_done(&env);
	arena_free(mem);
	return ret;
}

static void report_prepared(struct children *all, const char *why)
{
	all->base.owner->prepared(all->base.owner_arg, 0, why);
}

static void on_saver_ready(void *arg, const char *why)
{
	report_prepared(arg, why);
}

static void report_finished(void *arg)
{
	struct children *all = arg;

	all->base.owner->finished(all->base.owner_arg);
}

/* Prepares the checkpoint, which comes last. */
static void prepare_last(struct children *all)
{
	const struct saver_deps deps = {
		.loop = all->deps.loop,
		.reaper = all->deps.reaper,
		.no_files = all->deps.no_files,
	};

	if (!all->deps.spec->checkpoints.is_used) {
		report_prepared(all, NULL);
		return;
	}
	all->saver.ready = on_saver_ready;
	all->saver.ended = report_finished;
	all->saver.arg = all;
	run_saver_start(&all->saver, all->deps.spec, &deps);
}

static void setup_ended(void *arg, int status)
{
	struct local_child *setup = arg;
	struct children *all = setup->owner;
	char how[64], why[96];

	all->alive--;
	all->was_set_up = WIFEXITED(status) && WEXITSTATUS(status) == 0;
	process_status_format(status, how, sizeof(how));
	snprintf(why, sizeof(why), "setup %s", how);
	if (all->was_set_up)
		prepare_last(all);
	else
		report_prepared(all, why);
}

static int unpack(const struct run_spec *spec, size_t i, struct error *err)
{
	char *folder = mem_printf("%s/packages/%zu", spec->home, i);
	int ret = archive_unpack(spec->packages.items[i], NULL, folder, NULL,
				 err);

	free(folder);
	return ret;
}

/* Unpacks one package per call, so that a signal can end this in between. */
static void prepare_next(void *arg, uint32_t events)
{
	struct children *all = arg;
	const struct run_spec *spec = all->deps.spec;
	struct error err;

	(void)events;
	all->prepare_timer = NULL;
	if (spec->prepared) {
		prepare_last(all);
		return;
	}
	if (all->unpacked < spec->packages.count) {
		if (unpack(spec, all->unpacked, &err) < 0) {
			report_prepared(all, err.text);
			return;
		}
		all->unpacked++;
		all->prepare_timer =
			loop_add_timer(all->deps.loop, 0, prepare_next, all);
		return;
	}
	if ((!spec->setup.count && !preflight_is_any(spec)) ||
	    all->was_set_up) {
		prepare_last(all);
	} else if (start_child(&all->setup, &spec->setup, &err) < 0) {
		error_prefix(&err, "setup did not start");
		report_prepared(all, err.text);
	}
}

/* Fails at once if there are too few descriptors, instead of starting only some
 * tasks or losing their output. */
static int check_file_limit(const struct children *all, struct error *err)
{
	size_t need = FILES_PER_TASK * all->count + FILES_MORE;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < need)
		return error_set(err, ERROR_FAILED,
				 "%zu tasks need %zu open files here, and the "
				 "limit is %llu: raise it (ulimit -Hn)",
				 all->count, need,
				 (unsigned long long)limit.rlim_cur);
	return 0;
}

static int children_prepare(struct backend *backend, struct error *err)
{
	struct children *all = (struct children *)backend;
	int ret = check_file_limit(all, err);

	if (ret == 0)
		ret = folder_make(all->deps.spec->output, err);

	if (ret == 0)
		all->prepare_timer =
			loop_add_timer(all->deps.loop, 0, prepare_next, all);
	return ret;
}

static void task_ended(void *arg, int status)
{
	struct local_child *task = arg;
	struct children *all = task->owner;

	all->alive--;
	if (task->ordinal == 0)
		run_saver_task_ended(&all->saver, status);
	all->base.owner->task_ended(all->base.owner_arg, task->ordinal, status);
}

static void children_start(struct backend *backend)
{
	struct children *all = (struct children *)backend;
	struct error err;

	for (size_t i = 0; i < all->count; i++) {
		struct local_child *task = &all->tasks[i];

		if (start_child(task, spec_command(all->deps.spec, i), &err) <
		    0) {
			backend->owner->task_not_started(backend->owner_arg, i,
							 err.text);
			return;
		}
		backend->owner->task_started(backend->owner_arg, i,
					     task->task.pid);
	}
}

static void children_signal(struct backend *backend, size_t ordinal, int number)
{
	struct children *all = (struct children *)backend;

	if (ordinal != BACKEND_ALL) {
		task_signal(&all->tasks[ordinal].task, number);
		return;
	}
	/* Preparation is stopped. */
	if (run_saver_is_preparing(&all->saver)) {
		run_saver_done(&all->saver);
		report_prepared(all, "it was cancelled");
	}
	if (all->prepare_timer) {
		loop_remove(all->deps.loop, all->prepare_timer);
		all->prepare_timer = NULL;
		report_prepared(all, "it was cancelled");
	}
	task_signal(&all->setup.task, number);
	for (size_t i = 0; i < all->count; i++)
		task_signal(&all->tasks[i].task, number);
}

/* Kills processes left over by this run, which may start more meanwhile.
 * Returns true if there were none. */
static bool sweep(struct children *all)
{
	char *mark;
	bool found;
	pid_t saver;

	if (!reaper_run(all->deps.reaper))
		return true;
	saver = saver_pid(all->saver.saver);
	if (reaper_count(all->deps.reaper) == all->alive + (saver != 0)) {
		/* Processes just reaped may have left their children to us. */
		found = process_kill_children(saver);
		return saver && !found && !all->alive;
	}
	/* Other runs' processes are our children, too. */
	children_signal(&all->base, BACKEND_ALL, SIGKILL);
	mark = mem_printf("JOBRUN_RUN_DIR=%s", all->deps.spec->output);
	found = process_kill_marked(mark);
	free(mark);
	return !found && !all->alive;
}

static void children_hurry(struct backend *backend, int64_t grace_ms)
{
	struct children *all = (struct children *)backend;

	all->base.grace_ms = grace_ms;
	/* While processes are swept, the saver is told when that is done. */
	if (all->saver.saver && !all->finish_timer)
		run_saver_end(&all->saver, grace_ms);
}

static void finish_step(void *arg, uint32_t events)
{
	struct children *all = arg;
	bool gone;

	(void)events;
	all->finish_timer = NULL;
	gone = sweep(all);
	if (!gone && time_monotonic_ms() < all->give_up_ms) {
		all->finish_timer = loop_add_timer(all->deps.loop, SWEEP_MS,
						   finish_step, all);
		return;
	}
	if (!gone)
		fprintf(stderr, "some processes could not be killed\n");
	for (size_t i = 0; i < all->count; i++)
		task_drain(&all->tasks[i].task);
	task_drain(&all->setup.task);
	wrap_remove_containers(all->deps.spec);
	if (all->saver.saver)
		run_saver_end(&all->saver, all->base.grace_ms);
	else
		report_finished(all);
}

static void children_finish(struct backend *backend)
{
	struct children *all = (struct children *)backend;

	all->give_up_ms = time_monotonic_ms() + PROCESS_END_MS;
	all->finish_timer = loop_add_timer(all->deps.loop, 0, finish_step, all);
}

static void children_free(struct backend *backend)
{
	struct children *all = (struct children *)backend;

	loop_remove(all->deps.loop, all->prepare_timer);
	loop_remove(all->deps.loop, all->finish_timer);
	run_saver_done(&all->saver);
	task_parent_close(&all->parent);
	free(all->tasks);
	free(all);
}

static const struct task_hooks task_hooks = { .take = take_output,
					      .ended = task_ended };
static const struct task_hooks setup_hooks = { .take = take_output,
					       .ended = setup_ended };

static void child_init(struct local_child *child, struct children *owner,
		       size_t ordinal, const struct task_hooks *hooks)
{
	child->owner = owner;
	child->ordinal = ordinal;
	task_init(&child->task, &owner->parent, hooks, child);
}

static const struct backend_ops children_ops = {
	.prepare = children_prepare,
	.start = children_start,
	.signal = children_signal,
	.finish = children_finish,
	.hurry = children_hurry,
	.free = children_free,
};

struct backend *children_new(const struct children_deps *deps)
{
	struct children *all = mem_alloc(sizeof(*all));

	all->base.ops = &children_ops;
	all->deps = *deps;
	all->count = deps->spec->topology.count;
	all->tasks = mem_alloc(all->count * sizeof(*all->tasks));
	all->parent = (struct task_parent){ .loop = deps->loop,
					    .reaper = deps->reaper,
					    .no_files = deps->no_files };
	task_parent_open(&all->parent, all->count);
	for (size_t i = 0; i < all->count; i++)
		child_init(&all->tasks[i], all, i, &task_hooks);
	child_init(&all->setup, all, 0, &setup_hooks);
	return &all->base;
}
