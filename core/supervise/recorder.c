/* SPDX-License-Identifier: Apache-2.0 */
#include "core/supervise/recorder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/alloc.h"
#include "core/supervise/supervisor_internal.h"

#define GATHER_MS 5
#define RETRY_MS 1000
#define END_TRIES 120 /* a second apart, on a disk that is full */
#define NEXT_TRIES 10

static void on_timer(void *arg, uint32_t events)
{
	struct recorder *recorder = arg;
	struct error err;

	(void)events;
	recorder->timer = NULL;
	if (recorder_flush(recorder, &err) < 0)
		fprintf(stderr, "cannot record the run: %s\n", err.text);
}

static void flush_in(struct recorder *recorder, int64_t delay_ms)
{
	if (!recorder->timer)
		recorder->timer = loop_add_timer(recorder->loop, delay_ms,
						 on_timer, recorder);
}

void recorder_done(struct recorder *recorder)
{
	if (recorder->loop)
		loop_remove(recorder->loop, recorder->timer);
	free(recorder->dirty);
}

void recorder_run(struct recorder *recorder)
{
	recorder->run_dirty = true;
	flush_in(recorder, GATHER_MS);
}

void recorder_task(struct recorder *recorder, size_t i)
{
	if (!recorder->dirty)
		recorder->dirty =
			mem_alloc(recorder->count * sizeof(*recorder->dirty));
	recorder->dirty[i] = true;
	recorder->tasks_dirty = true;
	flush_in(recorder, GATHER_MS);
}

/* Marks all records as stored. */
static void forget(struct recorder *recorder)
{
	loop_remove(recorder->loop, recorder->timer);
	recorder->timer = NULL;
	if (recorder->dirty)
		memset(recorder->dirty, false,
		       recorder->count * sizeof(*recorder->dirty));
	recorder->run_dirty = false;
	recorder->tasks_dirty = false;
}

int recorder_flush(struct recorder *recorder, struct error *err)
{
	int ret;

	loop_remove(recorder->loop, recorder->timer);
	recorder->timer = NULL;
	if (!recorder->run_dirty && !recorder->tasks_dirty)
		return 0;
	ret = store_progress_put(recorder->store, recorder->run,
				 recorder->run_dirty, recorder->tasks,
				 recorder->dirty, recorder->count, err);
	if (recorder->run_dirty)
		supervisor_publish(recorder->store, recorder->run);
	if (ret < 0) {
		flush_in(recorder, RETRY_MS);
		return -1;
	}
	forget(recorder);
	return 0;
}

int recorder_next(struct recorder *recorder, struct run_record *next,
		  int (*prepare)(void *arg, const char *folder, int attempt,
				 struct error *err),
		  void *arg, struct error *err)
{
	struct timespec pause = { .tv_sec = 1 };
	int tries = 0;
	int ret;

	while ((ret = store_run_next(recorder->store, recorder->run,
				     recorder->tasks, recorder->count, next,
				     prepare, arg, err)) < 0) {
		if (++tries == NEXT_TRIES)
			return error_prefix(err, "cannot record a restart");
		nanosleep(&pause, NULL);
	}
	if (ret > 0)
		return error_set(err, ERROR_FAILED,
				 "cannot record a restart: the run has ended "
				 "already");
	forget(recorder);
	supervisor_publish(recorder->store, next);
	return 0;
}

int recorder_end(struct recorder *recorder, struct error *err)
{
	struct timespec pause = { .tv_sec = 1 };
	int tries = 0;

	for (size_t i = 0; i < recorder->count; i++)
		recorder_task(recorder, i);
	recorder->run_dirty = true;
	while (recorder_flush(recorder, err) < 0) {
		if (++tries == END_TRIES)
			return error_prefix(err,
					    "cannot record the end of the run");
		nanosleep(&pause, NULL);
	}
	return 0;
}
