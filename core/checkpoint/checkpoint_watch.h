/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches the directory that a trainer writes its checkpoints to, from another
 * process: which of them are whole.  One is whole
 *  - when it gets its name by rename(2), or
 *  - when it was left alone for the quiet period, nobody has it open for
 *    writing, and the trainer still ran then, or has ended well since, or
 *  - when it is one file that was closed, and the trainer then went on for two
 *    seconds, or began one of a later step, however it has ended since.
 * A checkpoint during whose writing the trainer was killed never is, however
 * long ago that was.  The watch records its findings in the directory itself
 * (".jobrun-checkpoints.json"), for the next process that looks.
 */
#ifndef JOBRUN_CHECKPOINT_WATCH_H
#define JOBRUN_CHECKPOINT_WATCH_H

#include <stdint.h>

#include "core/checkpoint/checkpoint.h"

enum checkpoint_state {
	CHECKPOINT_NEW, /* it may still be written to */
	CHECKPOINT_WHOLE,
	CHECKPOINT_KEPT,   /* and was copied to where they are kept */
	CHECKPOINT_BROKEN, /* it was cut off; another change makes it new */
};

/* One of them, as it was last seen. */
struct checkpoint_known {
	/* Step, epoch, metric and attempt are for the owner of the watch to
	 * fill in, when it is told; texts that it puts there must outlive the
	 * watch. */
	struct checkpoint what;
	const char *signature;
	enum checkpoint_state state;
	bool is_told; /* checkpoint_watch_next() has given it */

	/* The memory of the watch. */
	struct arena *mem;
	int64_t quiet_from_ms; /* of the monotonic clock: its last change, or when it was closed */
	int64_t closed_ms; /* the same: when it was heard to be closed */
	bool is_closed;    /* since its last change, as far as is known */
	bool is_passed;    /* and one of a later step was begun then */
	bool is_open;      /* for writing, when that was last looked at */
	bool is_partial;
	bool is_there;
};

struct checkpoint_watch;
struct error;

/*
 * Makes the directory if it is not there.  `is_resumed`: the trainer runs
 * already, and another process has watched it till now; else what is found
 * there and not known to be whole counts as cut off.
 */
struct checkpoint_watch *checkpoint_watch_open(const char *path,
					       int64_t quiet_ms,
					       bool is_resumed,
					       struct error *err);
void checkpoint_watch_close(struct checkpoint_watch *watch);

/* Readable when it is worth to look; borrowed.  It may be another after a
 * look; -1: none is to be had, look now and then. */
int checkpoint_watch_fd(const struct checkpoint_watch *watch);
/* The directory as it is now; borrowed until the next look. */
int checkpoint_watch_folder(const struct checkpoint_watch *watch);

/* Looks what has changed.  `next_ms`: when something may become whole by being
 * left alone, from now; -1: nothing will. */
int checkpoint_watch_look(struct checkpoint_watch *watch, int64_t *next_ms,
			  struct error *err);

/* The trainer has ended at that time of the monotonic clock; `well`: what it
 * has written is as it meant it.  Looks, too. */
int checkpoint_watch_end(struct checkpoint_watch *watch, int64_t ended_ms,
			 bool well, struct error *err);

/* The next one that has become whole, is not newer than that, and was not
 * told yet; or NULL. */
struct checkpoint_known *checkpoint_watch_next(struct checkpoint_watch *watch,
					       int64_t before_ms);

/* All that are there. */
struct checkpoint_known **checkpoint_watch_all(struct checkpoint_watch *watch,
					       size_t *count);

/* Lists the checkpoints that a watch found whole, and that are unchanged since.
 * Changes nothing; lives in `mem`. */
int checkpoint_watch_recorded(const char *path, struct arena *mem,
			      struct checkpoint **out, size_t *count,
			      struct error *err);

/* Whether the checkpoint is unchanged; for the copying process. */
bool checkpoint_watch_is_same(struct checkpoint_watch *watch,
			      const struct checkpoint_known *known);

/* Writes down what is known; a look does so itself when one is whole. */
int checkpoint_watch_save(struct checkpoint_watch *watch, struct error *err);

#endif
