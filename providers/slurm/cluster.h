/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Access to a cluster through its commands and its shared directory: on this
 * machine, or on a login host by ssh, over one connection shared by all calls.
 * Both use the same calls: Slurm's commands, and short scripts of sh for files,
 * with all variable parts as arguments.  Commands start in the home directory,
 * the base of relative paths.
 */
#ifndef JOBRUN_CLUSTER_H
#define JOBRUN_CLUSTER_H

#include <stdbool.h>

#include "core/base/alloc.h"
#include "core/process/subprocess.h"

struct cluster;

/* `place` is "[HOST]:DIRECTORY", from slurm_place(); NULL: the default
 * directory here.  The file `known_hosts` stores the keys of login hosts.
 * Calls nothing yet. */
struct cluster *cluster_open(const char *place, const char *known_hosts,
			     struct error *err);
void cluster_close(struct cluster *cluster); /* accepts NULL */

const char *cluster_place(const struct cluster *cluster); /* borrowed */
/* The user's folder: the directory, or if that is absolute the user's folder in
 * it.  For a login host it is a name that the cluster's calls replace. */
const char *cluster_folder(const struct cluster *cluster);
/* The folder there of a run of `job_id`; `name` is the run's own.  In `mem`. */
const char *cluster_run_folder(const struct cluster *cluster,
			       const char *job_id, const char *name,
			       struct arena *mem);
bool cluster_is_remote(const struct cluster *cluster);
/* Whether the last call did not reach its login host, or lost it. */
bool cluster_is_away(const struct cluster *cluster);
/* For a cluster on this machine: the path as this process sees it; returns
 * new. */
char *cluster_path(const struct cluster *cluster, const char *path);

/* The input of a call, and the limit of its answer. */
struct cluster_input {
	const void *data;
	size_t len;
	int fd; /* a file to read instead; 0: none */
};

/*
 * Runs a command (`argv` is NULL-terminated).  Returns -1 with
 * ERROR_UNREACHABLE if the login host is not available, or as command_run();
 * the answer says how the command itself ended.
 */
int cluster_call(struct cluster *cluster, const char *const *argv,
		 const struct cluster_input *input,
		 struct command_answer *answer, struct error *err);

/*
 * Runs a script of sh with a NULL-terminated list of up to CLUSTER_ARGS
 * arguments, $1 and so on.  Also returns -1 if it exits with anything but 0,
 * with its last words; `what` says what could not be done ("cannot read the
 * runs").
 */
#define CLUSTER_ARGS 6
int cluster_sh(struct cluster *cluster, const char *what, const char *script,
	       const char *const *args, const struct cluster_input *input,
	       struct command_answer *answer, struct error *err);

/*
 * The words of the program that a process becomes to run `argv` there (one in
 * `mem`, NULL-terminated) with its own input, output and, if it has one,
 * `terminal`.  ssh's configuration, where one is needed, becomes a file in
 * `folder`, and the connection is one of its own.
 */
int cluster_words(const struct cluster *cluster, const char *const *argv,
		  bool terminal, const char *folder, struct arena *mem,
		  char *const **out, struct error *err);

/* Runs one of Slurm's commands with the user's variables.  Also returns -1 if
 * it fails: ERROR_UNREACHABLE if the controller does not answer. */
int cluster_slurm(struct cluster *cluster, const char *const *argv,
		  struct command_answer *answer, struct error *err);
/* Cancels a job, waiting or running; with all its elements, if it is an array. */
int cluster_cancel(struct cluster *cluster, const char *id, struct error *err);
/* Explains the message of a failed command; for other ways of calling. */
int cluster_slurm_failed(const char *command,
			 const struct command_answer *answer,
			 struct error *err);

#endif
