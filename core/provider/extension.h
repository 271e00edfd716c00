/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a provider adds to jobrun's commands besides its kinds; struct provider
 * points to it.  Nothing here prints or exits: the caller prints the result,
 * and an error decides the exit status.
 */
#ifndef JOBRUN_EXTENSION_H
#define JOBRUN_EXTENSION_H

#include <jansson.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/opt.h"
#include "core/job/catalogue.h"
#include "core/job/job.h"

struct provider_env;

/* ---- jobrun render --to PROVIDER --------------------------------------- */

struct render_env {
	const struct catalogue *catalogue;
	/* Adds a document without a header. */
	int (*write_yaml)(const json_t *value, struct buf *out,
			  struct error *err);
	/* Reports that the field at `path` (NULL: none) has no place in the
	 * format, or is `needed` and missing. */
	void (*tell)(void *arg, bool needed, const char *path, const char *why);
	void *arg; /* of `tell` */
};

struct provider_render {
	bool many;   /* several jobs make one document */
	bool digest; /* the job must have been digested, which reads files */
	/* Adds the job in the format of the provider's own tools. */
	int (*render)(const struct job *job, const struct render_env *env,
		      struct buf *out, struct error *err);
};

/* ---- hidden commands ---------------------------------------------------- */

/* A command for other programs, not for users: a batch script, ssh. */
struct provider_command {
	const char *name;
	const char *args;          /* "HOST PORT" */
	const char *summary;       /* one line, no full stop */
	const struct opt *options; /* up to a row with no name; or NULL */
	size_t opts_size;          /* of the struct that the options fill */
	int arg_count;             /* exactly this number of arguments, */
	bool has_more;             /* or more */
	bool remote;               /* makes requests, so it has --trace-http */
	/* `opts` is the struct, zero except for given options; `env` has no
	 * store and no catalogue.  On success
	 * `out` goes to standard output.  A number above 0 is the exit status,
	 * of a command that has run another program. */
	int (*run)(const void *opts, char *const *args,
		   const struct provider_env *env, struct buf *out,
		   struct error *err);
};

/* ---- jobrun launch --trials --------------------------------------------- */

/* This process as one of the trials of a run. */
struct launch_trial {
	const char *number;      /* counted from 1: CLOUD_ML_TRIAL_ID */
	const char *metric_file; /* CLOUD_ML_HP_METRIC_FILE */
	const char *metric;
	/* The command with its hyperparameters, with --job-dir last. */
	char **argv;
};

struct provider_trials {
	/*
	 * Makes this process the trial that its position selects from those
	 * that `trials` describes; allocates in `mem`.  Makes a folder for it
	 * below JOBRUN_RUN_DIR, and sets that variable, CLOUD_ML_TRIAL_ID and
	 * CLOUD_ML_HP_METRIC_FILE in this process.
	 */
	int (*enter)(const char *trials, char *const *argv, struct arena *mem,
		     struct launch_trial *out, struct error *err);
	/* The contents of its metric file as a line for its log, in `mem`;
	 * NULL: none. */
	const char *(*result)(const struct launch_trial *trial,
			      struct arena *mem);
};

#endif
