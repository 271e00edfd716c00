/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the system's ssh client: the user's own configuration, agent, keys and
 * jump hosts apply.  We decide only that it never asks, that it notices a dead
 * peer, and which host keys a job has learned.
 */
#ifndef JOBRUN_SSH_H
#define JOBRUN_SSH_H

#include <stdbool.h>

#include "core/base/buf.h"
#include "core/base/error.h"

/* [USER@]HOST[:PORT] taken apart; [HOST]:PORT for an IPv6 address. */
struct ssh_target {
	char *name;        /* as it was given; owns all three */
	char *host;        /* the host alone, without brackets */
	char *destination; /* [USER@]HOST */
	long port;         /* 0: ssh's configuration says */
};

int ssh_target_parse(const char *text, struct ssh_target *out,
		     struct error *err);
void ssh_target_done(struct ssh_target *target);

/*
 * A configuration for ssh: the user's own and the system's, and behind them,
 * where they leave it open, that keys of unknown hosts are accepted once and
 * kept in the file `known_hosts`, and that a changed key is refused.
 * JOBRUN_SSH_CONFIG stands for the user's own file.  `proxy` is the command
 * that connects, with %h and %p for host and port, or NULL: ssh does.
 */
void ssh_config_put(const char *known_hosts, const char *proxy,
		    struct buf *out);
int ssh_config_write(const char *path, const char *known_hosts,
		     const char *proxy, struct error *err);

/* The argument vector to run `command`, by the login shell there.  Returns
 * new, with everything in it borrowed or its own: free it alone. */
struct ssh_command {
	char *argv[32];
	char port[16];
};
struct ssh_command *ssh_command_new(const struct ssh_target *target,
				    const char *config, const char *command);

enum ssh_trouble {
	SSH_REFUSED,     /* by its configuration, keys or passwords */
	SSH_OTHER_KEY,   /* not the one that is known */
	SSH_UNKNOWN,     /* it does not say, or in other words */
	SSH_UNREACHABLE, /* not there, or not now */
	SSH_BUSY,        /* too many at once: try again in a moment */
};

/* The prefix of the last words of our own proxy command. */
#define SSH_PROXY_MARK "jobrun: error: "
/* Then: it was refused for want of a right, which trying again does not give. */
#define SSH_PROXY_DENIED "not authorised"

/* Reduces ssh's standard error to one line that names no more than needed;
 * `text` may be empty. */
enum ssh_trouble ssh_explain(const char *text, struct error *err);

#endif
