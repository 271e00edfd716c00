/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of tuner.h: which trials there are and when all is over
 * (tuner.c), one of them (trial.c), the slots where they run one after the
 * other (trial_slot.c), and resuming after another process (tuner_resume.c). */
#ifndef JOBRUN_TUNER_INTERNAL_H
#define JOBRUN_TUNER_INTERNAL_H

#include "core/spec/trial_space.h"
#include "core/trial/trial_tally.h"
#include "core/trial/trial_value.h"
#include "core/supervise/tuner.h"

/* One slot for each trial that may run at a time.  On hosts it has a backend
 * that stays connected; each begins at another host. */
struct trial_slot {
	bool busy;
	bool bad;                /* a host of it is not to be had */
	struct backend *backend; /* idle; NULL: none, or a trial has it */
	/* Borrowed from the last trial there; both live as long as the run. */
	const struct run_hosts *hosts; /* NULL: there was none */
	const struct topology *topology;
};

struct trial {
	struct tuner *tuner;
	struct run_context context;
	struct trial_record record;
	struct trial_reader *reader;
	struct trial_series series; /* of one that has succeeded */
	size_t slot;
	bool begun;
	bool ran;                      /* this attempt at it */
	bool over;                     /* its last attempt is */
	bool final;                    /* and all that it reported is read */
	bool closed;                   /* `context` is done with */
	bool dirty;                    /* the record could not be stored yet */
	char why[600];                 /* it is restarted */
	struct loop_event *next_timer; /* it waits to be, or is read */
};

struct tuner {
	struct tuner_deps deps;
	const struct tuner_hooks *hooks;
	void *arg;
	const struct hyperparameter_spec *spec;
	struct trial_space space;
	struct trial **trials; /* those that were started */
	long count;
	struct trial_slot *slots; /* max_parallel_trials */
	long alive;
	struct trial_tally tally;
	bool prepared; /* what all need is there */
	bool held;     /* it cannot be: another owner has the hosts */
	enum run_state state;
	enum run_state ending; /* RUN_QUEUED: not yet */
	char why[600];
	struct loop_event *next_timer;
	struct loop_event *look_timer;
	struct loop_event *limit_timer;
	struct loop_event *retry_timer;
};

/* ---- all of them: tuner.c ---- */

/* A trial is prepared, and so is what all need. */
void tuner_trial_runs(struct tuner *t);
/* A trial has ended for good. */
void tuner_trial_ended(struct trial *trial);

/* ---- one: trial.c ---- */

/* The next one, with values of its own; in no slot, and not begun yet. */
struct trial *trial_add(struct tuner *t);
/* In a slot.  Returns -1 if it could not even be prepared to be tried. */
int trial_start(struct trial *trial, size_t slot, struct error *err);
void trial_free(struct trial *trial);
/* Stores its record, or later. */
void trial_record(struct trial *trial);
int trial_record_now(struct trial *trial, struct error *err);
/* It will not begin. */
void trial_give_up(struct trial *trial, const char *why);
void trial_cancel(struct trial *trial, const char *why, bool now);
/* Copies its reported values to its record.  1: there is more to read. */
int trial_look(struct trial *trial, struct trial_series *series,
	       struct error *err);

/* For those that another process began: the folder of the newest attempt at
 * it, where its specification is; returns new. */
char *trial_own_folder(const struct trial *trial);
/* The context of one whose specification is set, and what reads its metric. */
int trial_open(struct trial *trial, struct error *err);

/* ---- where they run: trial_slot.c ---- */

/* -1: none. */
long trial_slot_find(const struct tuner *t);
size_t trial_slot_count(const struct tuner *t);
/* The trial's specification becomes one for there, and its context has the
 * backend. */
int trial_slot_enter(struct trial *trial, size_t slot, struct error *err);
void trial_slot_leave(struct trial *trial);
/* One that was there under another process. */
void trial_slot_remember(struct trial *trial);
/* Whether there is still one that may be used. */
bool trial_slot_any(const struct tuner *t);
void trial_slots_done(struct tuner *t);

/* ---- tuner_resume.c ---- */

/* The trials of the run that are in the store already, and goes on with those
 * that have not ended. */
int tuner_resume(struct tuner *t, struct error *err);

#endif
