/* SPDX-License-Identifier: Apache-2.0 */
#include "core/checkpoint/saver.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

/* A saver that is killed this often is given up. */
#define TRIES_MAX 5
#define AGAIN_MS 200

struct saver {
	struct saver_deps deps;
	struct saver_config config;
	const struct saver_hooks *hooks;
	void *arg;
	struct saver_process process; /* pid 0: none */
	struct loop_event *answer;
	struct loop_event *again; /* when the next one is started */
	struct loop_event *limit;
	int tries;
	bool is_ready; /* the answer, or a failure, was reported */
	bool has_failed;
	bool is_ending;
	struct saver_end end; /* valid while is_ending */
};

static void drop(struct saver *saver, struct loop_event **event)
{
	loop_remove(saver->deps.loop, *event);
	*event = NULL;
}

static void close_process(struct saver *saver)
{
	drop(saver, &saver->answer);
	if (!saver->process.pid)
		return;
	close(saver->process.to);
	close(saver->process.from);
	saver->process.pid = 0;
}

static void report_ready(struct saver *saver, const char *path, const char *why)
{
	saver->has_failed = why;
	saver->is_ready = true;
	saver->hooks->ready(saver->arg, path, why);
}

static void report_ended(struct saver *saver)
{
	drop(saver, &saver->again);
	drop(saver, &saver->limit);
	saver->hooks->ended(saver->arg);
}

/* Reads the saver's answer, or notices that it died. */
static void on_answer(void *arg, uint32_t events)
{
	struct saver *saver = arg;
	struct error err;
	char *path = NULL;
	int ret;

	(void)events;
	drop(saver, &saver->answer);
	ret = saver_hear(&saver->process, &path, &err);
	/* 1: the saver was killed, and on_ended() decides what follows. */
	if (ret <= 0 && !saver->is_ready)
		report_ready(saver, path, ret < 0 ? err.text : NULL);
	free(path);
}

static void start(void *arg, uint32_t events);

static void on_ended(void *arg, int status)
{
	struct saver *saver = arg;

	close_process(saver);
	/* The saver itself chose to end. */
	if (saver->is_ending && (WIFEXITED(status) || !saver->limit)) {
		report_ended(saver);
	} else if (!saver->has_failed && saver->tries++ < TRIES_MAX) {
		/* The trainer goes on, and so must the saving of its
		 * checkpoints. */
		saver->config.is_resumed = saver->is_ready;
		saver->again = loop_add_timer(saver->deps.loop, AGAIN_MS, start,
					      saver);
	} else if (saver->is_ending) {
		report_ended(saver);
	} else if (!saver->is_ready) {
		report_ready(saver, NULL, "the checkpoint saver was killed");
	}
}

static void start(void *arg, uint32_t events)
{
	struct saver *saver = arg;
	struct error err;

	(void)events;
	saver->again = NULL;
	if (saver_spawn(&saver->config, saver->deps.no_files, &saver->process,
			&err) < 0)
		goto fail;
	reaper_watch(saver->deps.reaper, saver->process.pid, on_ended, saver);
	saver->answer = loop_add_fd(saver->deps.loop, saver->process.from,
				    EPOLLIN, on_answer, saver, &err);
	if (!saver->answer) {
		kill(saver->process.pid, SIGKILL);
		goto fail;
	}
	if (saver->is_ending)
		saver_tell(&saver->process, &saver->end);
	return;
fail:
	if (!saver->is_ready)
		report_ready(saver, NULL, err.text);
	else if (saver->is_ending && !saver->process.pid)
		report_ended(saver);
}

struct saver *saver_new(const struct saver_deps *deps,
			const struct saver_hooks *hooks, void *arg)
{
	struct saver *saver = mem_alloc(sizeof(*saver));

	saver->deps = *deps;
	saver->config = *deps->config;
	saver->hooks = hooks;
	saver->arg = arg;
	saver->again = loop_add_timer(deps->loop, 0, start, saver);
	return saver;
}

void saver_free(struct saver *saver)
{
	pid_t pid;

	if (!saver)
		return;
	pid = saver->process.pid;
	close_process(saver);
	drop(saver, &saver->again);
	drop(saver, &saver->limit);
	if (pid) {
		reaper_forget(saver->deps.reaper, pid);
		kill(pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	free(saver);
}

pid_t saver_pid(const struct saver *saver)
{
	return saver ? saver->process.pid : 0;
}

static void on_limit(void *arg, uint32_t events)
{
	struct saver *saver = arg;

	(void)events;
	saver->limit = NULL;
	if (saver->process.pid)
		kill(saver->process.pid, SIGKILL);
	else
		report_ended(saver);
}

void saver_end(struct saver *saver, const struct saver_end *end,
	       int64_t limit_ms)
{
	saver->is_ending = true;
	saver->end = *end;
	drop(saver, &saver->limit);
	/* No saver runs or will run, so the end is reported from the loop. */
	if (!saver->process.pid && !saver->again)
		limit_ms = 0;
	saver->limit =
		loop_add_timer(saver->deps.loop, limit_ms, on_limit, saver);
	if (saver->process.pid)
		saver_tell(&saver->process, end);
}
