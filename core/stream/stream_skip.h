/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leaves out the first samples of a tar file as its bytes pass, for a reader
 * that has had them: members of the same key in a row are one sample (see
 * core/data/sample_key.h).  Everything before the first member of the next
 * sample is left out, except the headers that extend that member's own.
 */
#ifndef JOBRUN_STREAM_SKIP_H
#define JOBRUN_STREAM_SKIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/error.h"

struct stream_skip;

struct stream_skip *stream_skip_new(uint64_t samples);
void stream_skip_free(struct stream_skip *skip); /* accepts NULL */

/*
 * Takes the next bytes of the file; sets `*used` to how many.  Returns 1 when
 * the rest is to be passed on, after what stream_skip_head() gives; 0 to be
 * called with more; -1 if this is not a tar file with more samples.
 */
int stream_skip_add(struct stream_skip *skip, const char *data, size_t len,
		    size_t *used, struct error *err);
/* The headers to pass on before the rest; borrowed. */
const struct buf *stream_skip_head(const struct stream_skip *skip);
/* How many bytes are left out. */
uint64_t stream_skip_left_out(const struct stream_skip *skip);

#endif
