/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One ssh process, one channel, and the agent at its other end, which is
 * installed if it is missing.  After that, frames go both ways (protocol.h).
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

/* Called from the loop.  After `closed` nothing follows.  The connection may be
 * freed from within any of these. */
struct connection_hooks {
	/* The agent waits for HELLO. */
	void (*ready)(void *arg);
	void (*frame)(void *arg, const struct frame *frame);
	/* Reads the rest of a long OUTPUT whose beginning was in `frame`: it is
	 * in the pipe `fd`, or will be.  Takes at most output->len bytes and
	 * returns as read() does. */
	ssize_t (*rest)(void *arg, const struct frame_output *output, int fd);
	/* Everything queued has been written. */
	void (*drained)(void *arg);
	/* The connection has failed or ended. */
	void (*closed)(void *arg, enum ssh_trouble trouble,
		       const struct error *why);
};

struct connection_deps {
	struct loop *loop;
	struct reaper *reaper; /* run it at SIGCHLD */
	const char *config;    /* for ssh: see ssh_config_write() */
	/* for the agent and its files; NULL: its default */
	const char *directory;
	int pipe_size;   /* size of ssh's pipes; 0: the default */
	size_t *running; /* the number of ssh processes; counted here */
};

/* Borrows everything except the hooks' argument, which the hooks own.  NULL if
 * ssh does not start. */
struct connection *connection_new(const struct connection_deps *deps,
				  const struct ssh_target *target,
				  const struct connection_hooks *hooks,
				  void *arg, struct error *err);
/* Ends ssh at once, if it still runs.  Accepts NULL. */
void connection_free(struct connection *connection);

/* Queues a copy.  Nothing is sent before `ready`. */
void connection_send(struct connection *connection, const struct wire_out *out);
/* Sends queued data outside the loop, for last messages: false if some could
 * not be sent. */
bool connection_flush(struct connection *connection, int limit_ms);
/* Waits, outside the loop, until the agent has closed its end; what it sends
 * until then is dropped.  False if it has not. */
bool connection_await_end(struct connection *connection, int limit_ms);
size_t connection_queued(const struct connection *connection);

#endif
