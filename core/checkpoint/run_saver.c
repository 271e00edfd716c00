/* SPDX-License-Identifier: Apache-2.0 */
#include "core/checkpoint/run_saver.h"

#include <stdlib.h>
#include <sys/wait.h>

#include "core/base/clock.h"

/* How long to wait for a failing store at the end.  A checkpoint that the store
 * did not take is uploaded again when the run is restarted. */
#define PATIENCE_WELL_S 600
#define PATIENCE_S 30
/* The limit while the store works, as a large checkpoint takes time. */
#define KEEP_MS (INT64_C(24) * 3600 * 1000)

static void on_ready(void *arg, const char *path, const char *why)
{
	struct run_saver *run = arg;
	char *text = why ? mem_printf("checkpoints: %s", why) : NULL;

	run->is_ready = true;
	run->resume = path ? mem_strdup(path) : NULL;
	run->ready(run->arg, text);
	free(text);
}

static void on_ended(void *arg)
{
	struct run_saver *run = arg;
	void (*ended)(void *arg) = run->ended;
	void *owner = run->arg;

	run_saver_done(run);
	ended(owner);
}

static const struct saver_hooks hooks = {
	.ready = on_ready,
	.ended = on_ended,
};

void run_saver_start(struct run_saver *run, const struct run_spec *spec,
		     const struct saver_deps *deps)
{
	struct saver_deps whole = *deps;

	run->is_ready = false;
	run->ended_ms = 0;
	run->ended_well = false;
	run->mem = arena_new();
	spec_checkpoints_config(spec, run->mem, &run->config);
	whole.config = &run->config;
	run->saver = saver_new(&whole, &hooks, run);
}

void run_saver_done(struct run_saver *run)
{
	saver_free(run->saver);
	arena_free(run->mem);
	free(run->resume);
	run->saver = NULL;
	run->mem = NULL;
	run->resume = NULL;
}

bool run_saver_is_preparing(const struct run_saver *run)
{
	return run->saver && !run->is_ready;
}

void run_saver_environment(const struct run_saver *run, struct environment *out)
{
	if (run->saver)
		saver_environment(run->config.directory, run->resume, out);
}

void run_saver_task_ended(struct run_saver *run, int status)
{
	run->ended_ms = time_monotonic_ms();
	run->ended_well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void run_saver_end(struct run_saver *run, int64_t grace_ms)
{
	const struct saver_end end = {
		.ended_ms = run->ended_ms ? run->ended_ms : time_monotonic_ms(),
		.well = run->ended_well,
		.patience_s = run->ended_well ? PATIENCE_WELL_S : PATIENCE_S,
	};

	saver_end(run->saver, &end, grace_ms >= 0 ? grace_ms : KEEP_MS);
}
