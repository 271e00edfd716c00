/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One ssh process, one channel, and the agent at its other end: brought there
 * if it is not there yet.  After that, frames go both ways (protocol.h).
 */
#ifndef JOBRUN_CONNECTION_H
#define JOBRUN_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "core/base/loop.h"
#include "core/ssh/protocol.h"
#include "core/ssh/ssh.h"
#include "core/process/reaper.h"

struct connection;

/* From the loop.  After `closed` nothing follows, and the connection may be
 * freed from within; so it may from within the others. */
struct connection_hooks {
	/* The agent waits for HELLO. */
	void (*ready)(void *arg);
	void (*frame)(void *arg, const struct frame *frame);
	/* Reads the rest of a long OUTPUT, whose beginning `frame` got: it is
	 * in the pipe `fd`, or will be.  Takes at most output->len bytes and
	 * returns as read() does. */
	ssize_t (*rest)(void *arg, const struct frame_output *output, int fd);
	/* All that was sent is on its way. */
	void (*drained)(void *arg);
	/* The connection failed, or has ended. */
	void (*closed)(void *arg, enum ssh_trouble trouble,
		       const struct error *why);
};

struct connection_deps {
	struct loop *loop;
	struct reaper *reaper; /* run it at SIGCHLD */
	const char *config;    /* of ssh: see ssh_config_write() */
	const char *directory; /* for the agent and its files; NULL: its own */
	int pipe_size;         /* bytes in ssh's pipes; 0: the default */
	size_t *running; /* how many ssh processes there are; counted here */
};

/* Borrows all but the hooks' argument, which is theirs.  NULL if ssh does not
 * start. */
struct connection *connection_new(const struct connection_deps *deps,
				  const struct ssh_target *target,
				  const struct connection_hooks *hooks,
				  void *arg, struct error *err);
/* Ends ssh at once, if it has not ended.  NULL does nothing. */
void connection_free(struct connection *connection);

/* Copies.  Nothing is sent before `ready`. */
void connection_send(struct connection *connection, const struct wire_out *out);
/* Outside of the loop, for last words: false if they did not get out. */
bool connection_flush(struct connection *connection, int limit_ms);
size_t connection_queued(const struct connection *connection);

#endif
