/* SPDX-License-Identifier: Apache-2.0 */
/* The output of one pod as it comes, on a thread of the HTTP client: whoever
 * takes it never waits for the pod's node. */
#ifndef JOBRUN_POD_STREAM_H
#define JOBRUN_POD_STREAM_H

#include "core/base/buf.h"
#include "providers/kubernetes/objects.h"

struct pod_stream;

/* From `since`, a time in whole seconds, or all if it is "".  With `follow` it
 * goes on until the pod has ended.  NULL: it can't be asked for now. */
struct pod_stream *pod_stream_open(const struct kube_at *at, const char *pod,
				   const char *since, bool follow);
/* Adds what has come to `out`.  Returns whether that was the last of it. */
bool pod_stream_take(struct pod_stream *stream, struct buf *out);
/* Ends it.  The status of an answer that was read whole, else 0. */
long pod_stream_end(struct pod_stream *stream);

#endif
