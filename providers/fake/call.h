/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by all calls of the fake provider: they take some time, act on the
 * world under its lock, are logged, and fail as instructed.
 */
#ifndef JOBRUN_CALL_H
#define JOBRUN_CALL_H

#include "core/provider/listing.h"
#include "providers/fake/fake.h"
#include "providers/fake/trouble.h"
#include "providers/fake/world.h"

#define FAKE_POLL_MS 20

/* The context from open(). */
struct fake {
	char *world; /* for jobs that name none, or NULL */
};

/* A call in progress and its results. */
struct fake_task {
	const struct fake_block *block;
	struct world *world;
	struct resource *found; /* for a read */
	enum wait_state *state; /* for a wait */
	bool now;               /* for a cancel */
	const char *result;     /* for the log: "made", "adopted" ... */
};

typedef int world_effect(struct fake_task *task, const struct resource *it,
			 struct error *err);

extern const struct kind fake_kind_thing;
extern const struct kind fake_kind_run;

/* Never NULL. */
const struct fake_block *fake_block(const struct job *job);
const char *fake_job_name(const struct resource *it);

/* The world of a job's resources, or NULL: the store's world. */
const char *fake_place(const struct job *job, struct arena *mem);

int fake_perform(void *ctx, enum fake_call call, const struct resource *it,
		 world_effect *effect, struct fake_task *task,
		 struct error *err);

/* labels.c: writes labels beside the properties, and reads them again. */
void fake_label(json_t *value, const struct resource *it);
int fake_list(void *ctx, const struct kind *kind, const char *place,
	      void (*look)(const json_t *value, struct listed *one),
	      struct listing *out, struct error *err);

/* thing.c, also for runs: */
/* Logs the request verbatim. */
int fake_log_request(struct fake_task *task, const struct resource *it,
		     struct error *err);
int fake_get(struct fake_task *task, const struct resource *it, json_t **out,
	     struct error *err);
int fake_read_effect(struct fake_task *task, const struct resource *it,
		     struct error *err);
int fake_delete_effect(struct fake_task *task, const struct resource *it,
		       struct error *err);

#endif
