/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The saver of a run's checkpoints: a process beside the trainer that finds the
 * checkpoint to resume from and copies what the trainer writes to the store.
 * As a separate process it delays neither the trainer nor its log when the
 * store is slow or fails, and it may be killed at any instant.  This header has
 * both sides of it.
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

/* The name of the hidden command that runs as a saver. */
#define SAVER_COMMAND "keep-checkpoints"

/* The main function of the process, which reads its instructions from standard
 * input.  Returns its exit status: 0 if all is saved that should be. */
int saver_main(struct object_store *objects);

/* A started saver and the pipes to and from it; the caller closes them and
 * waits for it. */
struct saver_process {
	pid_t pid;
	int to;
	int from;
};

/* `no_files` becomes its RLIMIT_NOFILE.  It dies with the calling thread. */
int saver_spawn(const struct saver_config *config,
		const struct rlimit *no_files, struct saver_process *out,
		struct error *err);
/* The same as a fork without an executable, for a process with one thread; it
 * exits with the result of `run`. */
int saver_fork(const struct saver_config *config, int (*run)(const void *arg),
	       const void *arg, struct saver_process *out, struct error *err);
/* Waits for its answer: the path to resume from (new; NULL: none).  Blocks
 * until that is fetched.  Returns 1 if the saver was killed before. */
int saver_hear(const struct saver_process *saver, char **path,
	       struct error *err);
/* Tells it that the trainer ended; it exits once everything is saved. */
void saver_tell(const struct saver_process *saver, const struct saver_end *end);

/*
 * Sets the trainer's variables: JOBRUN_CHECKPOINT_DIR, and with a checkpoint to
 * resume from JOBRUN_CHECKPOINT, and LOAD_CHKPT_DIR and LOAD_CHKPT_FILE, the
 * same path in two parts, as the examples of PyTorch/XLA on TPUs expect.  If
 * the trainer has put SAVER_DATA_STATE into the checkpoint, JOBRUN_DATA_STATE
 * is its path, which 'jobrun cat' reads (core/shard/shard_state.h).
 */
#define SAVER_DATA_STATE "jobrun-data"

void saver_environment(const char *directory, const char *path,
		       struct environment *out);

/* The parent's side in an event loop; it starts another saver if one dies. */
struct saver;

struct saver_hooks {
	/* Called once, with the path to resume from (or NULL), or why it is
	 * unknown. */
	void (*ready)(void *arg, const char *path, const char *why);
	/* Called once after saver_end(): none of its processes run any more. */
	void (*ended)(void *arg);
};

/* Borrows all members. */
struct saver_deps {
	const struct saver_config *config;
	struct loop *loop;
	struct reaper *reaper;
	const struct rlimit *no_files;
};

struct saver *saver_new(const struct saver_deps *deps,
			const struct saver_hooks *hooks, void *arg);
void saver_free(struct saver *saver); /* kills its process, if it runs */
/* 0: it is not running. */
pid_t saver_pid(const struct saver *saver);
/* Tells it that the trainer has ended; it is killed `limit_ms` later.  May be
 * called again with another limit. */
void saver_end(struct saver *saver, const struct saver_end *end,
	       int64_t limit_ms);

#endif
