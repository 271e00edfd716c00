/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan is the ordered list of actions between what jobs desire and what
 * was observed.  Making one changes nothing outside this process, and two
 * plans of the same state are equal to the byte.
 */
#ifndef JOBRUN_PLAN_H
#define JOBRUN_PLAN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/plan/estimate.h"
#include "core/provider/provider.h"
#include "core/job/source.h"

struct plan; /* opaque, see plan.c */

enum action_type {
	ACTION_NOOP,
	ACTION_CREATE,
	ACTION_UPDATE,
	ACTION_REPLACE,
	ACTION_DELETE,
	ACTION_RUN,
	ACTION_TYPE_COUNT,
};

/* The author of a difference since jobrun last changed the resource. */
enum change_cause {
	CHANGE_UNKNOWN, /* the earlier state is not known */
	CHANGE_FILE,
	CHANGE_OUTSIDE, /* somebody else, at the provider */
	CHANGE_BOTH,
};

/* How a resource has changed without jobrun since. */
enum drift {
	DRIFT_NONE,
	DRIFT_UNKNOWN,
	DRIFT_CHANGED,
	DRIFT_GONE,
};

/* Its values may be placeholders (core/provider/placeholder.h). */
struct change {
	const char *path; /* "tasks.worker", "env.OMP_NUM_THREADS" */
	json_t *before;   /* NULL: did not exist */
	json_t *after;    /* NULL: no longer exists */
	bool forces;      /* this change makes it a replacement */
	enum change_cause cause;
};

struct action {
	const char *id; /* "JOBID/KIND/NAME", unique in the plan */
	size_t index;   /* its position in the plan: plan_at(index) */
	enum action_type type;
	const struct plan_job *job;
	const struct resource *want;  /* NULL: to be deleted */
	const struct resource *have;  /* NULL: does not exist */
	const char *reason;           /* one line */
	const struct change *changes; /* in the order of core/plan/diff.h */
	size_t change_count;
	/* changes of the property that its kind lists as files */
	struct file_changes files;
	enum drift drift;
	/* a secret that can't be read here may have changed */
	bool unread_secret;
	bool unseen; /* the existing resource was not looked at */
	/* A run that does not start, as one that it is after has failed.  Only
	 * a noop has this. */
	bool skipped;
	const struct action **needs; /* the actions that come before it */
	size_t need_count;
	/* A run in progress that matches the file: apply follows it.  Only a
	 * noop has this. */
	bool follow;
};

/* The resource that the action is about: the wanted one, or else the existing
 * one. */
const struct resource *action_resource(const struct action *action);
bool action_is_run(const struct action *action);
/* Whether it is another owner's run that is only followed: nothing is kept of it
 * here. */
bool action_is_elsewhere(const struct action *action);

struct plan_job {
	const struct job *job;
	const struct provider *provider;
	/* also has the notes and what is missing */
	const struct resources *desired;
	const struct action **actions; /* in the order of execution */
	size_t action_count;
	/* The estimate of the run that will be started; NULL: none will be, or
	 * it does not use the machines named in the file. */
	const struct estimate *estimate;
	/* Fields of the file that no property shows: core/plan/fields.h.  Their
	 * `before` is NULL. */
	struct change *fields;
	size_t field_count;
};

/* How a note begins that says that a resource was not looked at. */
#define PLAN_NOT_LOOKED_AT "not looked at: "

/* Whether the job's source is sent to other machines instead of being read in
 * place. */
bool plan_job_ships(const struct plan_job *job);
/* Whether the job's run, starting or in progress, makes what it needs: then
 * nobody else makes it. */
bool plan_job_is_self_made(const struct plan_job *job);
/* Whether the job has any action other than a deletion. */
bool plan_job_acts(const struct plan_job *job);
/* Adds warnings to be shown before everything else; nothing if there are
 * none. */
void plan_job_warning(const struct plan_job *job, struct buf *out);

struct plan_options {
	bool rerun;     /* repeat runs that ended with the same digest */
	bool take_over; /* also handle runs of jobs of another origin */
	/* Only these actions, by id or as KIND/NAME, and what they need; 0:
	 * all. */
	const char *const *targets;
	size_t target_count;
	struct store *store; /* knows what was last applied; or NULL */
	/* For estimates; NULL: none are made, or without money. */
	const struct catalogue *catalogue;
	const struct price_list *prices;
	/* Files with secrets are not opened, so it is unknown whether they
	 * changed. */
	bool closed_secrets;
};

