/* SPDX-License-Identifier: Apache-2.0 */
/* A connection to a port of a task's machine.  Every runtime of
 * core/container/container.h leaves the network of the machine to the
 * container, so that this is the task's network, too. */
#ifndef JOBRUN_PORT_H
#define JOBRUN_PORT_H

#include "core/base/error.h"

#define PORT_MAX 65535

/*
 * Connects to the port (1 to PORT_MAX) on 127.0.0.1, or else ::1, and passes bytes
 * between that and our input and output, which it makes non-blocking, until
 * the other side has closed the connection or nobody reads our output.  -1:
 * ERROR_FAILED, nothing listens there.
 */
int port_relay(long port, struct error *err);

#endif
