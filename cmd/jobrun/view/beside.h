/* SPDX-License-Identifier: Apache-2.0 */
/* How commands get beside a task of a running job, and connections to a port
 * of its machine. */
#ifndef JOBRUN_BESIDE_H
#define JOBRUN_BESIDE_H

#include "cmd/jobrun/ui/app.h"
#include "core/base/opt.h"
#include "core/provider/provider.h"

/* Which task; its rows are for a struct beside_opts. */
struct beside_opts {
	const char *task; /* NULL: the master */
	long index;
	long trial;   /* 0: none, or any */
	bool outside; /* of the task's container; not an option */
	long port;    /* 0: a command; not an option */
};

extern const struct opt beside_rows[];

/* Finds out how `argv`, NULL for a port, runs beside the task; opens nothing
 * that outlives the call.  Strings live in `mem`. */
int beside_find(struct app *app, const char *job_id,
		const struct beside_opts *opts, char *const *argv,
		struct arena *mem, struct enter_way *out, struct error *err);

/* Goes that way, in this process; returns only on failure, -1. */
int beside_enter(const struct enter_way *way, char *const *argv,
		 struct error *err);

/* Replaces this process by a program that is searched in PATH; returns only on
 * failure, -1. */
int beside_become(char *const *argv, struct error *err);

#endif
