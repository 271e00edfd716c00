/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs managed by a Google service: jobrun posts a message, and the service
 * queues, starts, ends and keeps the run.  Shared by AI Platform Training and
 * Vertex AI: finding a job's runs by their labels, adopting runs of an earlier
 * try, following, cancelling, and the local records.
 *
 * A run carries the labels jobrun-job and jobrun-digest.  The newest run of a
 * job is its run, and the number of its runs is the attempt, so a machine
 * without a store makes the same plan as one with a store.
 */
#ifndef JOBRUN_MANAGED_H
#define JOBRUN_MANAGED_H

#include "core/provider/listing.h"
#include "core/provider/provider.h"
#include "core/store/store.h"
#include "providers/google/api.h"

#define MANAGED_POLL_MS 5000 /* gcloud polls every 10 s */

struct managed;

/* The state of a run in its service's terms; borrows from its message. */
struct managed_state {
	enum run_state state;
	const char *error;   /* the reason of a failure, or NULL */
	const char *waiting; /* why it is still waiting, or NULL */
};

/* The part that differs between services. */
struct managed_service {
	const struct kind *kind; /* the kind of its runs */
	const char *provider;    /* its name */
	enum google_service service;
	/* The collections that contain its runs, NULL-terminated. */
	const char *const *collections;
	/* Names can be used only once; the name is in the request's body as
	 * `name_field`.  NULL: the service makes the names. */
	const char *name_field;
	/* The field of the message with the display name. */
	const char *title_field;
	/* A repeated POST is refused with 409, so it is harmless. */
	bool create_repeatable;
	/* Adds the query that lists all runs of a job; with NULL for both, of
	 * all jobs.  It may also match other runs. */
	void (*filter)(const char *job_id, const char *label, struct buf *out);
	/* The location of its regional services, or NULL. */
	const char *(*location)(const struct job *job);
	/* "customJobs": the collection of the job's run. */
	const char *(*collection)(const struct job *job);
	void (*read)(const json_t *body, struct arena *mem,
		     struct managed_state *out);
	/* Finds the list of trials in a message, and reads one of them, leaving
	 * values that it lacks unchanged.  A number of 0: none. */
	const json_t *(*trials)(const json_t *body);
	void (*read_trial)(const json_t *trial, struct arena *mem,
			   struct trial_record *out);
	/* The desired properties, in the form that `desire` makes; new. */
	json_t *(*properties)(const json_t *body);
	/* Removes the run from the lists, or its labels from the run. */
	int (*forget)(struct managed *managed, const char *name,
		      const json_t *body, struct error *err);
};

void *managed_open(const struct managed_service *as,
		   const struct provider_env *env, struct error *err);
void managed_close(void *managed);
struct google *managed_google(struct managed *managed);

/* An answer that several resources of a plan need: returns new, or NULL.
 * managed_keep() takes the value; managed_forget() is called before something
 * changes. */
json_t *managed_kept(struct managed *managed, const char *key);
void managed_keep(struct managed *managed, const char *key, json_t *value);
void managed_forget(struct managed *managed);

/* For the objects that staging_desire() adds. */
extern const struct kind managed_object;

/* jobrun-job, jobrun-digest and jobrun-applyset of a job, in `mem`. */
struct pairs managed_labels(const struct job *job, struct arena *mem);

/* Sets "labels" of the message: the job's own, and `more` (or NULL).  Sets
 * nothing if there are none. */
void managed_put_labels(const struct job *job, const struct pairs *more,
			json_t *message);
/* Adds the run, which needs everything added before.  Takes `body`, the message
 * to post. */
struct resource *managed_add_run(const struct managed_service *as,
				 const struct job *job, json_t *body,
				 struct resources *out);

/* For struct provider: like managed_parent(), with the project "-" for this
 * machine's configured project; NULL: unknown. */
const char *managed_place(const struct job *job, const char *location,
			  struct arena *mem);
/* The place of a job's runs: "projects/P" or "projects/P/locations/R"; in
 * `mem`. */
int managed_parent(struct managed *managed, const struct job *job,
		   struct arena *mem, const char **out, struct error *err);
/* Read a member: milliseconds since 1970, 0 for none; a 64-bit number, which is
 * a string in JSON. */
int64_t managed_time(const json_t *message, const char *key);
long long managed_int64(const json_t *message, const char *key,
			long long fallback);
/* Makes a call on "projects/P/…/NAME"; `suffix` is "" or ":cancel". */
int managed_call(struct managed *managed, const char *method, const char *name,
		 const char *suffix, const char *const *query,
		 const json_t *body, struct api_answer *answer,
		 struct error *err);

/* For the kind of its runs: */
int managed_read(void *ctx, const struct resource *want, struct resource *found,
		 struct error *err);
void managed_adapt(struct resource *want, const struct resource *found);
int managed_create(void *ctx, const struct resource *want, struct error *err);
int managed_delete(void *ctx, const struct resource *have, struct error *err);
/* Lists the newest run of each job in a place; without a place, those that this
 * machine remembers and those in its configured project and region. */
int managed_list(void *ctx, const char *place, struct listing *out,
		 struct error *err);
int managed_wait(void *ctx, const struct resource *have, enum wait_state *state,
		 struct error *err);
int managed_cancel(void *ctx, const struct resource *have, bool now,
		   struct error *err);

#endif
