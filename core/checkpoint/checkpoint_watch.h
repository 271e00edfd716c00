/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches a trainer's checkpoint directory from another process, to tell which
 * checkpoints are complete.  A checkpoint is complete
 *  - when it gets its name by rename(2), or
 *  - when the trainer has ended well, or
 *  - if it is a file: when it was left alone for the quiet period, nobody has it
 *    open for writing, and the trainer still ran then; or when it was closed,
 *    and the trainer then went on for two seconds, or began a file of a later
 *    step, however it has ended since, or
 *  - if it is a folder: when a file in it says so (enum checkpoint_word), or a
 *    later checkpoint was begun after its last change, and nobody has one of
 *    its files open for writing.
 * A checkpoint that was being written when the trainer was killed never
 * becomes complete, however long ago that was.  The watch records its
 * findings in the directory itself (".jobrun-checkpoints.json"), for the
 * next process that looks.
 */
#ifndef JOBRUN_CHECKPOINT_WATCH_H
#define JOBRUN_CHECKPOINT_WATCH_H

#include <stdint.h>

#include "core/checkpoint/checkpoint_scan.h"

enum checkpoint_state {
	CHECKPOINT_NEW, /* it may still be written to */
	CHECKPOINT_WHOLE,
	CHECKPOINT_KEPT,   /* complete, and copied to the store */
	CHECKPOINT_BROKEN, /* cut off; another change makes it new */
};

/* A checkpoint as last seen. */
struct checkpoint_known {
	/* The owner of the watch fills in step, epoch, metric and attempt when
	 * it is told; strings that it puts there must outlive the watch. */
	struct checkpoint what;
	const char *signature;
	enum checkpoint_state state;
	bool is_told; /* checkpoint_watch_next() has returned it */

	/* For the watch's own use. */
	struct arena *mem;
	/* monotonic: its last change, or when it was closed */
	int64_t quiet_from_ms;
	int64_t closed_ms; /* monotonic: when the watch saw it closed */
	/* closed since its last change, as far as is known */
	bool is_closed;
	bool is_passed; /* closed, and then one of a later step was begun */
	bool is_open;   /* was open for writing at the last look */
	bool is_partial;
	bool is_there;
	bool is_folder;
	enum checkpoint_word word;
	int64_t first_ms;       /* of its oldest file or folder */
	const char *stray_link; /* a link that leads out of it, or NULL */
};

struct checkpoint_watch;
struct error;

/*
 * Makes the directory if it is missing.  `is_resumed`: the trainer already
 * runs, and another process has watched it until now; otherwise checkpoints
 * found there and not known to be complete count as cut off.
 */
struct checkpoint_watch *checkpoint_watch_open(const char *path,
					       int64_t quiet_ms,
					       bool is_resumed,
					       struct error *err);
void checkpoint_watch_close(struct checkpoint_watch *watch);

/* A descriptor, readable when a look is worthwhile; borrowed.  A look may
 * replace it.  -1: none is available, so look from time to time. */
int checkpoint_watch_fd(const struct checkpoint_watch *watch);
/* The current directory; borrowed until the next look. */
int checkpoint_watch_folder(const struct checkpoint_watch *watch);

/* Looks for changes.  `next_ms`: the time from now until a checkpoint may
 * become complete by being left alone; -1: none will. */
int checkpoint_watch_look(struct checkpoint_watch *watch, int64_t *next_ms,
			  struct error *err);

/* Tells the watch that the trainer ended at that monotonic time; `well`: what
 * it wrote is as intended.  Looks, too. */
int checkpoint_watch_end(struct checkpoint_watch *watch, int64_t ended_ms,
			 bool well, struct error *err);

/* The next checkpoint that has become complete, is not newer than that and was
 * not returned yet; or NULL. */
struct checkpoint_known *checkpoint_watch_next(struct checkpoint_watch *watch,
					       int64_t before_ms);

/* All checkpoints in the directory. */
struct checkpoint_known **checkpoint_watch_all(struct checkpoint_watch *watch,
					       size_t *count);

/* Lists the checkpoints that a watch found complete and that have not changed
 * since.  Changes nothing; the list lives in `mem`. */
int checkpoint_watch_recorded(const char *path, struct arena *mem,
			      struct checkpoint **out, size_t *count,
			      struct error *err);

/* Whether the checkpoint is unchanged; for the process that copies it. */
bool checkpoint_watch_is_same(struct checkpoint_watch *watch,
			      const struct checkpoint_known *known);

/* Saves the watch's findings; a look does so itself when a checkpoint is
 * complete. */
int checkpoint_watch_save(struct checkpoint_watch *watch, struct error *err);

#endif