struct plan *plan_new(void);
void plan_free(struct plan *plan);

/*
 * Adds the actions of one job.  `desired` and `observed` (one for each desired
 * resource, in its order) are borrowed and must live as long as the plan.
 * Fails if the desired resources form a cycle, and names it; or if the job says
 * `onChange: fail` and changed during its run; or if that run is of a job of
 * another origin.
 */
int plan_add(struct plan *plan, const struct provider *provider,
	     const struct job *job, const struct resources *desired,
	     const struct resource *observed,
	     const struct plan_options *options, struct error *err);

/* Fails with ERROR_TRY_AGAIN if a run in progress is of a job of another origin
 * (core/job/origin.h), which must not be followed, replaced or ended. */
int plan_check_origin(const char *job_id, const struct run_status *run,
		      const char *origin, struct error *err);

/* To be called after all jobs were added: fails if a target matches no action,
 * and names the nearest. */
int plan_check_targets(const struct plan *plan, struct error *err);
/* The number of targets that the plan is restricted to; 0: no restriction. */
size_t plan_target_count(const struct plan *plan);
const char *plan_target_at(const struct plan *plan, size_t i);

/*
 * Adds the deletion of all that exists of a job, dependents first.  A run in
 * progress is cancelled before.  `reason` says why, for each action.
 */
void plan_add_delete(struct plan *plan, const struct provider *provider,
		     const struct job *job, const struct resources *desired,
		     const struct resource *observed, const char *reason);

size_t plan_job_count(const struct plan *plan);
const struct plan_job *plan_job_at(const struct plan *plan, size_t i);
/* All actions of all jobs; borrowed. */
size_t plan_count(const struct plan *plan);
const struct action *plan_at(const struct plan *plan, size_t i);
/* The number of actions of that type. */
size_t plan_total(const struct plan *plan, enum action_type type);
/* Whether nothing is to be done; there may still be a run to follow. */
bool plan_is_empty(const struct plan *plan);

/* The number of resources to be changed that others have changed or deleted;
 * or, if not `seen`, for which that is unknown. */
size_t plan_drift_count(const struct plan *plan, bool seen);

/* The number of runs in progress that will be followed. */
size_t plan_follow_count(const struct plan *plan);

const char *action_type_name(enum action_type type); /* "replace" */
const char *action_type_sign(enum action_type type); /* "±" */

/* The estimate of all runs that will be started; NULL if none has one. */
const struct estimate_total *plan_estimate(const struct plan *plan);

/* A further remark on an action or a change: "deleted outside jobrun".  NULL:
 * none. */
const char *action_remark(const struct action *action);
const char *change_remark(const struct change *change);
const char *change_cause_name(enum change_cause cause); /* NULL: unknown */
/* Whether the change is between two secrets, which differ but look alike. */
bool change_is_sealed(const struct change *change);

/* Describes drift in sentences; adds nothing if there is none. */
void plan_drift_text(const struct plan *plan, struct buf *out);

/* "1 to run, 2 unchanged": for the whole plan, or for totals by type, of whose
 * noops `follow` are runs to follow. */
void plan_summary(const struct plan *plan, struct buf *out);
void totals_summary(const size_t *totals, size_t follow, struct buf *out);

struct plan_style {
	bool color;
	int width; /* columns; 0: no limit */
	/* also the names of files that are shipped and left out */
	bool verbose;
};

/* render_text.c: for a terminal, a line per action and one per change. */
void plan_render_text(const struct plan *plan, const struct plan_style *style,
		      struct buf *out);
/*
 * render_markdown.c: for a pull request; at most PLAN_MARKDOWN_MAX bytes, and
 * so characters.  Text that does not fit is left out, with a note: details
 * first, then entries of lists; the summary is always kept.
 */
#define PLAN_MARKDOWN_MAX 60000
void plan_render_markdown(const struct plan *plan, struct buf *out);
/* render_json.c: {"formatVersion", "jobs", "summary"}; returns new. */
json_t *plan_json(const struct plan *plan);

#endif
