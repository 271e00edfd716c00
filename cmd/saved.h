/* SPDX-License-Identifier: Apache-2.0 */
/* Plans in files: 'plan --out FILE' writes one, 'apply FILE' reads it. */
#ifndef JOBRUN_CMD_SAVED_H
#define JOBRUN_CMD_SAVED_H

#include "cmd/load.h"
#include "core/plan/plan.h"

/* What a plan is made from, as the command line says it. */
struct inputs {
	struct load_opts *load;
	bool rerun;
	bool prune;
	const char *applyset; /* or NULL */
	char **paths;
	size_t count;
};

/* Refuses to write over anything but a saved plan, and to save what can't be
 * read again. */
int saved_check_out(const char *out, const struct inputs *inputs,
		    struct error *err);
int saved_write(const char *out, const struct plan *plan,
		const struct inputs *inputs, struct error *err);

struct saved {
	const char *file; /* borrowed */
	json_t *plan;     /* NULL: there is none */
	struct load_opts load;
	struct inputs inputs; /* from the file; refers to this struct */
};

/*
 * Looks whether one of the paths is a saved plan; then `inputs`, which must
 * say nothing else, are replaced by those of the plan.
 */
int saved_open(struct saved *saved, struct inputs *inputs, struct error *err);
void saved_done(struct saved *saved);

/* 0 if `plan`, just made from the plan's inputs, is what was saved; else says
 * what differs and returns the exit status.  Without a saved plan: 0. */
int saved_check(const struct app *app, const struct saved *saved,
		const struct plan *plan);

/* The exit status of a failure to read or plan the inputs: those of a saved
 * plan could once be planned, so it is stale. */
int saved_fail(const struct app *app, const struct saved *saved, int status);

#endif
