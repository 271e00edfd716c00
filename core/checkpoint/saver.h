/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The saver of a run's checkpoints: a process beside the trainer that finds
 * the one to go on from, and copies what the trainer writes to where it is
 * kept.  A process, so that a slow or failing store delays neither the trainer
 * nor its log, and may be killed at any instant.  Here are both sides of it.
 */
#ifndef JOBRUN_SAVER_H
#define JOBRUN_SAVER_H

#include <sys/resource.h>
#include <sys/types.h>

#include "core/base/error.h"
#include "core/base/loop.h"
#include "core/data/object_store.h"
#include "core/base/environment.h"
#include "core/spec/saver_config.h"
#include "core/process/reaper.h"

/* The name of the hidden command that a saver is. */
#define SAVER_COMMAND "keep-checkpoints"

/* The process itself, told what to do through its standard input.  Returns its
 * exit status: 0 if all is kept that should be. */
int saver_main(struct object_store *objects);

/* One that was started, and the pipes to and from it; the caller closes them
 * and waits for it. */
struct saver_process {
	pid_t pid;
	int to;
	int from;
};

/* `no_files` is its RLIMIT_NOFILE.  It dies with the calling thread. */
int saver_spawn(const struct saver_config *config,
		const struct rlimit *no_files, struct saver_process *out,
		struct error *err);
/* The same without a file of its own, for a process of one thread: it is a
 * fork, which ends with what `run` returns. */
int saver_fork(const struct saver_config *config, int (*run)(const void *arg),
	       const void *arg, struct saver_process *out, struct error *err);
/* Waits for its answer: the path to resume from (new, NULL for none).  Blocks
 * until that is fetched.  1: it was killed before. */
int saver_hear(const struct saver_process *saver, char **path,
	       struct error *err);
/* Tells it of the end; it ends, too, when all is kept. */
void saver_tell(const struct saver_process *saver, const struct saver_end *end);

/*
 * Sets the trainer's variables: JOBRUN_CHECKPOINT_DIR; and with one to resume
 * from JOBRUN_CHECKPOINT, and LOAD_CHKPT_DIR and LOAD_CHKPT_FILE, the same in
 * two parts, as the examples of PyTorch/XLA on TPUs have it.
 */
void saver_environment(const char *directory, const char *path,
		       struct environment *out);

/* The other side in an event loop, with another saver for one that died. */
struct saver;

struct saver_hooks {
	/* Once: with what to go on from (or NULL), or why that is not known. */
	void (*ready)(void *arg, const char *path, const char *why);
	/* After saver_end(), once: nothing of it runs any more. */
	void (*ended)(void *arg);
};

/* Borrows all of it. */
struct saver_deps {
	const struct saver_config *config;
	struct loop *loop;
	struct reaper *reaper;
	const struct rlimit *no_files;
};

struct saver *saver_new(const struct saver_deps *deps,
			const struct saver_hooks *hooks, void *arg);
void saver_free(struct saver *saver); /* kills what runs of it */
/* 0: it does not run. */
pid_t saver_pid(const struct saver *saver);
/* The trainer has ended: `limit_ms` later it is killed.  May be called again,
 * with another limit. */
void saver_end(struct saver *saver, const struct saver_end *end,
	       int64_t limit_ms);

#endif
