/* SPDX-License-Identifier: Apache-2.0 */
#include "core/trial/trial_watch.h"

#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/trial/trial_result.h"
#include "core/trial/trial_spec.h"

struct trial_watch {
	const struct run_spec *spec;
	char *run;
	long trials;
	struct trial_reader *reader;
};

struct trial_watch *trial_watch_new(const struct run_spec *spec,
				    const char *run, struct error *err)
{
	struct trial_watch *watch = mem_alloc(sizeof(*watch));

	watch->spec = spec;
	watch->run = mem_strdup(run);
	watch->trials = trial_count(spec);
	watch->reader = trial_reader_new(spec, spec->tuning.metric_tag, err);
	if (watch->reader)
		return watch;
	trial_watch_free(watch);
	return NULL;
}

void trial_watch_free(struct trial_watch *watch)
{
	if (!watch)
		return;
	trial_reader_free(watch->reader);
	free(watch->run);
	free(watch);
}

bool trial_watch_is_hopeless(struct trial_watch *watch)
{
	enum goal_type goal = (enum goal_type)watch->spec->tuning.goal;
	struct trial_series self = { 0 }, *others;
	struct trial_results results;
	struct error ignored;
	size_t n = 0;
	bool out;

	if (trial_results_read(watch->run, watch->trials, &results, &ignored) <
	    0)
		return false;
	others = mem_alloc((results.count + 1) * sizeof(*others));
	for (size_t i = 0; i < results.count; i++)
		if (results.items[i].state == RUN_SUCCEEDED &&
		    results.items[i].series.count)
			others[n++] = results.items[i].series;
	out = trial_reader_step(watch->reader, false, &self, &ignored) == 0 &&
	      trial_is_hopeless(goal, &self, others, n);
	trial_series_done(&self);
	free(others);
	trial_results_done(&results);
	return out;
}
