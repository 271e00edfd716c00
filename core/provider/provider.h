/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A provider is a place where jobs run: a table of kinds of resources, and a
 * function that says which resources a job wants there.  Core does the
 * comparing, ordering, parallelism, retries and rendering for all of them.
 *
 * To add provider `foo`:
 *  1. providers/foo/foo.h and foo.c: its kinds, its `desire`, its traits, its
 *     fields (a struct message, if it has a `jobrun: foo:` block), and its
 *     additions to jobrun's commands;
 *  2. one line in providers/registry.c;
 *  3. tests/unit/test_foo.c, and an example with its README.
 */
#ifndef JOBRUN_PROVIDER_H
#define JOBRUN_PROVIDER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/base/error.h"
#include "core/job/catalogue.h"
#include "core/job/job.h"
#include "core/job/origin.h"
#include "core/base/environment.h"
#include "core/base/run_state.h"
#include "core/provider/entrance.h"
#include "core/topology/topology.h"

struct arena;
struct boundary;
struct checks;
struct kind;
struct listing;
struct platform;
struct provider;
struct provider_command;
struct provider_render;
struct provider_trials;
struct run_record;
struct store;
struct topology_reader;
struct topology_readers;

/* The state of a run. */
struct run_status {
	enum run_state state;
	int attempt;
	struct digest digest, digest2; /* of the job; see job_was_run() */
	char origin[ORIGIN_MAX];       /* of the job, or its label, or "" */
	int exit_code;                 /* -1: none yet */
	int refusal;                   /* run_refusal() */
	bool unbegun;    /* it was cancelled before it had machines */
	char error[512]; /* why it failed, or "" */
};

/* Sets what the run keeps of its job; each may be NULL. */
void run_status_set_digests(struct run_status *run, const char *digest,
			    const char *digest2);
void run_status_set_origin(struct run_status *run, const char *origin);

/* A resource that exists or should exist at a provider. */
struct resource {
	const struct kind *kind;
	const char *name;      /* unique within its kind */
	const struct job *job; /* its job, or NULL if unknown */
	/* Where the resource is, in the provider's terms (a project and a zone,
	 * a folder).  NULL: where its job says. */
	const char *place;
	size_t index; /* its index in `items` */
	/* The object that is compared and shown.  In a wanted resource, values
	 * may be placeholders (core/provider/placeholder.h); for `create` and
	 * `update` they are filled in, in the request too. */
	json_t *properties;
	/* The resources that must exist before this one. */
	const struct resource **needs;
	size_t need_count;
	/* The call that makes the resource, as plans show it: {"method", "url",
	 * "body"}; NULL if no call is needed. */
	json_t *request;

	/* A random name for the action that changes the resource, the same
	 * after a kill and a resume, for services that execute a repeated
	 * request only once.  NULL: no name is kept. */
	const char *once;

	/* Filled in by `read`: */
	bool exists;
	/* The resource was not looked at, so it may or may not exist. */
	bool unseen;
	/* Values known only after creation, for resources that need them (an
	 * address), or NULL; neither compared nor shown.  Lists of strings
	 * among them are for the reader of the plan, like those in struct
	 * resources. */
	json_t *outputs;
#define OUTPUT_MISSING "missing"
#define OUTPUT_NOTES "notes"
	/* For KIND_FOR_RUN: the other owner whose run uses it at present. */
#define OUTPUT_HELD "heldBy"
	/* Only for a kind with KIND_RUN.  Its `create` is told here which attempt
	 * was the last when this was planned (0: none): a later one with the
	 * job's digest was left by an earlier try, and is adopted.  The other
	 * calls are about this attempt, or the newest if it is 0. */
	struct run_status run;
};

/* The resources that a job wants. */
struct resources {
	struct arena *mem; /* owns the resources and their strings */
	struct resource **items;
	size_t count;
	/* Settings that a run needs and the file lacks ("what is to run: set
	 * trainingInput.pythonModule or jobrun.command"): the job can be
	 * planned, but not applied. */
	const char **missing;
	size_t missing_count;
	/* How many of these, the last ones, are permissions that the user
	 * lacks. */
	size_t denied_count;
	/* Why existing resources were not looked at, or NULL.  A look might
	 * change the plan, so it is neither applied nor saved. */
	const char *unknown;
	/* Notes for the reader of the plan: "image is not used here". */
	const char **notes;
	size_t note_count;
};

struct resources *resources_new(void);
void resources_free(struct resources *all);
/* Returns a resource without properties, owned by `all`. */
struct resource *resources_add(struct resources *all, const struct kind *kind,
			       const char *name, const struct job *job);
