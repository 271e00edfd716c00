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
	CHANGE_UNKNOWN, /* it is not known what that was */
	CHANGE_FILE,
	CHANGE_OUTSIDE, /* somebody else, at the provider */
	CHANGE_BOTH,
};

/* How a resource has changed since, without jobrun. */
enum drift {
	DRIFT_NONE,
	DRIFT_UNKNOWN,
	DRIFT_CHANGED,
	DRIFT_GONE,
};

/* Its values may be placeholders (core/provider/placeholder.h). */
struct change {
	const char *path; /* "tasks.worker", "env.OMP_NUM_THREADS" */
	json_t *before;   /* NULL: was not there */
	json_t *after;    /* NULL: is not there any more */
	bool forces;      /* this one makes it a replacement */
	enum change_cause cause;
};

struct action {
	const char *id; /* "JOBID/KIND/NAME", unique in the plan */
	size_t index;   /* its place in the plan: plan_at(index) */
	enum action_type type;
	const struct plan_job *job;
	const struct resource *want;  /* NULL: to be deleted */
	const struct resource *have;  /* NULL: does not exist */
	const char *reason;           /* one line */
	const struct change *changes; /* in the order of core/plan/diff.h */
	size_t change_count;
	struct file_changes files; /* of what the kind says holds files */
	enum drift drift;
	bool unread_secret; /* one that can't be read here may have changed */
	bool unseen;        /* what there is was not looked at */
	const struct action **needs; /* those that come before it */
	size_t need_count;
	/* A run that is under way as the file says: apply follows it.  Only
	 * a noop has it. */
	bool follow;
};

/* What it is about: what is wanted, or else what there is. */
const struct resource *action_resource(const struct action *action);
bool action_is_run(const struct action *action);

struct plan_job {
	const struct job *job;
	const struct provider *provider;
	const struct resources *desired; /* its notes and what is missing */
	const struct action **actions;   /* in the order of doing */
	size_t action_count;
	/* The estimate of the run that will be started; NULL: none will be, or
	 * it does not use the machines that the file names. */
	const struct estimate *estimate;
	/* What the file says and no property shows: core/plan/fields.h.  Their
	 * `before` is NULL. */
	struct change *fields;
	size_t field_count;
};

/* How a note begins that a resource was not looked at. */
#define PLAN_NOT_LOOKED_AT "not looked at: "

/* Whether the job's source is sent to other machines, not read in place. */
bool plan_job_ships(const struct plan_job *job);
/* Whether its run, which starts or goes on, has what it needs made: then nobody
 * else makes it. */
bool plan_job_is_self_made(const struct plan_job *job);
/* Whether something of it is to be done, other than to delete it. */
bool plan_job_acts(const struct plan_job *job);
/* What is dubious, to be seen before all else; adds nothing if nothing is. */
void plan_job_warning(const struct plan_job *job, struct buf *out);

struct plan_options {
	bool rerun;     /* run again what ended with the same digest */
	bool take_over; /* also runs of jobs of another origin */
	/* Only these, by id or as KIND/NAME, and what they need; 0: all. */
	const char *const *targets;
	size_t target_count;
	struct store *store; /* knows what was applied last; or NULL */
	/* For estimates; NULL: none are made, or without money. */
	const struct catalogue *catalogue;
	const struct price_list *prices;
	/* Files with secrets are not opened: whether these changed is not
	 * known. */
	bool closed_secrets;
};

struct plan *plan_new(void);
void plan_free(struct plan *plan);

/*
 * Adds the actions of one job.  `desired` and `observed` (one for each
 * desired resource, in its order) are borrowed and must live as long as the
 * plan.  Fails if the desired resources form a cycle, and names it; or if
 * the job says `onChange: fail` and changed while its run is under way; or if
 * that run is of a job of another origin.
 */
int plan_add(struct plan *plan, const struct provider *provider,
	     const struct job *job, const struct resources *desired,
	     const struct resource *observed,
	     const struct plan_options *options, struct error *err);

/* Fails with ERROR_TRY_AGAIN if a run goes on that is of a job of another origin
 * (core/job/origin.h): it is not this one's to follow, replace or end. */
int plan_check_origin(const char *job_id, const struct run_status *run,
		      const char *origin, struct error *err);

/* After all jobs were added: fails if a target is none of their actions, and
 * names the nearest. */
int plan_check_targets(const struct plan *plan, struct error *err);
/* The number of targets that the plan is restricted to; 0: no restriction. */
size_t plan_target_count(const struct plan *plan);
const char *plan_target_at(const struct plan *plan, size_t i);

/*
 * Adds the deletion of all that exists of a job, what needs others first.
 * A run that is under way is cancelled before.  `reason` says why, for each
 * action.
 */
void plan_add_delete(struct plan *plan, const struct provider *provider,
		     const struct job *job, const struct resources *desired,
		     const struct resource *observed, const char *reason);

size_t plan_job_count(const struct plan *plan);
const struct plan_job *plan_job_at(const struct plan *plan, size_t i);
/* All actions of all jobs; borrowed. */
size_t plan_count(const struct plan *plan);
const struct action *plan_at(const struct plan *plan, size_t i);
/* How many actions are of that type. */
size_t plan_total(const struct plan *plan, enum action_type type);
/* True if nothing is to be done; a run may still be there to follow. */
bool plan_is_empty(const struct plan *plan);

/* How many of the resources to be changed were changed or deleted by others;
 * or, if not `seen`, of how many that is not known. */
size_t plan_drift_count(const struct plan *plan, bool seen);

/* How many runs are under way and will be followed. */
size_t plan_follow_count(const struct plan *plan);

const char *action_type_name(enum action_type type); /* "replace" */
const char *action_type_sign(enum action_type type); /* "±" */

/* The estimate of all runs that will be started; NULL if none has one. */
const struct estimate_total *plan_estimate(const struct plan *plan);

/* A further remark on an action or a change: "deleted outside jobrun".  NULL:
 * nothing. */
const char *action_remark(const struct action *action);
const char *change_remark(const struct change *change);
const char *change_cause_name(enum change_cause cause); /* NULL: unknown */
/* Two secrets, which differ and look alike. */
bool change_is_sealed(const struct change *change);

/* Describes drift in sentences; adds nothing if there is none. */
void plan_drift_text(const struct plan *plan, struct buf *out);

/* "1 to run, 2 unchanged": all of it, or of totals by type, of whose noops
 * `follow` are runs to follow. */
void plan_summary(const struct plan *plan, struct buf *out);
void totals_summary(const size_t *totals, size_t follow, struct buf *out);

struct plan_style {
	bool color;
	int width;    /* columns; 0: no limit */
	bool verbose; /* and the names of what is shipped, and of what is not */
};

/* render_text.c: for a terminal, a line per action and one per change. */
void plan_render_text(const struct plan *plan, const struct plan_style *style,
		      struct buf *out);
/*
 * render_markdown.c: for a pull request; at most PLAN_MARKDOWN_MAX bytes, and
 * so characters.  The text that does not fit is left out, with a note: details
 * first, then entries of lists; the summary is always there.
 */
#define PLAN_MARKDOWN_MAX 60000
void plan_render_markdown(const struct plan *plan, struct buf *out);
/* render_json.c: {"formatVersion", "jobs", "summary"}; returns new. */
json_t *plan_json(const struct plan *plan);

#endif
