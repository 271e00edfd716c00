/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command in the container of a pod: the API server's `exec` over a
 * WebSocket, with its subprotocols v5.channel.k8s.io and v4.channel.k8s.io
 * (k8s.io/apimachinery, pkg/util/remotecommand/constants.go; KEP 4006).  The
 * first byte of a message is its channel:
 *
 *	0 input	1 output	2 errors	3 how it ended, a Status
 *	4 the size of the terminal: {"Width": 80, "Height": 24}
 *	255 the channel that follows ends; v5 only
 *
 * Servers before 1.30 know v4 alone, in which the input has no end.
 */
#ifndef JOBRUN_POD_EXEC_H
#define JOBRUN_POD_EXEC_H

#include "providers/kubernetes/manifest/objects.h"

struct pod_exec_wish {
	const char *pod;
	char *const *argv;
	bool terminal; /* ours, on both ends */
	/* Descriptors; -1: none.  With a terminal, errors come as output. */
	int in, out, errors;
};

/*
 * Runs it and returns its exit status; 128 + n if signal n ended this end of
 * the connection, or -1.  `*ended`: nothing of it goes on there, as far as the
 * server says.
 */
int pod_exec(const struct kube_at *at, const struct pod_exec_wish *wish,
	     bool *ended, struct error *err);

#endif
