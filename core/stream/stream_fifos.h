/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams for several consumers at once, through named fifos in a folder: the
 * first one's is FOLDER/0.  A consumer gets its stream when it opens its fifo,
 * once; none waits for another.
 *
 * A reader of a fifo sees an end, but never why.  A stream that breaks
 * therefore ends within an object, or, between two, in half a tar member with
 * the reason as its contents: neither passes for an archive.  Before the reader
 * sees the end, FOLDER/0.done appears, or FOLDER/0.failed with the reason in
 * it.  A reader that finds neither knows that the process was killed.
 */
#ifndef JOBRUN_STREAM_FIFOS_H
#define JOBRUN_STREAM_FIFOS_H

#include "core/stream/stream.h"

struct stream_fifo {
	stream_next *next; /* its objects */
	void *arg;

	int end; /* enum stream_end, or -1 with `err` set */
	struct error err;
};

/*
 * `how` applies to all of them together.  Returns when all streams have ended,
 * or -1 if none could begin.  Reuses existing fifos; another process that
 * writes to the same folder is an error.  Removes all fifos at the end.
 */
int stream_fifos_run(struct http *http, const struct stream_options *how,
		     const char *folder, struct stream_fifo *fifos,
		     size_t count, struct error *err);

#endif