/* Duplicates are ignored.  Both resources belong to `all`. */
void resource_needs(struct resources *all, struct resource *later,
		    const struct resource *before);
void resources_miss(struct resources *all, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void resources_note(struct resources *all, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Records that it is unknown what exists, with the reason in `why`. */
void resources_unknown(struct resources *all, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Adds notes, and missing permissions, that reading the resources has found. */
void resources_say_found(struct resources *all, const struct resource *found);
/* Notes the fields that the job sets and `provider` does not use, those with
 * the same reason together. */
void resources_note_unused(struct resources *all, const struct job *job,
			   const struct provider *provider);

/* Where to look for existing resources; each place once. */
struct places {
	const char **items; /* owned; the strings live in the arena */
	size_t count;
};

void places_add(struct places *places, struct arena *mem, const char *place);
/* Adds a job's place, if the job is the provider's and names one; skips places
 * that may not be contacted (`boundary` may be NULL). */
void places_add_job(struct places *places, struct arena *mem,
		    const struct provider *provider,
		    const struct boundary *boundary, const struct job *job);
/* What a plan of the job may not look at, or NULL: see contacts() above.  Lives
 * in `mem`. */
const char *provider_unseen(const struct provider *provider,
			    const struct job *job,
			    const struct boundary *boundary, struct arena *mem);
void places_done(struct places *places);

/*
 * Lists the resources that the provider made in these places, and in the
 * default place for jobs that name none: of all its kinds that can be listed,
 * sorted.  A place that fails does not hide the others: the listing records it.
 */
void provider_list(const struct provider *provider, void *ctx,
		   const struct places *places, struct listing *out);

/* A thing that nobody uses any more: see leftovers(). */
struct leftover {
	const char *what; /* "folder", "record", "file", "process", "lock" */
	const char *name; /* as a person can find it */
	const char *why;  /* "its run has no record" */
	/* the job whose lock is needed to remove it, or NULL */
	const char *job_id;
	const char *key; /* for the provider's own use */
	uint64_t bytes;  /* 0: not known */
	/* It holds output of a program that may be missed: gc keeps it unless
	 * told otherwise. */
	bool has_work;
};

struct leftovers {
	struct arena *mem; /* owns all strings */
	struct leftover *items;
	size_t count, room;
};

/* Copies all strings. */
void leftovers_add(struct leftovers *all, const struct leftover *one);

/* Like resources_read(), but reads none of them. */
struct resource *resources_unseen(const struct resources *all);
/*
 * Reads all resources, in their order.  Returns a new array of as many, with
 * kind, name and job filled in, or NULL.
 */
struct resource *resources_read(const struct resources *all, void *ctx,
				struct error *err);
void resources_forget(struct resource *observed, size_t count);

/* Whether another owner's run uses it at present. */
bool resource_is_held(const struct resource *resource);
/* What its provider says about that, borrowed, or NULL. */
const char *resource_held_why(const struct resource *resource);

/* For `read` of an existing run: sets everything but its state, attempt and
 * exit code.  Takes the properties; any of the four may be NULL. */
void resource_found(struct resource *found, json_t *properties,
		    const char *digest, const char *digest2, const char *why);

/* What a provider may use; lives as long as the provider's context. */
struct provider_env {
	struct store *store; /* NULL: nothing is remembered */
	const struct catalogue *catalogue;
	const char *trace_http; /* the file that records requests, or NULL */
	/* How far job files may reach; NULL: paths and places that they name
	 * were allowed when the job was applied. */
	const struct boundary *boundary;
	/* also take over a run of the same name from another origin */
	bool take_over;
	/* also take devices with processes that no run has started */
	bool share_devices;
	/* Runs are looked at that others have started: nothing where they are
	 * is kept up for them. */
	bool visits;
	/* Only their states are wanted, not their output. */
	bool only_states;
	/* Parses YAML of other programs, which core can't: yaml_read() of
	 * schema/read/yaml_read.h. */
	json_t *(*read_yaml)(const char *text, size_t len, const char *name,
			     struct error *err);
};

enum wait_state {
	WAIT_PENDING, /* ask again */
	WAIT_DONE,    /* it is as wanted; a run has ended, see its status */
};

enum kind_flag {
	KIND_RUN = 1 << 0,    /* a run of a job: started, followed, ended */
	KIND_BILLED = 1 << 1, /* costs money while it exists */
	/* Useful only during a run of its job: deleted after the run, as
	 * jobrun.cleanup says. */
	KIND_FOR_RUN = 1 << 2,
	/* For KIND_RUN: its `cancel` finds out by itself whether the run had
	 * ended, so nothing is asked before it is called. */
	KIND_CANCEL_FIRST = 1 << 3,
};

/*
 * Calls may block (the executor makes them from its own threads, several at
 * once for different resources) and classify their errors: only ERROR_TRY_AGAIN
 * and ERROR_UNREACHABLE that are not `final` are retried.
 */
struct kind {
	const char *name; /* "tpu-node", in plans and messages */
	unsigned flags;
	/* properties that cannot change in place, NULL-terminated */
	const char *const *replace_on;
	/* The property that maps files to their digests (core/job/source.h), or
	 * NULL: plans name the files that changed instead of showing it. */
	const char *files;
	/* Properties whose values are never shown, NULL-terminated.  A property
	 * wanted as a secret of the job need not be listed. */
	const char *const *sensitive;
	int poll_ms; /* between calls of `wait`; 0: one second */

	/* Reads the resource; a missing one is no error, and leaves
	 * `found->exists` false.  Sets exists, properties and outputs (new)
	 * and, for a run, its status. */
	int (*read)(void *ctx, const struct resource *want,
		    struct resource *found, struct error *err);
	/*
	 * Completes the wanted resource, for instance its request, when the
	 * existing one is known: names that can be used only once, a project
	 * that no file names.  No I/O. NULL: nothing to complete.
	 */
	void (*adapt)(struct resource *want, const struct resource *found);
	/* Creates the resource, or adopts what an earlier, killed try has left.
	 * For a run: starts it, and returns once it is on its way. */
	int (*create)(void *ctx, const struct resource *want,
		      struct error *err);
	/* Updates in place.  NULL: every change is a replacement. */
	int (*update)(void *ctx, const struct resource *want,
		      struct error *err);
	/* Deletes; already gone is success.  1: it is deleted, and `err` says
	 * what stays.  For a run: forgets it, logs included.  NULL, beside an
	 * `update` and no `list`: the resource is shared with others, and
	 * stays. */
	int (*delete)(void *ctx, const struct resource *have,
		      struct error *err);
	/* Looks once, never sleeps.  NULL: done when created.  While the
	 * resource is pending, `err`, empty before, may say what is waited for.
	 * A failure that no other try would mend means that the resource is
	 * lost: the next read finds that it must be replaced. */
	int (*wait)(void *ctx, const struct resource *have,
		    enum wait_state *state, struct error *err);

	/* For KIND_FOR_RUN: renews the resource while it is needed, as gc, or
	 * the resource itself, deletes what was not renewed for long.  Called
	 * often, makes few requests.  NULL: not needed. */
	int (*renew)(void *ctx, const struct resource *have, struct error *err);

	/*
	 * Adds all resources of this kind that jobrun made in a place, by their
	 * labels (core/provider/listing.h), with the name and place that their
	 * other calls need.  `place` is from provider->place(); NULL: the
	 * default place for jobs that name none.
	 */
	int (*list)(void *ctx, const char *place, struct listing *out,
		    struct error *err);

	/* For runs only: */
	/* Asks the run to end; `now` without the grace period.  Already ended
	 * is success.  1: it will end, and `err` says what delays it. */
	int (*cancel)(void *ctx, const struct resource *have, bool now,
		      struct error *err);
	/*
	 * Called for many runs before each is waited for: brings all of them up
	 * to date, in the store too, with one request.  Sets `fresh` for runs
	 * about which `wait` could learn no more, and leaves failures for
	 * `wait` to report.  New strings live in `mem`.  NULL: each is waited
	 * for.
	 */
	void (*refresh)(void *ctx, struct run_record *const *runs, size_t count,
			struct arena *mem, bool *fresh);
	/* Records the run that another machine has started, so that the other
	 * calls know it; changes nothing where the run is.  It is the run of a
	 * job whose file is here, or one of a list.  1: there is none.  NULL:
	 * only runs of this machine can be looked at. */
	int (*adopt)(void *ctx, const struct resource *run, struct error *err);
	/* Returns a descriptor that becomes readable when `wait` should be
	 * called before the next `poll_ms` are over; the caller reads and
	 * closes it. */
	int (*watch)(void *ctx, const struct resource *have, int *fd,
		     struct error *err);
	/* Says how a command runs beside a task: in its directory, with its
	 * environment.  Starts nothing.  NULL: nobody can enter them. */
	int (*enter)(void *ctx, const struct enter_wish *wish,
		     struct arena *mem, struct enter_way *out,
		     struct error *err);
};

/* How a provider uses a field and everything below it, for people. */
struct field_use {
	const char *path; /* "trainingInput.workerConfig" */
	const char *doc;  /* "one process each"; NULL: not used */
};

/* How the reason of a field that is not used begins. */
#define USE_NOT_USED "not used: "
#define USE_LEFT_OUT "left out: "
/* The field does what its own description says, or those below it do. */
#define USE_AS_DOCUMENTED "as documented"
#define USE_SEE_FIELDS "see its fields"

/* Whether such a text says that the field has no effect; so does "". */
bool use_is_none(const char *use);

struct provider;
/* What the provider makes of a field, where `honoured` says whether it has the
 * traits that the field needs; "": nothing. */
const char *provider_use(const struct provider *provider, const char *path,
			 bool honoured);

struct provider {
	const char *name;    /* as in jobrun.provider */
	const char *summary; /* one line, for help */
	/* NULL-terminated; the kind of runs is last */
	const struct kind *const *kinds;
	const struct message *block; /* its fields, or NULL */
	/* For `explain`, up to a row with no path: the row with the longest
	 * path at or above a field counts; without one, the field is not used.
	 * NULL: it uses all that it has the traits for. */
	const struct field_use *uses;
	unsigned traits; /* its traits: core/job/traits.h */
	/* apply asks for confirmation: it costs money or changes what others
	 * see */
	bool asks;

	/* The provider ignores machine types and accelerators in the file, so a
	 * run's use is not estimated. */
	bool ignores_machines;

	/* How many of the TPU named in the file the job has.  NULL: one. */
	long (*slices)(const struct job *job);

	/*
	 * A place that only the job's file names and that reading its resources
	 * would contact: "the login host 'h1'".  Lives in `mem`.  NULL, or
	 * returning NULL: only the provider's own services, or what the user
	 * has configured.
	 */
	const char *(*contacts)(const struct job *job,
				const struct boundary *boundary,
				struct arena *mem);
	/* Says which resources should exist for this job; no I/O. */
	int (*desire)(const struct job *job, const struct provider_env *env,
		      struct resources *out, struct error *err);
	/* Where the resources of a job are, for `list`: lives in `mem`.  NULL,
	 * or returning NULL: the default place. */
	const char *(*place)(const struct job *job, struct arena *mem);
	/*
	 * Finds leftovers that are no resource of a job, for gc, except those
	 * that a live process uses.  `sweep` removes one, after checking again;
	 * already gone is success.  Both, or NULL.
	 */
	int (*leftovers)(void *ctx, struct leftovers *out, struct error *err);
	int (*sweep)(void *ctx, const struct leftover *one, struct error *err);
	/* The environment that a task of the job will see, or saw in its run,
	 * except for the values of secrets and inherited variables.  NULL:
	 * unknown here. */
	int (*environment)(void *ctx, const struct job *job,
			   enum task_type type, int index,
			   struct environment *out, struct error *err);
	/* Returns the `ctx` of its kinds, or NULL with `err` set.  A provider
	 * without it has fields and rules only: its jobs are checked, not
	 * run. */
	void *(*open)(const struct provider_env *env, struct error *err);
	void (*close)(void *ctx);

	/* Additions to jobrun's commands, each or NULL; several providers may
	 * share one. */
	/* How a process detects that it runs there, and with which peers
	 * (core/topology/topology_read.h), and whom it asks (platform.h). */
	const struct topology_reader *reader;
	const struct platform *platform;
	/* See core/provider/extension.h. */
	const struct provider_render *render;
	const struct provider_trials *trials;
	const struct provider_command *const *commands; /* NULL-terminated */
	/* Checks what its jobs need here and elsewhere, with limits of time:
	 * adds to `out` (core/provider/checks.h).  Several providers
	 * are asked at once. */
	void (*doctor)(const struct provider_env *env, struct checks *out);
	/* The same for one job, with its own settings: only what it needs, and
	 * nothing that its plan finds out.  Jobs are checked side by side. */
	void (*doctor_job)(const struct job *job,
			   const struct provider_env *env, struct checks *out);
};

/* The readers of these providers; `all` is NULL-terminated. */
void provider_readers(const struct provider *const *all,
		      struct topology_readers *out);

/* Whether it has kinds with KIND_FOR_RUN. */
bool provider_makes_for_runs(const struct provider *provider);

/* The kind with KIND_RUN. */
const struct kind *provider_run_kind(const struct provider *provider);

#endif
