/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cluster, as its commands and its shared directory: called on this machine,
 * or on a login host by ssh, over one connection that all calls share.  Both
 * ways the same is called: Slurm's commands, and short scripts of sh for
 * files, with everything that varies as an argument.  Commands start in the
 * home directory, which relative paths are from.
 */
#ifndef JOBRUN_CLUSTER_H
#define JOBRUN_CLUSTER_H

#include <stdbool.h>

#include "core/process/subprocess.h"

struct cluster;

/* `place` is "[HOST]:DIRECTORY", as slurm_place() gives it; NULL: the usual
 * directory here.  The file `known_hosts` is where the keys of login hosts are
 * learned.  Calls nothing yet. */
struct cluster *cluster_open(const char *place, const char *known_hosts,
			     struct error *err);
void cluster_close(struct cluster *cluster); /* NULL does nothing */

const char *cluster_place(const struct cluster *cluster); /* borrowed */
/* The user's folder: the directory, or his in it if that is absolute.  At a
 * login host it is a name that calls of the cluster take for it. */
const char *cluster_folder(const struct cluster *cluster);
bool cluster_is_remote(const struct cluster *cluster);
/* Whether the last call did not reach its login host, or lost it. */
bool cluster_is_away(const struct cluster *cluster);
/* Here, of a cluster that is not remote: the path as this process sees it;
 * returns new. */
char *cluster_path(const struct cluster *cluster, const char *path);

/* The input of a call, and the limit of its answer. */
struct cluster_input {
	const void *data;
	size_t len;
	int fd; /* of a file to be read instead; 0: none */
};

/*
 * Runs a command (`argv` up to NULL).  -1 with ERROR_UNREACHABLE if the login
 * host is not to be had, or as command_run(); how the command itself ended is
 * in the answer.
 */
int cluster_call(struct cluster *cluster, const char *const *argv,
		 const struct cluster_input *input,
		 struct command_answer *answer, struct error *err);

/*
 * A script of sh with up to CLUSTER_ARGS arguments, $1 and so on, up to NULL.
 * -1 too if it ends with anything but 0, with its last words; `what` says what
 * could not be done ("cannot read the runs").
 */
#define CLUSTER_ARGS 6
int cluster_sh(struct cluster *cluster, const char *what, const char *script,
	       const char *const *args, const struct cluster_input *input,
	       struct command_answer *answer, struct error *err);

/* One of Slurm's commands, called with the variables of the user.  -1 too if
 * it fails: ERROR_UNREACHABLE if the controller does not answer. */
int cluster_slurm(struct cluster *cluster, const char *const *argv,
		  struct command_answer *answer, struct error *err);
/* Explains the command's message; for calls of other forms. */
int cluster_slurm_failed(const char *command,
			 const struct command_answer *answer,
			 struct error *err);

#endif
