/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams for several consumers at once, through named fifos in a folder: that
 * of the first is FOLDER/0.  A consumer gets its stream when it opens its fifo,
 * once; none waits for another.
 *
 * A reader of a fifo sees an end, and never why.  A stream that breaks
 * therefore ends within an object, or, between two, in half a member of a tar
 * file with the reason as its contents: neither passes for an archive.  Before
 * the reader sees the end, there is FOLDER/0.done, or FOLDER/0.failed with the
 * reason in it.  A reader that finds neither was left by a process that was
 * killed.
 */
#ifndef JOBRUN_STREAM_FIFOS_H
#define JOBRUN_STREAM_FIFOS_H

#include "core/stream/stream.h"

struct stream_fifo {
	stream_next *next; /* what it gets */
	void *arg;

	int end; /* enum stream_end, or -1 with `err` set */
	struct error err;
};

/*
 * `how` is for all of them together.  Returns when all streams have ended, or
 * -1 if none could begin.  Fifos that are there already are taken; another
 * process that writes to the same folder is an error.  All are gone then.
 */
int stream_fifos_run(struct http *http, const struct stream_options *how,
		     const char *folder, struct stream_fifo *fifos,
		     size_t count, struct error *err);

#endif
