/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trials on hosts go on without this machine.  The next process that supervises
 * them reads their records in the store and their specifications in their
 * folders.  The values of later trials depend only on the number of trials so
 * far.
 */
#include <stdlib.h>

#include "core/supervise/tuner_internal.h"

static int read_spec(struct trial *trial, struct error *err)
{
	char *folder = trial_own_folder(trial);
	int ret = spec_read(folder, trial->tuner->deps.mem,
			    &trial->context.spec, err);

	free(folder);
	return ret;
}

/* Reads the reported values, which later trials are compared with. */
static int read_series(struct trial *trial, struct error *err)
{
	struct tuner *t = trial->tuner;
	int ret;

	if (trial->record.state != RUN_SUCCEEDED)
		return 0;
	trial->reader = trial_reader_new(&trial->context.spec,
					 t->spec->metric_tag, err);
	trial->over = true;
	ret = trial->reader ? trial_reader_read(trial->reader, true,
						&trial->series, err)
			    : -1;
	trial_reader_free(trial->reader);
	trial->reader = NULL;
	return ret;
}

static int take_ended(struct trial *trial, struct error *err)
{
	struct tuner *t = trial->tuner;

	trial->final = trial->closed = true;
	trial_tally_add(&t->tally, &trial->record);
	return read_series(trial, err);
}

static int take(struct tuner *t, const struct trial_record *record,
		struct error *err)
{
	struct trial *trial = trial_add(t);
	int ret;

	trial->record = *record;
	ret = read_spec(trial, err);
	if (ret == 0 && run_state_is_final(record->state))
		ret = take_ended(trial, err);
	trial_slot_remember(trial);
	t->prepared = t->prepared || record->start_time_ms;
	return ret;
}

/* Goes on with a trial that its hosts are running. */
static int go_on(struct trial *trial, struct error *err)
{
	if (trial_open(trial, err) < 0)
		return -1;
	trial->begun = true;
	trial->tuner->alive++;
	run_context_begin(&trial->context, 0);
	if (trial->record.early)
		trial_cancel(trial, "stopped early", false);
	return 0;
}

int tuner_resume(struct tuner *t, struct error *err)
{
	struct trial_list list;
	long taken;

	if (store_trial_list(t->deps.context->store, t->deps.run, t->deps.mem,
			     &list, err) < 0)
		return -1;
	for (size_t i = 0; i < list.count; i++)
		if (take(t, &list.items[i], err) < 0)
			return error_prefix(err, "trial %d",
					    list.items[i].number);
	taken = t->count;
	for (long i = 0; i < taken; i++)
		if (!t->trials[i]->final && go_on(t->trials[i], err) < 0)
			return error_prefix(err, "trial %d",
					    t->trials[i]->record.number);
	return 0;
}
