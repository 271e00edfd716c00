/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of tuner.h: the trials and when all are done (tuner.c), a
 * single trial (trial.c), the slots in which they run one after the other
 * (trial_slot.c), and resuming after another process (tuner_resume.c). */
#ifndef JOBRUN_TUNER_INTERNAL_H
#define JOBRUN_TUNER_INTERNAL_H

#include "core/spec/trial_space.h"
#include "core/trial/trial_tally.h"
#include "core/trial/trial_value.h"
#include "core/supervise/tuner.h"

/* One slot for each trial that may run at the same time.  On hosts it has a
 * backend that stays connected; each slot begins at another host. */
struct trial_slot {
	bool busy;
	bool bad;                /* one of its hosts is not available */
	struct backend *backend; /* idle; NULL: none, or a trial uses it */
	/* Borrowed from its last trial; both live as long as the run. */
	const struct run_hosts *hosts; /* NULL: no trial yet */
	const struct topology *topology;
};

struct trial {
	struct tuner *tuner;
	struct run_context context;
	struct trial_record record;
	struct trial_reader *reader;
	struct trial_series series; /* of a trial that has succeeded */
	size_t slot;
	bool begun;
	bool ran;  /* this attempt has run */
	bool over; /* its last attempt has ended */
	/* and all that it reported has been read */
	bool final;
	bool closed;                   /* `context` is closed */
	bool dirty;                    /* its record is not stored yet */
	char why[600];                 /* why it is restarted */
	struct loop_event *next_timer; /* until it is restarted or read */
};

struct tuner {
	struct tuner_deps deps;
	const struct tuner_hooks *hooks;
	void *arg;
	const struct hyperparameter_spec *spec;
	struct trial_space space;
	struct trial **trials; /* the trials that were started */
	long count;
	struct trial_slot *slots; /* max_parallel_trials */
	long alive;
	struct trial_tally tally;
	bool prepared; /* what all trials need is ready */
	bool held;     /* cannot be prepared: another owner has the hosts */
	enum run_state state;
	enum run_state ending; /* RUN_QUEUED: not ending */
	char why[600];
	struct loop_event *next_timer;
	struct loop_event *look_timer;
	struct loop_event *limit_timer;
	struct loop_event *retry_timer;
};

/* ---- all of them: tuner.c ---- */

/* To be called when a trial is prepared, and so is what all trials need. */
void tuner_trial_runs(struct tuner *t);
/* To be called when a trial has ended for good. */
void tuner_trial_ended(struct trial *trial);

/* ---- one: trial.c ---- */

/* Adds the next trial, with its own values; it has no slot and has not
 * begun. */
struct trial *trial_add(struct tuner *t);
/* Starts the trial in a slot.  Returns -1 if even preparing could not be
 * begun. */
int trial_start(struct trial *trial, size_t slot, struct error *err);
void trial_free(struct trial *trial);
/* Stores its record now, or retries later. */
void trial_record(struct trial *trial);
int trial_record_now(struct trial *trial, struct error *err);
/* Ends a trial that cannot begin. */
void trial_give_up(struct trial *trial, const char *why);
void trial_cancel(struct trial *trial, const char *why, bool now);
/* Copies its reported values to its record.  1: there is more to read. */
int trial_look(struct trial *trial, struct trial_series *series,
	       struct error *err);

/* For trials that another process began: the folder of the trial's newest
 * attempt, which has its specification; returns new. */
char *trial_own_folder(const struct trial *trial);
/* Opens the context of a trial whose specification is set, and the reader of
 * its metric. */
int trial_open(struct trial *trial, struct error *err);

/* ---- where they run: trial_slot.c ---- */

/* -1: none. */
long trial_slot_find(const struct tuner *t);
size_t trial_slot_count(const struct tuner *t);
/* Adapts the trial's specification to the slot, and gives its context the
 * slot's backend. */
int trial_slot_enter(struct trial *trial, size_t slot, struct error *err);
void trial_slot_leave(struct trial *trial);
/* Records that the trial used its slot under another process. */
void trial_slot_remember(struct trial *trial);
/* Whether a usable slot is left. */
bool trial_slot_any(const struct tuner *t);
void trial_slots_done(struct tuner *t);

/* ---- tuner_resume.c ---- */

/* Reads the run's trials from the store, and resumes those that have not
 * ended. */
int tuner_resume(struct tuner *t, struct error *err);

#endif
