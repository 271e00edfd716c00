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
#include "core/checkpoint/saver.h"
#include "core/checkpoint/saver_heard.h"
#include "core/job/message.h"
#include "core/task/launch.h"
#include "core/task/launch_internal.h"

/* How long to wait for a failing store at the end. */
#define PATIENCE_S 600
#define TRIES_MAX 5

struct launch_saver {
	struct saver_config config;
	int (*run)(const void *arg);
	const void *arg;
	struct launch_listener *listener; /* NULL: no metric is wanted */
	struct saver_process process;     /* pid 0: none */
	bool is_ending;
	struct saver_end end; /* valid at the end */
	int tries;
};

static int start(struct launch_saver *saver, struct error *err)
{
	/* /proc/self/exe may be the loader of a bundle. */
	return saver_fork(&saver->config, saver->run, saver->arg,
			  &saver->process, err);
}

static void close_pipes(struct launch_saver *saver)
{
	if (!saver->process.pid)
		return;
	close(saver->process.to);
	close(saver->process.from);
	saver->process.pid = 0;
}

void launch_saver_free(struct launch_saver *saver)
{
	pid_t pid;

	if (!saver)
		return;
	pid = saver->process.pid;
	close_pipes(saver);
	if (pid) {
		kill(pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	launch_listener_free(saver->listener);
	free(saver);
}

/* Opens the file of metrics; the saver comes later, as it would read the output
 * of an earlier program there. */
static int listen_for(struct launch_saver *saver, const struct pairs *patterns,
		      struct error *err)
{
	const struct saver_config *config = &saver->config;
	struct heard *heard;

	if (!config->heard)
		return 0;
	if (folder_make(config->directory, err) < 0)
		return -1;
	heard = heard_open(config->heard, config->metric, patterns, err);
	if (!heard)
		return -1;
	saver->listener = launch_listener_new(heard);
	return 0;
}

struct launch_saver *launch_keep(const struct saver_config *config,
				 const struct pairs *patterns,
				 int (*run)(const void *arg), const void *arg,
				 struct environment *env, struct error *err)
{
	struct launch_saver *saver = mem_alloc(sizeof(*saver));
	char *path = NULL;
	int ret;

	saver->config = *config;
	saver->run = run;
	saver->arg = arg;
	ret = listen_for(saver, patterns, err);
	if (ret == 0)
		ret = start(saver, err);
	if (ret == 0)
		ret = saver_hear(&saver->process, &path, err);
	if (ret > 0)
		error_set(err, ERROR_FAILED, "its checkpoint saver was killed");
	if (ret != 0) {
		error_prefix(err, "checkpoints");
		launch_saver_free(saver);
		return NULL;
	}
	saver_environment(config->directory, path, env);
	saver->config.is_resumed = true;
	free(path);
	if (config->fetch_only) {
		waitpid(saver->process.pid, NULL, 0);
		close_pipes(saver);
	}
	return saver;
}

struct launch_listener *launch_saver_listener(struct launch_saver *saver)
{
	return saver ? saver->listener : NULL;
}

pid_t launch_saver_pid(const struct launch_saver *saver)
{
	return saver->process.pid;
}

/* Starts another saver, as the program goes on and so must the saving. */
static void start_another(struct launch_saver *saver)
{
	struct error err;

	if (saver->tries++ >= TRIES_MAX)
		return;
	if (start(saver, &err) < 0)
		fprintf(stderr, "jobrun: checkpoints: %s\n", err.text);
	else if (saver->is_ending)
		saver_tell(&saver->process, &saver->end);
}

void launch_saver_ended(struct launch_saver *saver, int status)
{
	close_pipes(saver);
	if (WIFSIGNALED(status))
		start_another(saver);
}

void launch_saver_kill(struct launch_saver *saver)
{
	saver->tries = TRIES_MAX;
	kill(saver->process.pid, SIGKILL);
}

void launch_saver_end(struct launch_saver *saver, bool well)
{
	saver->is_ending = true;
	saver->end = (struct saver_end){ .ended_ms = time_monotonic_ms(),
					 .well = well,
					 .patience_s = PATIENCE_S };
	if (saver->process.pid)
		saver_tell(&saver->process, &saver->end);
}
