/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trials of hyperparameters: one run, whose program is started many times,
 * each with other values and a folder of its own, some of them at a time.
 * It chooses the values (trial_space.h), reads what came of them
 * (trial_value.h), stops the hopeless early if that is asked for, and writes
 * the trials' records; that of the run is its owner's.
 *
 * A trial that fails is restarted as jobrun.restart says.  On hosts those that
 * run at a time have hosts of their own, as far as there are enough.
 *
 *	runs/JOB.ATTEMPT/trials/3/	the folder of a trial
 *	  logs/, output/, spec.json	as those of a run
 *	  metric			CLOUD_ML_HP_METRIC_FILE; from hosts it
 *					comes back in output/
 *	  attempt-2/			logs and spec.json of a restart
 */
#ifndef JOBRUN_TUNER_H
#define JOBRUN_TUNER_H

#include "core/supervise/run_context.h"

struct tuner;

/* All borrowed, to outlive it. */
struct tuner_deps {
	const struct run_context_deps *context;
	const struct run_spec *spec;
	const struct run_record *run;
	struct arena *mem;
};

/* From the loop or from within a call. */
struct tuner_hooks {
	/* tuner_state(), or the record of a trial in the store. */
	void (*changed)(void *arg);
	/* It is final. */
	void (*ended)(void *arg);
};

struct tuner *tuner_new(const struct tuner_deps *deps,
			const struct tuner_hooks *hooks, void *arg);
/* Only before it has begun, or when it is final. */
void tuner_free(struct tuner *tuner);

/* Starts the first trial alone, as it prepares for all; then the others.
 * Resumes the trials on hosts that another process has begun.  A failure is an
 * end like others. */
void tuner_begin(struct tuner *tuner);

/* As attempt_cancel() and attempt_fail(), for all trials. */
void tuner_cancel(struct tuner *tuner, const char *why, bool now);
void tuner_fail(struct tuner *tuner, const char *why);

enum run_state tuner_state(const struct tuner *tuner);
/* The run's: 0, ERROR_TRY_AGAIN if another owner's run was in the way before
 * anything began, else -1. */
int tuner_exit_code(const struct tuner *tuner);
/* Why it has ended, or is ending; NULL after success. */
const char *tuner_why(const struct tuner *tuner);

#endif
