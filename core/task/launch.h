/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `jobrun launch` does besides finding out where it is: it makes the
 * environment and the folder of a program that is to run here, and becomes
 * that program, or its parent.
 */
#ifndef JOBRUN_LAUNCH_H
#define JOBRUN_LAUNCH_H

#include "core/spec/saver_config.h"

struct environment;
struct pairs;
struct strings;
struct topology;

/*
 * The contracts of the task at `self`, those named, or with none named all
 * that suit it; and everything that is in `inherited`, which wins: what the
 * platform or the user has set is not ours to change.
 */
int launch_environment(const struct topology *all, size_t self,
		       const struct strings *names, char *const *inherited,
		       struct environment *out, struct error *err);

/*
 * Unpacks archives below `folder`, or if that is NULL below a new folder in
 * TMPDIR: `source` (or NULL) as source/, the packages as packages/0 and so on;
 * PYTHONPATH gets the packages.  `directory` is where the program starts:
 * returns new, NULL without a source.
 */
int launch_unpack(const char *source, const struct strings *packages,
		  const char *folder, struct environment *env, char **directory,
		  struct error *err);

/* This machine's name: where its peers know it by a fully qualified one, that.
 * Returns new. */
char *launch_host_name(bool qualified);

/* A program, found and ready to run. */
struct launch_program {
	const char *path;
	char *const *argv;
	char *const *envp;
	void (*sigpipe)(int); /* what SIGPIPE does to it */
	/* It leads a process group, to which all signals go: one sent to our
	 * group is meant for us alone. */
	bool own_group;
	/* Saves its checkpoints, see launch_keep(); NULL: none are saved. */
	struct launch_saver *saver;
};

/*
 * Has the checkpoints of a program kept (`fetch_only`: not that), and puts what
 * it goes on from into its environment.  Blocks as long as that is fetched.
 * Borrows `config`, and `patterns`, by which its metrics are found in what the
 * program writes, if `config` has a place for them.  `run` is what the saver
 * does, in a process of its own: saver_main().
 */
struct launch_saver *launch_keep(const struct saver_config *config,
				 const struct pairs *patterns,
				 int (*run)(const void *arg), const void *arg,
				 struct environment *env, struct error *err);
void launch_saver_free(struct launch_saver *saver);

/* Becomes the program.  Returns -1 only if that failed. */
int launch_exec(const struct launch_program *program, struct error *err);

/*
 * Runs the program as a child that shares this process's terminal, standard
 * descriptors and (but for `own_group`) process group, and does what an init process owes: forwards
 * signals, and reaps whatever is left to it.  What the terminal sends reaches
 * the child by itself and is not sent twice.  `grace_s` after a forwarded
 * SIGTERM, SIGINT or SIGQUIT the child gets SIGKILL; 0: never.  When the child
 * has ended, processes that it left behind are killed, and then its last
 * checkpoint is kept: if an end was asked for, `grace_s` long at most, and no
 * longer than till that is asked once more.
 *
 * `status` is what waitpid() said of the child.
 */
int launch_supervise(const struct launch_program *program, long grace_s,
		     int *status, struct error *err);

/* Ends this process as one ended that had this status: by the same signal, if
 * it was one.  As process 1, which no signal ends, returns 128 plus the
 * signal; so it does of a status that is an exit: that. */
int launch_end_alike(int status);

#endif
