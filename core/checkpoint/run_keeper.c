/* SPDX-License-Identifier: Apache-2.0 */
#include "core/checkpoint/run_keeper.h"

#include <stdlib.h>
#include <sys/wait.h>

#include "core/base/clock.h"


/* With a store that fails.  What it could not take is remembered, and tried
 * again when the run is restarted. */
#define PATIENCE_WELL_S 600
#define PATIENCE_S 30
/* With one that works, a large checkpoint takes its time. */
#define KEEP_MS (INT64_C(24) * 3600 * 1000)

static void on_ready(void *arg, const char *path, const char *why)
{
	struct run_keeper *run = arg;
	char *text = why ? mem_printf("checkpoints: %s", why) : NULL;

	run->is_ready = true;
	run->resume = path ? mem_strdup(path) : NULL;
	run->ready(run->arg, text);
	free(text);
}

static void on_ended(void *arg)
{
	struct run_keeper *run = arg;
	void (*ended)(void *arg) = run->ended;
	void *owner = run->arg;

	run_keeper_done(run);
	ended(owner);
}

static const struct keeper_hooks hooks = {
	.ready = on_ready,
	.ended = on_ended,
};

void run_keeper_start(struct run_keeper *run, const struct run_spec *spec,
		      const struct keeper_place *place)
{
	struct keeper_place whole = *place;

	run->is_ready = false;
	run->ended_ms = 0;
	run->ended_well = false;
	run->mem = arena_new();
	spec_checkpoints_config(spec, run->mem, &run->config);
	whole.config = &run->config;
	run->keeper = keeper_new(&whole, &hooks, run);
}

void run_keeper_done(struct run_keeper *run)
{
	keeper_free(run->keeper);
	arena_free(run->mem);
	free(run->resume);
	run->keeper = NULL;
	run->mem = NULL;
	run->resume = NULL;
}

bool run_keeper_is_preparing(const struct run_keeper *run)
{
	return run->keeper && !run->is_ready;
}

void run_keeper_environment(const struct run_keeper *run,
			    struct environment *out)
{
	if (run->keeper)
		keeper_environment(run->config.directory, run->resume, out);
}

void run_keeper_task_ended(struct run_keeper *run, int status)
{
	run->ended_ms = time_monotonic_ms();
	run->ended_well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void run_keeper_end(struct run_keeper *run, int64_t grace_ms)
{
	const struct keeper_end end = {
		.ended_ms = run->ended_ms ? run->ended_ms : time_monotonic_ms(),
		.well = run->ended_well,
		.patience_s = run->ended_well ? PATIENCE_WELL_S : PATIENCE_S,
	};

	keeper_end(run->keeper, &end, grace_ms >= 0 ? grace_ms : KEEP_MS);
}
