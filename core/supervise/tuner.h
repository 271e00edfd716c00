/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hyperparameter trials: one run whose program is started many times, some at a
 * time, each time with other values and its own folder.  The tuner chooses the
 * values (trial_space.h), reads the results (trial_value.h), stops hopeless
 * trials early if asked to, and writes the trials' records; its owner writes
 * that of the run.
 *
 * A trial that fails is restarted as jobrun.restart says.  On hosts, parallel
 * trials have separate hosts, as far as there are enough.
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

/* All borrowed; they must outlive the tuner. */
struct tuner_deps {
	const struct run_context_deps *context;
	const struct run_spec *spec;
	const struct run_record *run;
	struct arena *mem;
};

/* Called from the loop or from within a call. */
struct tuner_hooks {
	/* tuner_state(), or the record of a trial in the store, has changed. */
	void (*changed)(void *arg);
	/* The tuner is final. */
	void (*ended)(void *arg);
};

struct tuner *tuner_new(const struct tuner_deps *deps,
			const struct tuner_hooks *hooks, void *arg);
/* Only before it has begun, or when it is final. */
void tuner_free(struct tuner *tuner);

/* Starts the first trial alone, as it prepares for all; then the others.
 * Resumes trials on hosts that another process has begun.  A failure is an end
 * like others. */
void tuner_begin(struct tuner *tuner);

/* Like attempt_cancel() and attempt_fail(), for all trials. */
void tuner_cancel(struct tuner *tuner, const char *why, bool now);
void tuner_fail(struct tuner *tuner, const char *why);

enum run_state tuner_state(const struct tuner *tuner);
/* The run's exit code: 0; ERROR_TRY_AGAIN if another owner's run blocked it
 * before anything began; else -1. */
int tuner_exit_code(const struct tuner *tuner);
/* Why it has ended, or is ending; NULL after success. */
const char *tuner_why(const struct tuner *tuner);

#endif
