/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a stream goes.  The end of each object is held back until it is known
 * to be right; see stream.h.  Where tar files are joined, the zeroes that end
 * one are counted, and written only when no other has followed.
 */
#ifndef JOBRUN_STREAM_OUTPUT_H
#define JOBRUN_STREAM_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/stream/stream.h"
#include "core/stream/stream_tar.h"

struct stream_output {
	int fd;
	bool is_pipe;
	bool joins;       /* tar files become one, as long as all are some */
	size_t tars;      /* that were joined */
	uint64_t pending; /* zeroes at their end, for if no other follows */
	uint64_t size;    /* of the object under way */
	uint64_t at;      /* how much of it was added */
	char held[2 * STREAM_HELD_BYTES];
	size_t held_len;
	struct stream_tar tar;
};

/* Makes a pipe as large as it may be. */
void stream_output_init(struct stream_output *out, int fd);

/* All of these return an enum stream_end or -1. */

/* With a size of UINT64_MAX: it is not known. */
void stream_output_begin(struct stream_output *out, uint64_t size);
int stream_output_add(struct stream_output *out, const char *data, size_t len,
		      struct error *err);
/* From a file to a pipe, without a copy: as many as could be, added to `*len`;
 * none if that is not possible here, or if only the end is left. */
int stream_output_splice(struct stream_output *out, int from, uint64_t *len,
			 struct error *err);
/* The object is whole and right: writes what is held back. */
int stream_output_end(struct stream_output *out, struct error *err);
/* After the last object: writes the end of the archive, if tar files were
 * joined. */
int stream_output_finish(struct stream_output *out, struct error *err);

/* Between objects: writes other bytes at once. */
int stream_output_write(struct stream_output *out, const char *data, size_t len,
			struct error *err);

/* The stream ends here, because of `why`: see stream_options.marks_failure. */
void stream_output_fail(struct stream_output *out, const struct error *why);

/* The reader has gone, as far as can be seen without writing. */
bool stream_output_is_gone(const struct stream_output *out);

#endif
