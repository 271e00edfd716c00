/* SPDX-License-Identifier: Apache-2.0 */
/* Saves the checkpoints of a run on this machine, from the preparation of an
 * attempt to its end. */
#ifndef JOBRUN_RUN_SAVER_H
#define JOBRUN_RUN_SAVER_H

#include "core/checkpoint/saver.h"
#include "core/spec/spec.h"

/* A zeroed one saves no checkpoints. */
struct run_saver {
	struct arena *mem;
	struct saver_config config;
	struct saver *saver; /* NULL: there is none */
	void (*ready)(void *arg, const char *why);
	void (*ended)(void *arg);
	void *arg;
	bool is_ready;
	char *resume;     /* the checkpoint to resume from, or NULL */
	int64_t ended_ms; /* monotonic end of the trainer; 0: still running */
	bool ended_well;
};

/*
 * Fetches the checkpoint that the attempt resumes from and calls `ready`, with
 * the reason if it can't be had; later, `ended` answers run_saver_end().  All
 * three callback members are set before.  `place` needs no config.
 */
void run_saver_start(struct run_saver *run, const struct run_spec *spec,
		     const struct saver_deps *deps);
/* Releases it.  It makes no more reports. */
void run_saver_done(struct run_saver *run);

bool run_saver_is_preparing(const struct run_saver *run);
void run_saver_environment(const struct run_saver *run,
			   struct environment *out);
/* Tells it that the first task has ended, with its status from waitpid(). */
void run_saver_task_ended(struct run_saver *run, int status);
/* To be called when all tasks are gone: saves the last checkpoint.  `grace_ms`:
 * how long that may take; -1: as long as the store works. */
void run_saver_end(struct run_saver *run, int64_t grace_ms);

#endif
