/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The result that a trial without a supervisor leaves in the folder of its last
 * attempt, for the other trials of the run and for whoever follows it:
 *
 *	trials/K/attempts/N/result
 */
#ifndef JOBRUN_TRIAL_RESULT_H
#define JOBRUN_TRIAL_RESULT_H

#include "core/base/run_state.h"
#include "core/trial/trial_value.h"

struct trial_record;

struct trial_result {
	int number;           /* the number of the trial; not stored */
	enum run_state state; /* final */
	int exit_code;        /* -1: none */
	bool early;           /* stopped early, as others were better */
	int64_t time_ms;
	struct trial_series series; /* owned */
};

struct trial_results {
	struct trial_result *items; /* of the ended trials, by number */
	size_t count;
};

void trial_result_done(struct trial_result *result);

/* A very long series keeps only some points, including the last. */
int trial_result_write(const char *attempt, const struct trial_result *result,
		       struct error *err);
/* 1: there is none yet. */
int trial_result_read(const char *attempt, struct trial_result *out,
		      struct error *err);

/* Reads the results of trials 1 to `trials` of the run with this folder. */
int trial_results_read(const char *run, long trials, struct trial_results *out,
		       struct error *err);
void trial_results_done(struct trial_results *results);

/* Sets the value by which a trial is judged.  If the last value of a successful
 * trial is not a number, the record's error says so. */
void trial_record_judge(struct trial_record *record,
			const struct trial_series *series);

/* Copies a result to a trial's record; changes the record's error only as
 * trial_record_judge() does. */
void trial_result_record(const struct trial_result *result,
			 struct trial_record *out);

#endif
