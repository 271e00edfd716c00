/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/slurm/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/task/task_secrets.h"
#include "core/trial/trial_spec.h"
#include "core/trial/trial_tally.h"
#include "core/trial/trial_watch.h"

static const char *file_of(const char *folder, const char *name,
			   struct arena *mem)
{
	return arena_printf(mem, "%s/%s", folder, name);
}

bool array_is_stopped(const char *run)
{
	char *path = path_join(run, "stopped");
	bool out = access(path, F_OK) == 0;

	free(path);
	return out;
}

/* Reads all values that the trial has reported. */
static int read_series(const struct slurm_turn *at, const struct run_spec *spec,
		       const char *attempt, struct arena *mem,
		       struct trial_series *out, struct error *err)
{
	struct trial_reader *reader;
	const char **values;
	struct run_spec trial;
	int ret;

	if (trial_values_read(at->run, spec, at->trial, mem, &values, err) < 0)
		return -1;
	trial_spec_make(spec, at->trial, values, attempt,
			file_of(attempt, "metric", mem), mem, &trial);
	reader = trial_reader_new(&trial, spec->tuning.metric_tag, err);
	ret = reader ? trial_reader_read(reader, true, out, err) : -1;
	trial_reader_free(reader);
	return ret;
}

static int put_result(const struct slurm_turn *at, const struct run_spec *spec,
		      const char *attempt, const struct trial_result *how,
		      struct arena *mem, struct error *err)
{
	struct trial_result result = *how;
	int ret;

	if (access(file_of(attempt, "result", mem), F_OK) == 0)
		return 0;
	result.early =
		how->state == RUN_CANCELLED &&
		access(file_of(attempt, TRIAL_EARLY_FILE, mem), F_OK) == 0;
	/* A trial that can't be read has reported no values. */
	if (read_series(at, spec, attempt, mem, &result.series, err) < 0)
		fprintf(stderr, "trial %d: %s\n", at->trial, err->text);
	ret = trial_result_write(attempt, &result, err);
	trial_result_done(&result);
	return ret;
}

static int put_status(const char *run, bool succeeded, struct arena *mem,
		      struct error *err)
{
	task_secrets_remove(run);
	return file_write(file_of(run, "status", mem),
			  succeeded ? "0\n" : "1\n", 2, err);
}

/* Ends all elements that wait or run, including this one, whose work is done.
 * An element that this does not reach does not begin, or not again. */
static int stop_others(const struct slurm_turn *at, struct arena *mem,
		       struct error *err)
{
	/* "12_3" is element 3 of job 12. */
	const char *const argv[] = {
		"scancel",
		arena_strndup(mem, at->job_id, strcspn(at->job_id, "_")), NULL
	};

	if (put_status(at->run, false, mem, err) < 0 ||
	    file_write(file_of(at->run, "stopped", mem), "", 0, err) < 0)
		return -1;
	return slurm_call(argv, err);
}

int array_end_trial(const struct slurm_turn *at, const struct run_spec *spec,
		    const char *attempt, const struct trial_result *how,
		    struct error *err)
{
	struct trial_results results = { 0 };
	struct arena *mem = arena_new();
	struct trial_tally tally = { 0 };
	long count = trial_count(spec);
	char why[600];
	int ret = -1;
	size_t i;

	if (put_result(at, spec, attempt, how, mem, err) < 0 ||
	    trial_results_read(at->run, count, &results, err) < 0)
		goto out;
	for (i = 0; i < results.count; i++) {
		struct trial_record record = {
			.number = results.items[i].number,
		};

		trial_result_record(&results.items[i], &record);
		trial_tally_add(&tally, &record);
	}
	ret = 0;
	if (trial_tally_is_enough(&tally, &spec->tuning, why, sizeof(why))) {
		if (!array_is_stopped(at->run))
			ret = stop_others(at, mem, err);
	} else if (tally.ended == count && !array_is_stopped(at->run)) {
		ret = put_status(at->run,
				 !tally.cancelled &&
					 trial_tally_verdict(
						 &tally, &spec->tuning, why,
						 sizeof(why)) == RUN_SUCCEEDED,
				 mem, err);
	}
out:
	trial_results_done(&results);
	arena_free(mem);
	return ret;
}
