/* SPDX-License-Identifier: Apache-2.0 */
/* Streams the output of one pod on a thread of the HTTP client, so that its
 * consumer never waits for the pod's node. */
#ifndef JOBRUN_POD_STREAM_H
#define JOBRUN_POD_STREAM_H

#include "core/base/buf.h"
#include "providers/kubernetes/manifest/objects.h"

struct pod_stream;

/* Starts at `since`, a time in whole seconds, or at the beginning if it is "".
 * With `follow` it goes on until the pod has ended.  Stops reading while
 * `kept_max` bytes or more wait to be taken.  NULL: the output can't be
 * requested now. */
struct pod_stream *pod_stream_open(const struct kube_at *at, const char *pod,
				   const char *since, bool follow,
				   size_t kept_max);
/* Adds new output to `out`.  Returns whether that was the last of it. */
bool pod_stream_take(struct pod_stream *stream, struct buf *out);
/* Ends the stream.  Returns the status if the answer was read to its end, else
 * 0. */
long pod_stream_end(struct pod_stream *stream);

#endif
