/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by commands that deal with runs: the store, the catalogue, a context
 * for each provider, and the plan from all of it.
 */
#ifndef JOBRUN_SESSION_H
#define JOBRUN_SESSION_H

#include "cmd/jobrun/ui/app.h"
#include "core/apply/lock.h"
#include "core/plan/plan.h"
#include "core/provider/provider.h"
#include "core/store/store.h"
#include "schema/schema.h"

struct visit;

#define SESSION_PROVIDERS 16
#define SESSION_DIGESTED 32

/* Whether plans look at existing resources. */
enum session_look {
	LOOK_MUST,     /* if that fails, there is no plan */
	LOOK_IF_ASKED, /* not where no access is configured */
	LOOK_HERE,     /* only on this machine */
};

/* A job that could not be planned, and why. */
struct unplanned {
	const char *job_id; /* the job's */
	struct error why;
};

struct session {
	struct app *app;
	struct provider_env env;
	void *contexts[SESSION_PROVIDERS]; /* in the registry's order */
	/* The runs that others have started (visit.h), or NULL. */
	struct visit *visit;
	enum session_look look;
	/* jobs planned without a look at existing resources */
	size_t unknown_count;
	struct plan *plan;
	/* For each job, the desired and the observed resources. */
	struct resources **desired;
	struct resource **observed;
	size_t job_count;
	/* Jobs whose source or packages were read, the latest ones. */
	const struct job *digested[SESSION_DIGESTED];
	size_t digested_count;
	struct price_list *prices; /* or NULL */
	struct unplanned *unplanned;
	size_t unplanned_count;
	bool unordered;         /* none was planned: they wait for each other */
	struct lock_set *locks; /* of the jobs being worked on, or NULL */
	/* Paths that jobrun itself writes, and that are no source of a job. */
	char *never[2];
	size_t never_count;
	/* The repositories of the jobs planned last. */
	struct git_status *repositories[8];
	size_t repository_count; /* of all that were read */
};

enum session_flag {
	SESSION_CATALOGUE = 1 << 0, /* to make plans */
	/* to start and delete runs: makes a missing store */
	SESSION_WRITE = 1 << 1,
};

int session_open(struct session *session, struct app *app, unsigned flags,
		 struct error *err);
void session_close(struct session *session);

/* The provider's open context; NULL with `err` set if it can't be opened. */
void *session_context(struct session *session, const struct provider *provider,
		      struct error *err);

/* Reads the price list for plans: `path`, or the one that JOBRUN_PRICES names,
 * or none. */
int session_prices(struct session *session, const char *path,
		   struct error *err);

/* To be called after session_plan(): fails if a target matches nothing.  If
 * some jobs could not be planned, reports that first, as the target may be
 * theirs. */
int session_check_targets(const struct session *session, struct error *err);

/* Takes the locks of these jobs, to plan and change them; session_close()
 * releases those still held. */
int session_lock(struct session *session, const char *const *job_ids,
		 size_t count, long timeout_s, struct error *err);
/* Takes only those that nobody else holds. */
int session_lock_free(struct session *session, const char *const *job_ids,
		      size_t count, struct error *err);
/* Whether any process, this one too, holds the lock of the job. */
bool session_is_locked(const struct session *session, const char *job_id);

/* Reports what an earlier, killed command has left of the plan's jobs, see
 * core/apply/resume.h. */
int session_resume(struct session *session, struct error *err);

/* `out` (or NULL) will be written, so session_plan() leaves it out of every
 * source, like the state directory. */
void session_leave_out(struct session *session, const char *out);

/*
 * Digests, desires and observes every job, and makes session->plan.  A failing
 * job does not affect the others: it is added to session->unplanned.
 */
void session_plan(struct session *session, const struct jobs *jobs,
		  const struct plan_options *options);
/* Reports why jobs are unplanned; returns the exit status of the first, or 0 if
 * all were planned. */
int session_fail_unplanned(const struct session *session);

/* Gets the newest run of a job, or one attempt, refreshed by its provider.
 * Reports an error if there is none.  Strings live in `mem`. */
int session_run(struct session *session, const char *job_id, int attempt,
		struct arena *mem, struct run_record *out, struct error *err);

/* The same as recorded here, without refreshing it. */
int session_known(struct session *session, const char *job_id, int attempt,
		  struct arena *mem, struct run_record *out, struct error *err);

/* Refreshes the record of a run that may have changed. */
int session_refresh(struct session *session, struct arena *mem,
		    struct run_record *run, struct error *err);
/* The same, going on to the newest attempt. */
int session_refresh_one(struct session *session, struct arena *mem,
			struct run_record *run, struct error *err);
/* The same for some runs of many, by their indexes in `runs`, with one request
 * per provider where possible.  Sets the reason of each failure, NULL:
 * success. */
void session_refresh_some(struct session *session, struct arena *mem,
			  struct run_record *const *runs, const size_t *some,
			  size_t count,
			  void (*report)(void *arg, size_t i,
					 const struct error *why),
			  void *arg);

/* The run as a resource, for the calls of its kind; borrows `run`. */
struct resource session_resource(const struct run_record *run,
				 const struct provider **provider);

#endif
