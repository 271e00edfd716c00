/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output of a stream.  The end of each object is held back until the object
 * is known to be correct; see stream.h.  When tar files are joined, the zeroes
 * at the end of each are counted, and written only if no other follows.
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
	/* join tar files, as long as all objects are tar files */
	bool joins;
	size_t tars; /* the number of joined ones */
	/* zeroes at their end, to be written if no other follows */
	uint64_t pending;
	uint64_t size; /* of the current object */
	uint64_t at;   /* how many of its bytes were added */
	char held[2 * STREAM_HELD_BYTES];
	size_t held_len;
	struct stream_tar tar;
};

/* Enlarges a pipe as far as allowed. */
void stream_output_init(struct stream_output *out, int fd);

/* All of these return an enum stream_end or -1. */

/* `size` UINT64_MAX: unknown. */
void stream_output_begin(struct stream_output *out, uint64_t size);
int stream_output_add(struct stream_output *out, const char *data, size_t len,
		      struct error *err);
/* Moves bytes from a file to a pipe without a copy: as many as possible, added
 * to `*len`; none if splicing is impossible here, or only the held-back end is
 * left. */
int stream_output_splice(struct stream_output *out, int from, uint64_t *len,
			 struct error *err);
/* To be called when the object is complete and correct: writes what is held
 * back. */
int stream_output_end(struct stream_output *out, struct error *err);
/* To be called after the last object: writes the end of the archive if tar
 * files were joined. */
int stream_output_finish(struct stream_output *out, struct error *err);

/* Writes other bytes between objects, at once. */
int stream_output_write(struct stream_output *out, const char *data, size_t len,
			struct error *err);

/* Ends the stream because of `why`: see stream_options.marks_failure. */
void stream_output_fail(struct stream_output *out, const struct error *why);

/* Whether the reader has gone, as far as visible without writing. */
bool stream_output_is_gone(const struct stream_output *out);

#endif
