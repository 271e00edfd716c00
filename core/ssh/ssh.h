/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the system's ssh client: the user's own configuration, agent, keys and
 * jump hosts apply.  We only make it never ask, notice a dead peer, and keep
 * the host keys that a job has learned.
 */
#ifndef JOBRUN_SSH_H
#define JOBRUN_SSH_H

#include <stdbool.h>

#include "core/base/buf.h"
#include "core/base/error.h"

/* [USER@]HOST[:PORT] split up; [HOST]:PORT for an IPv6 address. */
struct ssh_target {
	char *name;        /* as given; owns all three strings */
	char *host;        /* the host alone, without brackets */
	char *destination; /* [USER@]HOST */
	long port;         /* 0: from ssh's configuration */
};

int ssh_target_parse(const char *text, struct ssh_target *out,
		     struct error *err);
void ssh_target_done(struct ssh_target *target);

/*
 * Makes a configuration for ssh: the user's own and the system's, followed by
 * defaults: keys of unknown hosts are accepted once and stored in the file
 * `known_hosts`, and a changed key is refused.  JOBRUN_SSH_CONFIG replaces the
 * user's own file.  `proxy` is the command that connects, with %h and %p for
 * host and port, or NULL: ssh does.
 */
void ssh_config_put(const char *known_hosts, const char *proxy,
		    struct buf *out);
int ssh_config_write(const char *path, const char *known_hosts,
		     const char *proxy, struct error *err);

/* The argument vector to run `command` in the login shell of the target.
 * Returns new; free only the struct itself, as it owns or borrows everything in
 * it. */
struct ssh_command {
	char *argv[32];
	char port[16];
};
struct ssh_command *ssh_command_new(const struct ssh_target *target,
				    const char *config, const char *command);

/* Lets the command have a terminal.  `argv` is from ssh_command_new(). */
void ssh_command_with_terminal(char *const *argv);

enum ssh_trouble {
	SSH_REFUSED,     /* its configuration, keys or passwords do */
	SSH_OTHER_KEY,   /* the host key is not the known one */
	SSH_UNKNOWN,     /* ssh gives no reason, or an unknown one */
	SSH_UNREACHABLE, /* not reachable, or not now */
	SSH_BUSY,        /* too many connections at once: retry in a moment */
};

/* The prefix of error messages of our own proxy command. */
#define SSH_PROXY_MARK "jobrun: error: "
/* Follows if access was refused for lack of a permission, so that retrying
 * cannot help. */
#define SSH_PROXY_DENIED "not authorised"

/* Reduces ssh's standard error to one line with the essential part; `text` may
 * be empty. */
enum ssh_trouble ssh_explain(const char *text, struct error *err);

#endif
