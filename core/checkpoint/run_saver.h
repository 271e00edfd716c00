/* SPDX-License-Identifier: Apache-2.0 */
/* The saver of the checkpoints of a run on this machine, from the preparing
 * of an attempt to its end. */
#ifndef JOBRUN_RUN_SAVER_H
#define JOBRUN_RUN_SAVER_H

#include "core/checkpoint/saver.h"
#include "core/spec/spec.h"

/* Zeroed, the run keeps none. */
struct run_saver {
	struct arena *mem;
	struct saver_config config;
	struct saver *saver; /* NULL: there is none */
	void (*ready)(void *arg, const char *why);
	void (*ended)(void *arg);
	void *arg;
	bool is_ready;
	char *resume;     /* what to go on from, or NULL */
	int64_t ended_ms; /* the trainer, of the monotonic clock; 0: not yet */
	bool ended_well;
};

/*
 * Fetches what the attempt goes on from, and says `ready`, with the reason if
 * that can't be had; later run_saver_end() is answered with `ended`.  All
 * three are set before.  `place` needs no config.
 */
void run_saver_start(struct run_saver *run, const struct run_spec *spec,
		     const struct saver_deps *deps);
/* The owner has no more use for it.  It makes no more reports. */
void run_saver_done(struct run_saver *run);

bool run_saver_is_preparing(const struct run_saver *run);
void run_saver_environment(const struct run_saver *run,
			   struct environment *out);
/* The first task has ended, with that status of waitpid(). */
void run_saver_task_ended(struct run_saver *run, int status);
/* All tasks are gone: has the last checkpoint kept.  `grace_ms`: how long that
 * may take; -1: as long as the store works. */
void run_saver_end(struct run_saver *run, int64_t grace_ms);

#endif
