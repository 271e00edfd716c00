/* SPDX-License-Identifier: Apache-2.0 */
/* What peers send to a port that is held open, read and thrown away. */
#ifndef JOBRUN_SINK_H
#define JOBRUN_SINK_H

#include "core/base/loop.h"

struct peer_sink;

/* Borrows the listening socket, which it makes nonblocking.  Returns new, or
 * NULL. */
struct peer_sink *sink_new(struct loop *loop, int listener, struct error *err);
/* To be called before the socket is closed.  Accepts NULL. */
void sink_free(struct peer_sink *sink);

#endif
