/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fake provider's world: a folder with one JSON file for each thing and
 * run, the log of all calls, and a lock.  Every change is one rename, and is
 * made and logged under the lock, by any thread or process.
 *
 *	thing.NAME.json, run.NAME.json
 *	calls.log	"JOBID CALL KIND NAME RESULT", a line for each call
 *	requests.log	{"job", "kind", "name", "request"}, a line for each
 *			request that changed something
 *	failAt		made by hand: as in a job file, a line each; for calls
 *			about jobs that no longer have a file
 */
#ifndef JOBRUN_WORLD_H
#define JOBRUN_WORLD_H

#include <jansson.h>

#include "core/base/error.h"
#include "providers/fake/trouble.h"

struct world;

/* Makes the folder if it is missing, and takes the lock. */
struct world *world_enter(const char *folder, struct error *err);
void world_leave(struct world *world);

/* Returns new; NULL without an error if the file is missing. */
int world_get(struct world *world, const char *kind, const char *name,
	      json_t **out, struct error *err);
int world_put(struct world *world, const char *kind, const char *name,
	      const json_t *value, struct error *err);
int world_remove(struct world *world, const char *kind, const char *name,
		 struct error *err);

/* Calls `each` for everything of that kind, in no particular order; stops at a
 * failure. */
int world_each(struct world *world, const char *kind,
	       int (*each)(void *arg, const char *name, const json_t *value,
			   struct error *err),
	       void *arg, struct error *err);

/* The contents of failAt; "" if there is none.  Returns new. */
char *world_fail_at(struct world *world, struct error *err);

/* Writes a line to the log. */
int world_log(struct world *world, const char *job, enum fake_call call,
	      const char *kind, const char *name, const char *result,
	      struct error *err);
int world_log_request(struct world *world, const json_t *line,
		      struct error *err);
/* Counts the calls in the log, plus one more of that kind. */
int world_tally(struct world *world, const char *job, enum fake_call call,
		const char *name, struct trouble_tally *out, struct error *err);

#endif
