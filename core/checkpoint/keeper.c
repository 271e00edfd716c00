/* SPDX-License-Identifier: Apache-2.0 */
#include "core/checkpoint/keeper.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

/* One that is killed again and again is not to be had. */
#define TRIES_MAX 5
#define AGAIN_MS 200

struct keeper {
	struct keeper_place place;
	struct keeper_config config;
	const struct keeper_hooks *hooks;
	void *arg;
	struct keeper_process process; /* pid 0: none */
	struct loop_event *answer;
	struct loop_event *again; /* when another one is tried */
	struct loop_event *limit;
	int tries;
	bool is_ready; /* or it was said why not */
	bool has_failed;
	bool is_ending;
	struct keeper_end end; /* valid then */
};

static void drop(struct keeper *keeper, struct loop_event **event)
{
	loop_remove(keeper->place.loop, *event);
	*event = NULL;
}

static void close_process(struct keeper *keeper)
{
	drop(keeper, &keeper->answer);
	if (!keeper->process.pid)
		return;
	close(keeper->process.to);
	close(keeper->process.from);
	keeper->process.pid = 0;
}

static void report_ready(struct keeper *keeper, const char *path,
			 const char *why)
{
	keeper->has_failed = why;
	keeper->is_ready = true;
	keeper->hooks->ready(keeper->arg, path, why);
}

static void report_ended(struct keeper *keeper)
{
	drop(keeper, &keeper->again);
	drop(keeper, &keeper->limit);
	keeper->hooks->ended(keeper->arg);
}

/* There is an answer, or nobody who would give one. */
static void on_answer(void *arg, uint32_t events)
{
	struct keeper *keeper = arg;
	struct error err;
	char *path = NULL;
	int ret;

	(void)events;
	drop(keeper, &keeper->answer);
	ret = keeper_hear(&keeper->process, &path, &err);
	/* 1: it was killed, and its end tells what follows. */
	if (ret <= 0 && !keeper->is_ready)
		report_ready(keeper, path, ret < 0 ? err.text : NULL);
	free(path);
}

static void start(void *arg, uint32_t events);

static void on_ended(void *arg, int status)
{
	struct keeper *keeper = arg;

	close_process(keeper);
	/* It had its reason. */
	if (keeper->is_ending && (WIFEXITED(status) || !keeper->limit)) {
		report_ended(keeper);
	} else if (!keeper->has_failed && keeper->tries++ < TRIES_MAX) {
		/* The trainer goes on, and so do its checkpoints. */
		keeper->config.is_resumed = keeper->is_ready;
		keeper->again = loop_add_timer(keeper->place.loop, AGAIN_MS,
					       start, keeper);
	} else if (keeper->is_ending) {
		report_ended(keeper);
	} else if (!keeper->is_ready) {
		report_ready(keeper, NULL,
			     "the keeper of the checkpoints was killed");
	}
}

static void start(void *arg, uint32_t events)
{
	struct keeper *keeper = arg;
	struct error err;

	(void)events;
	keeper->again = NULL;
	if (keeper_spawn(&keeper->config, keeper->place.no_files,
			 &keeper->process, &err) < 0)
		goto fail;
	reaper_watch(keeper->place.reaper, keeper->process.pid, on_ended,
		     keeper);
	keeper->answer = loop_add_fd(keeper->place.loop, keeper->process.from,
				     EPOLLIN, on_answer, keeper, &err);
	if (!keeper->answer) {
		kill(keeper->process.pid, SIGKILL);
		goto fail;
	}
	if (keeper->is_ending)
		keeper_tell(&keeper->process, &keeper->end);
	return;
fail:
	if (!keeper->is_ready)
		report_ready(keeper, NULL, err.text);
	else if (keeper->is_ending && !keeper->process.pid)
		report_ended(keeper);
}

struct keeper *keeper_new(const struct keeper_place *place,
			  const struct keeper_hooks *hooks, void *arg)
{
	struct keeper *keeper = mem_alloc(sizeof(*keeper));

	keeper->place = *place;
	keeper->config = *place->config;
	keeper->hooks = hooks;
	keeper->arg = arg;
	keeper->again = loop_add_timer(place->loop, 0, start, keeper);
	return keeper;
}

void keeper_free(struct keeper *keeper)
{
	pid_t pid;

	if (!keeper)
		return;
	pid = keeper->process.pid;
	close_process(keeper);
	drop(keeper, &keeper->again);
	drop(keeper, &keeper->limit);
	if (pid) {
		reaper_forget(keeper->place.reaper, pid);
		kill(pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	free(keeper);
}

pid_t keeper_pid(const struct keeper *keeper)
{
	return keeper ? keeper->process.pid : 0;
}

static void on_limit(void *arg, uint32_t events)
{
	struct keeper *keeper = arg;

	(void)events;
	keeper->limit = NULL;
	if (keeper->process.pid)
		kill(keeper->process.pid, SIGKILL);
	else
		report_ended(keeper);
}

void keeper_end(struct keeper *keeper, const struct keeper_end *end,
		int64_t limit_ms)
{
	keeper->is_ending = true;
	keeper->end = *end;
	drop(keeper, &keeper->limit);
	/* None that runs and none that will: it ends in the loop. */
	if (!keeper->process.pid && !keeper->again)
		limit_ms = 0;
	keeper->limit =
		loop_add_timer(keeper->place.loop, limit_ms, on_limit, keeper);
	if (keeper->process.pid)
		keeper_tell(&keeper->process, end);
}
