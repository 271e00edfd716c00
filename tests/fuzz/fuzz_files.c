/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the files that the parts of a run leave on disk for each other:
 * results of trials, records of tasks, metrics, values heard, usage, events of
 * the saver, the ledger of checkpoints, values of trials.  Each is read or
 * ignored, and numbers are in their ranges.
 */
#include <assert.h>
#include <math.h>
#include <stdint.h>

#include "core/base/json.h"
#include "core/checkpoint/checkpoint_watch.h"
#include "core/checkpoint/saver_heard.h"
#include "core/spec/upload_event.h"
#include "core/spec/usage.h"
#include "core/task/task_files.h"
#include "core/task/task_runner.h"
#include "core/trial/trial_result.h"
#include "tests/support/scratch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_result(void)
{
	struct trial_result result, again;
	struct error err = { 0 };
	size_t i;

	if (trial_result_read(scratch_folder(), &result, &err) != 0) {
		assert(err.text[0]);
		return;
	}
	for (i = 0; i < result.series.count; i++)
		assert(isfinite(result.series.points[i].value));
	if (trial_result_write(scratch_folder(), &result, &err) < 0 ||
	    trial_result_read(scratch_folder(), &again, &err) != 0)
		abort();
	assert(again.state == result.state && again.early == result.early);
	trial_result_done(&again);
	trial_result_done(&result);
}

static void read_task(struct arena *mem)
{
	struct task_record task = { .type = "worker" };
	struct task_list tasks = { .items = &task, .count = 1 };
	struct attempt_outcome outcome = { 0 };
	struct error err = { 0 };

	if (task_files_read(scratch_folder(), mem, &tasks, NULL, &err) < 0) {
		assert(err.text[0]);
		return;
	}
	assert(task.state <= RUN_CANCELLED);
	task_file_was_told(scratch_folder(), &task);
	task_file_is_whole(scratch_folder(), &task);
	task_files_outcome(scratch_folder(), &tasks, &outcome);
}

static void read_series(const uint8_t *data, size_t size)
{
	struct trial_series series = { 0 };
	struct trial_point last;

	trial_series_parse((const char *)data, size, "loss", &series);
	assert(trial_series_result(&series, &last) ==
	       (series.count > 0 && !series.broken));
	trial_is_hopeless(GOAL_MINIMIZE, &series, &series, 1);
	trial_series_done(&series);
}

static void read_events(const char *path, struct arena *mem)
{
	struct upload_events events;
	struct error err = { 0 };
	uint64_t offset = 0, before;

	if (upload_events_read(path, &offset, mem, &events, &err) < 0) {
		assert(err.text[0]);
		return;
	}
	for (size_t i = 0; i < events.count; i++)
		assert(events.items[i].text);
	before = offset;
	if (upload_events_read(path, &offset, mem, &events, &err) == 0)
		assert(!events.count && offset == before);
}

static void read_ledger(struct arena *mem)
{
	struct checkpoint *all;
	struct error err = { 0 };
	size_t count;

	if (checkpoint_watch_recorded(scratch_folder(), mem, &all, &count,
				      &err) < 0)
		assert(err.text[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct checkpoint heard = { .step = -1, .epoch = -1, .value = NAN };
	struct arena *mem = arena_new();
	struct usage usage;
	struct error err;

	scratch_file("result", data, size);
	read_result();
	scratch_file("tasks/worker-0", data, size);
	read_task(mem);
	read_series(data, size);
	heard_fill(scratch_file("heard", data, size), "loss", 1000, &heard,
		   &err);
	scratch_file("usage.json", data, size);
	if (usage_read(scratch_folder(), &usage, &err) == 0)
		usage_is_known(&usage);
	read_events(scratch_file("events", data, size), mem);
	scratch_file(".jobrun-checkpoints.json", data, size);
	read_ledger(mem);
	arena_free(mem);
	return 0;
}
