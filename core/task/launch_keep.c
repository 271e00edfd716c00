/* SPDX-License-Identifier: Apache-2.0 */
/* The checkpoints of a program that 'jobrun launch' runs. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/checkpoint/keeper.h"
#include "core/checkpoint/keeper_heard.h"
#include "core/task/launch.h"
#include "core/task/launch_internal.h"

/* With a store that fails. */
#define PATIENCE_S 600
#define TRIES_MAX 5

struct launch_keeper {
	struct keeper_config config;
	int (*run)(const void *arg);
	const void *arg;
	struct launch_listener *listener; /* NULL: no metric is wanted */
	struct keeper_process process;    /* pid 0: none */
	bool is_ending;
	struct keeper_end end; /* valid then */
	int tries;
};

static int start(struct launch_keeper *keeper, struct error *err)
{
	/* /proc/self/exe may be the loader of a bundle. */
	return keeper_fork(&keeper->config, keeper->run, keeper->arg,
			   &keeper->process, err);
}

static void close_pipes(struct launch_keeper *keeper)
{
	if (!keeper->process.pid)
		return;
	close(keeper->process.to);
	close(keeper->process.from);
	keeper->process.pid = 0;
}

void launch_keeper_free(struct launch_keeper *keeper)
{
	pid_t pid;

	if (!keeper)
		return;
	pid = keeper->process.pid;
	close_pipes(keeper);
	if (pid) {
		kill(pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	launch_listener_free(keeper->listener);
	free(keeper);
}

/* Before the keeper, which would read what an earlier program said. */
static int listen_for(struct launch_keeper *keeper,
		      const struct pairs *patterns, struct error *err)
{
	const struct keeper_config *config = &keeper->config;
	struct heard *heard;

	if (!config->heard)
		return 0;
	if (folder_make(config->directory, err) < 0)
		return -1;
	heard = heard_open(config->heard, config->metric, patterns, err);
	if (!heard)
		return -1;
	keeper->listener = launch_listener_new(heard);
	return 0;
}

struct launch_keeper *launch_keep(const struct keeper_config *config,
				  const struct pairs *patterns,
				  int (*run)(const void *arg), const void *arg,
				  struct environment *env, struct error *err)
{
	struct launch_keeper *keeper = mem_alloc(sizeof(*keeper));
	char *path = NULL;
	int ret;

	keeper->config = *config;
	keeper->run = run;
	keeper->arg = arg;
	ret = listen_for(keeper, patterns, err);
	if (ret == 0)
		ret = start(keeper, err);
	if (ret == 0)
		ret = keeper_hear(&keeper->process, &path, err);
	if (ret > 0)
		error_set(err, ERROR_FAILED, "its keeper was killed");
	if (ret != 0) {
		error_prefix(err, "checkpoints");
		launch_keeper_free(keeper);
		return NULL;
	}
	keeper_environment(config->directory, path, env);
	keeper->config.is_resumed = true;
	free(path);
	if (config->fetch_only) {
		waitpid(keeper->process.pid, NULL, 0);
		close_pipes(keeper);
	}
	return keeper;
}

struct launch_listener *launch_keeper_listener(struct launch_keeper *keeper)
{
	return keeper ? keeper->listener : NULL;
}

pid_t launch_keeper_pid(const struct launch_keeper *keeper)
{
	return keeper->process.pid;
}

/* The program goes on, and so do its checkpoints. */
static void start_another(struct launch_keeper *keeper)
{
	struct error err;

	if (keeper->tries++ >= TRIES_MAX)
		return;
	if (start(keeper, &err) < 0)
		fprintf(stderr, "jobrun: checkpoints: %s\n", err.text);
	else if (keeper->is_ending)
		keeper_tell(&keeper->process, &keeper->end);
}

void launch_keeper_ended(struct launch_keeper *keeper, int status)
{
	close_pipes(keeper);
	if (WIFSIGNALED(status))
		start_another(keeper);
}

void launch_keeper_kill(struct launch_keeper *keeper)
{
	keeper->tries = TRIES_MAX;
	kill(keeper->process.pid, SIGKILL);
}

void launch_keeper_end(struct launch_keeper *keeper, bool well)
{
	keeper->is_ending = true;
	keeper->end = (struct keeper_end){ .ended_ms = time_monotonic_ms(),
					   .well = well,
					   .patience_s = PATIENCE_S };
	if (keeper->process.pid)
		keeper_tell(&keeper->process, &keeper->end);
}
