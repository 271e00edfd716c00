/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `jobrun launch` does besides finding out where it is: it sets up the
 * environment and the folder of a program, and becomes that program, or its
 * parent.
 */
#ifndef JOBRUN_LAUNCH_H
#define JOBRUN_LAUNCH_H

#include "core/spec/saver_config.h"

struct environment;
struct pairs;
struct strings;
struct topology;

/*
 * Makes the environment: the named contracts of the task at `self`, or if none
 * is named all that suit it; and the variables of `inherited`, which win, as we
 * must not change what the platform or the user has set.
 */
int launch_environment(const struct topology *all, size_t self,
		       const struct strings *names, char *const *inherited,
		       struct environment *out, struct error *err);

/*
 * Unpacks archives below `folder`, or if that is NULL below a new folder in
 * TMPDIR: `source` (or NULL) as source/, the packages as packages/0 and so on,
 * which are added to PYTHONPATH.  `directory` becomes the program's working
 * directory: new, or NULL without a source.
 */
int launch_unpack(const char *source, const struct strings *packages,
		  const char *folder, struct environment *env, char **directory,
		  struct error *err);

/* This machine's name; with `qualified` the fully qualified one, if its peers
 * know it by that.  Returns new. */
char *launch_host_name(bool qualified);

/* A program that was found and is ready to run. */
struct launch_program {
	const char *path;
	char *const *argv;
	char *const *envp;
	void (*sigpipe)(int); /* its disposition of SIGPIPE */
	/* The program leads a process group that gets all signals: one sent to
	 * our own group is meant for us alone. */
	bool own_group;
	/* Saves its checkpoints, see launch_keep(); NULL: they are not
	 * saved. */
	struct launch_saver *saver;
};

/*
 * Starts saving the program's checkpoints (`fetch_only`: does not), and puts
 * the checkpoint to resume from into its environment.  Blocks while that is
 * fetched.  Borrows `config`, and `patterns`, which find metrics in the
 * program's output if `config` has a place for them.  `run` is the saver's main
 * function, in a process of its own: saver_main().
 */
struct launch_saver *launch_keep(const struct saver_config *config,
				 const struct pairs *patterns,
				 int (*run)(const void *arg), const void *arg,
				 struct environment *env, struct error *err);
void launch_saver_free(struct launch_saver *saver);

/* Replaces this process by the program.  Returns only on failure, -1. */
int launch_exec(const struct launch_program *program, struct error *err);

/*
 * Runs the program as a child that shares this process's terminal, standard
 * descriptors and (except with `own_group`) process group, and acts as an init
 * process: forwards signals, and reaps orphans.  Signals from the terminal
 * reach the child directly and are not sent twice.  `grace_s` after a forwarded
 * SIGTERM, SIGINT or SIGQUIT the child gets SIGKILL; 0: never.  When the child
 * has ended, the processes that it left behind are killed, and then its last
 * checkpoint is saved: after a request to end, for `grace_s` at most, and only
 * until the next request.
 *
 * `status` is the child's status from waitpid().
 */
int launch_supervise(const struct launch_program *program, long grace_s,
		     int *status, struct error *err);

/* Ends this process like one with this status: by the same signal, if it was
 * one.  As process 1, which no signal ends, returns 128 plus the signal.  For a
 * status that is an exit, returns that. */
int launch_end_alike(int status);

#endif
