/* SPDX-License-Identifier: Apache-2.0 */
/* Plans in files: 'plan --out FILE' writes one, 'apply FILE' reads it. */
#ifndef JOBRUN_SAVED_PLAN_H
#define JOBRUN_SAVED_PLAN_H

#include "cmd/jobrun/ui/load.h"
#include "cmd/jobrun/ui/session.h"
#include "core/base/opt.h"
#include "core/plan/plan.h"

/* The inputs of a plan, from the command line: options, followed by the paths,
 * which are borrowed. */
struct inputs {
	struct load_opts load;
	bool rerun;
	bool take_over;
	struct opt_list targets;
	bool prune;
	const char *applyset; /* or NULL */
	const char *prices;   /* a file, or NULL; not stored in saved plans */
	char **paths;
	size_t count;
};

/* The rows of the inputs, for `more` of a command; those of `load` are
 * load_rows. */
extern const struct opt input_rows[];

/* The plan's options, which use `names`, room for OPT_LIST_MAX. */
struct plan_options inputs_options(const struct inputs *inputs,
				   const char **names);

/* Refuses to overwrite anything but a saved plan, and to save inputs that can't
 * be read again. */
int saved_check_out(const char *out, const struct inputs *inputs,
		    struct error *err);
int saved_write(const char *out, const struct plan *plan,
		const struct inputs *inputs, struct error *err);

struct saved {
	const char *file;     /* borrowed */
	json_t *plan;         /* NULL: there is none */
	struct inputs inputs; /* from the file; refers to `plan` */
};

/*
 * Checks whether one of the paths is a saved plan; then replaces `inputs`,
 * which must have no other settings, by those of the plan.
 */
int saved_open(struct saved *saved, struct inputs *inputs, struct error *err);
void saved_done(struct saved *saved);

/*
 * Returns 0 if the session's plan, just made from the saved plan's inputs,
 * equals the saved one, or the rest of it; else reports the differences and
 * returns the exit status.  Later actions count for the saved plan.  Without a
 * saved plan: 0.
 */
int saved_check(const struct app *app, const struct saved *saved,
		struct session *session);

/* The exit status for a failure to read or plan the inputs: those of a saved
 * plan could once be planned, so it is stale. */
int saved_fail(const struct app *app, const struct saved *saved, int status);

#endif
