/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs that a service of Google's manages: a message is posted, and the service
 * queues, starts, ends and keeps it.  Shared by AI Platform Training and Vertex
 * AI: finding a job's runs by their labels, adopting runs of an earlier try,
 * following, cancelling, and the local records.
 *
 * A run carries the labels jobrun-job and jobrun-digest.  The newest run of a
 * job is its run, their number is its attempt: so a machine without a store
 * plans as one with it.
 */
#ifndef JOBRUN_MANAGED_H
#define JOBRUN_MANAGED_H

#include "core/provider/listing.h"
#include "core/provider/provider.h"
#include "core/store/store.h"
#include "providers/google/api.h"

#define MANAGED_POLL_MS 5000 /* gcloud asks every 10 s */

struct managed;

/* How a run stands, in the words of its service; borrows from its message. */
struct managed_state {
	enum run_state state;
	const char *error;   /* why it failed, or NULL */
	const char *waiting; /* why it does not go on yet, or NULL */
};

/* The part that differs between services. */
struct managed_service {
	const struct kind *kind; /* of its runs */
	const char *provider;    /* its name */
	enum google_service service;
	/* The lists that its runs are in, up to NULL. */
	const char *const *collections;
	/* A name is used up by its first use; then it is in the request's body
	 * as `name_field`.  NULL: the service makes the names. */
	const char *name_field;
	/* The field of the message with the display name. */
	const char *title_field;
	/* POST again is refused with 409, not done again. */
	bool create_repeatable;
	/* The query that lists all of a job; with NULL for both, of all jobs:
	 * more than those is no harm. */
	void (*filter)(const char *job_id, const char *label, struct buf *out);
	/* `location` is where its regional services are, or NULL. */
	const char *(*location)(const struct job *job);
	/* "customJobs": where the run of a job will be. */
	const char *(*collection)(const struct job *job);
	void (*read)(const json_t *body, struct arena *mem,
		     struct managed_state *out);
	/* Finds the list of trials in a message, and reads one of them, leaving
	 * members that it lacks as they were.  A number of 0: none. */
	const json_t *(*trials)(const json_t *body);
	void (*read_trial)(const json_t *trial, struct arena *mem,
			   struct trial_record *out);
	/* The desired properties, as `desire` makes them; new. */
	json_t *(*properties)(const json_t *body);
	/* Takes it out of the lists, or its labels off it. */
	int (*forget)(struct managed *managed, const char *name,
		      const json_t *body, struct error *err);
};

void *managed_open(const struct managed_service *as,
		   const struct provider_env *env, struct error *err);
void managed_close(void *managed);
struct google *managed_google(struct managed *managed);

/* For what staging_desire() adds. */
extern const struct kind managed_object;

/* jobrun-job, jobrun-digest and jobrun-applyset of a job, in `mem`. */
struct pairs managed_labels(const struct job *job, struct arena *mem);

/* "labels" of the message: the job's own, and `more` (or NULL).  Sets nothing
 * if there are none. */
void managed_put_labels(const struct job *job, const struct pairs *more,
			json_t *message);
/* Adds the run, which needs all that was added before.  Takes `body`, the
 * message that is posted. */
struct resource *managed_add_run(const struct managed_service *as,
				 const struct job *job, json_t *body,
				 struct resources *out);

/* For struct provider: as below, with a project of "-" for the one that this
 * machine is set up for; NULL: nobody says. */
const char *managed_place(const struct job *job, const char *location,
			  struct arena *mem);
/* Where a job's runs are: "projects/P" or "projects/P/locations/R"; in `mem`. */
int managed_parent(struct managed *managed, const struct job *job,
		   struct arena *mem, const char **out, struct error *err);
/* Reads a member: milliseconds since 1970, 0 for none; a number of 64 bits,
 * which is text in JSON. */
int64_t managed_time(const json_t *message, const char *key);
long long managed_int64(const json_t *message, const char *key,
			long long fallback);
/* A call about "projects/P/…/NAME"; `suffix` is "" or ":cancel". */
int managed_call(struct managed *managed, const char *method, const char *name,
		 const char *suffix, const char *const *query,
		 const json_t *body, struct api_answer *answer,
		 struct error *err);

/* For the kind of its runs. */
int managed_read(void *ctx, const struct resource *want, struct resource *found,
		 struct error *err);
void managed_adapt(struct resource *want, const struct resource *found);
int managed_create(void *ctx, const struct resource *want, struct error *err);
int managed_delete(void *ctx, const struct resource *have, struct error *err);
/* The newest run of each job: those that are in a place, and for no place those
 * that this machine remembers and those in the project and region that it is
 * set up for. */
int managed_list(void *ctx, const char *place, struct listing *out,
		 struct error *err);
int managed_wait(void *ctx, const struct resource *have, enum wait_state *state,
		 struct error *err);
int managed_cancel(void *ctx, const struct resource *have, bool now,
		   struct error *err);

#endif
