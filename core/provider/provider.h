/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A provider is a place where jobs run: a table of kinds of resources, and
 * one function that says which resources a job wants there.  Comparing,
 * ordering, parallelism, retries and rendering are core's, for all of them.
 *
 * To add provider `foo`:
 *  1. providers/foo/foo.h and foo.c: its kinds, its `desire`, its traits, its
 *     fields (a struct message, if it has a `jobrun: foo:` block), and what it
 *     brings to jobrun's commands;
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

/* How a run stands. */
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

/* What the run keeps of its job; each may be NULL. */
void run_status_set_digests(struct run_status *run, const char *digest,
			    const char *digest2);
void run_status_set_origin(struct run_status *run, const char *origin);

/* Something that exists, or should, at a provider. */
struct resource {
	const struct kind *kind;
	const char *name;      /* unique within its kind */
	const struct job *job; /* whose it is, or NULL if that is not known */
	/* Where it is, as its provider says it (a project and a zone, a
	 * folder).  NULL: where its job says. */
	const char *place;
	size_t index; /* its place in the `items` it belongs to */
	/* An object: what is compared and shown.  In what is wanted, values
	 * may be placeholders (core/provider/placeholder.h); `create` and
	 * `update` get them filled in, and their request too. */
	json_t *properties;
	/* The resources that must exist before it. */
	const struct resource **needs;
	size_t need_count;
	/* The call that makes it, as plans show it: {"method", "url",
	 * "body"}; NULL if it takes none. */
	json_t *request;

	/* Names the action that changes it, for services that do what is asked
	 * twice under one name once: random, and the same after a kill and a
	 * resume.  NULL: nobody keeps one. */
	const char *once;

	/* Filled in by `read`: */
	bool exists;
	/* It was not looked at: whether it exists is not known. */
	bool unseen;
	/* What it turned out to be, for those that need it (an address), or
	 * NULL: neither compared nor shown.  Lists of texts among them are
	 * for the reader of the plan, as below in struct resources. */
	json_t *outputs;
#define OUTPUT_MISSING "missing"
#define OUTPUT_NOTES "notes"
	/* Of KIND_FOR_RUN: the other owner whose run it is for now. */
#define OUTPUT_HELD "heldBy"
	/* Only for a kind with KIND_RUN.  Its `create` is told here which attempt
	 * was the last when this was planned (0: none): a later one with the
	 * job's digest is what an earlier try has left, and is adopted.  Its
	 * other calls are about that attempt, or the newest if it is 0. */
	struct run_status run;
};

/* What a job wants. */
struct resources {
	struct arena *mem; /* owns the resources and their strings */
	struct resource **items;
	size_t count;
	/* What the file does not say and a run would need ("what is to run:
	 * set trainingInput.pythonModule or jobrun.command"): it can be
	 * planned, but not applied. */
	const char **missing;
	size_t missing_count;
	/* So many of them, the last, are rights that whoever asks lacks. */
	size_t denied_count;
	/* Why what exists was not looked at, or NULL: the plan may be another
	 * once somebody looks, so it is neither applied nor saved. */
	const char *unknown;
	/* What a reader of the plan should know: "image is not used here". */
	const char **notes;
	size_t note_count;
};

struct resources *resources_new(void);
void resources_free(struct resources *all);
/* Returns a resource without properties, owned by `all`. */
struct resource *resources_add(struct resources *all, const struct kind *kind,
			       const char *name, const struct job *job);
/* Said twice is said once.  Both belong to `all`. */
void resource_needs(struct resources *all, struct resource *later,
		    const struct resource *before);
void resources_miss(struct resources *all, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void resources_note(struct resources *all, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* What exists is not known, for the reason that `why` has. */
void resources_unknown(struct resources *all, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Adds the rights that reading them has found to be missing, and what is worth
 * a note. */
void resources_say_found(struct resources *all, const struct resource *found);
/* A note for each field that the job sets and `provider` does not honour. */
void resources_note_unused(struct resources *all, const struct job *job,
			   const struct provider *provider);

/* Where to look for what exists; each place once. */
struct places {
	const char **items; /* owned; the texts live in the arena */
	size_t count;
};

void places_add(struct places *places, struct arena *mem, const char *place);
/* Adds a job's place, if the job is the provider's and names one; not one that
 * may not be contacted (`boundary` may be NULL). */
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
 * Adds what the provider has made in these places and where things are if no
 * job says where: of all its kinds that can be listed, sorted.  A place that
 * fails keeps nobody from seeing the others: the listing says so.
 */
void provider_list(const struct provider *provider, void *ctx,
		   const struct places *places, struct listing *out);

/* Something that nobody uses any more: see leftovers(). */
struct leftover {
	const char *what;   /* "folder", "record", "file", "process", "lock" */
	const char *name;   /* as a person can find it */
	const char *why;    /* "its run has no record" */
	const char *job_id; /* whose lock to hold to remove it, or NULL */
	const char *key;    /* the provider's own */
	uint64_t bytes;     /* 0: not known */
	/* It holds what a program has written, and may be missed: gc leaves it
	 * unless it is told not to. */
	bool has_work;
};

struct leftovers {
	struct arena *mem; /* owns all texts */
	struct leftover *items;
	size_t count, room;
};

/* Copies all texts. */
void leftovers_add(struct leftovers *all, const struct leftover *one);

/* As resources_read(), without a look at any. */
struct resource *resources_unseen(const struct resources *all);
/*
 * Reads each of them, in their order.  Returns a new array of as many, with
 * kind, name and job filled in, or NULL.
 */
struct resource *resources_read(const struct resources *all, void *ctx,
				struct error *err);
void resources_forget(struct resource *observed, size_t count);

/* For `read` of a run that is there: all but its state, attempt and exit code.
 * Takes the properties; any of the four may be NULL. */
void resource_found(struct resource *found, json_t *properties,
		    const char *digest, const char *digest2, const char *why);

/* What a provider may use; lives as long as its context. */
struct provider_env {
	struct store *store; /* NULL: nothing is remembered */
	const struct catalogue *catalogue;
	const char *trace_http; /* where requests are recorded, or NULL */
	/* How far job files may reach; NULL: what they name was allowed when
	 * the job was applied. */
	const struct boundary *boundary;
	bool take_over;     /* a run of another origin's job of that name */
	bool share_devices; /* with processes that no run has started */
	/* For YAML of other programs, which core can't read: yaml_read() of
	 * schema/read/yaml_read.h. */
	json_t *(*read_yaml)(const char *text, size_t len, const char *name,
			     struct error *err);
};

enum wait_state {
	WAIT_PENDING, /* ask again */
	WAIT_DONE,    /* it is as wanted; for a run: it ended, see its status */
};

enum kind_flag {
	KIND_RUN = 1 << 0,    /* a run of a job: started, followed, ended */
	KIND_BILLED = 1 << 1, /* costs money while it exists */
	/* Is of use only while a run of its job goes on: after its end it is
	 * deleted, as jobrun.cleanup says. */
	KIND_FOR_RUN = 1 << 2,
	/* Of KIND_RUN: its `cancel` finds out itself whether the run had ended.
	 * It is called before anything else is asked. */
	KIND_CANCEL_FIRST = 1 << 3,
};

/*
 * Calls may block (the executor makes them from threads of its own, several
 * at once for different resources) and classify their errors: retried are
 * ERROR_TRY_AGAIN and ERROR_UNREACHABLE that are not `final`, nothing else.
 */
struct kind {
	const char *name; /* "tpu-node", in plans and messages */
	unsigned flags;
	const char *const *replace_on; /* properties that cannot change in
					* place, up to NULL */
	/* The property that maps files to their digests (core/job/source.h): plans
	 * name those that changed instead of showing it.  Or NULL. */
	const char *files;
	/* Properties whose values are not shown, wherever they come from, up
	 * to NULL.  One that is wanted as a secret of the job need not be
	 * named here. */
	const char *const *sensitive;
	int poll_ms; /* from one `wait` to the next; 0: one second */

	/* Leaves `found->exists` false if it is not there: that is no error.
	 * Sets exists, properties and outputs (new) and, for a run, its
	 * status. */
	int (*read)(void *ctx, const struct resource *want,
		    struct resource *found, struct error *err);
	/*
	 * Completes what is wanted, its request for instance, now that it is
	 * known what is there: names that can be used only once, a project
	 * that no file says.  No I/O.  NULL: there is nothing to complete.
	 */
	void (*adapt)(struct resource *want, const struct resource *found);
	/* Adopts what an earlier, killed try has left.  For a run: starts
	 * it, and returns when it is on its way. */
	int (*create)(void *ctx, const struct resource *want,
		      struct error *err);
	/* NULL: every change is a replacement. */
	int (*update)(void *ctx, const struct resource *want,
		      struct error *err);
	/* Gone already is success.  For a run: forgets it, logs included.
	 * NULL, beside an `update` and no `list`: it is not the job's alone,
	 * and stays. */
	int (*delete)(void *ctx, const struct resource *have,
		      struct error *err);
	/* Looks once, never sleeps.  NULL: done when created.  While it is
	 * pending `err` may say what is waited for; it is empty before.
	 * A failure that no other try would mend means that the thing is
	 * lost: what reads it next finds that it has to be replaced. */
	int (*wait)(void *ctx, const struct resource *have,
		    enum wait_state *state, struct error *err);

	/* Of KIND_FOR_RUN: says that it is needed still, as what has not been
	 * renewed for long is deleted, by gc or by itself.  Called often, asks
	 * seldom.  NULL: it needs none. */
	int (*renew)(void *ctx, const struct resource *have, struct error *err);

	/*
	 * Adds all of this kind that jobrun has made in a place, by their
	 * labels (core/provider/listing.h), with what their other calls need: name and
	 * place.  `place` is one that provider->place() gave; NULL: where
	 * things are if no job says where.
	 */
	int (*list)(void *ctx, const char *place, struct listing *out,
		    struct error *err);

	/* For runs only: */
	/* Asks it to end; `now` without the grace.  Ended is success.  1: it
	 * will, and `err` says what stood in the way. */
	int (*cancel)(void *ctx, const struct resource *have, bool now,
		      struct error *err);
	/*
	 * Called for many runs before each is waited for: one request for all
	 * of them brings them up to date, in the store too.  Sets `fresh` for
	 * runs about which `wait` could learn no more, and leaves what could
	 * not be had for `wait` to report.  New texts live in `mem`.  NULL:
	 * each is waited for.
	 */
	void (*refresh)(void *ctx, struct run_record *const *runs, size_t count,
			struct arena *mem, bool *fresh);
	/* A descriptor that is readable when `wait` is worth asking before
	 * the next `poll_ms` are over; the caller reads and closes it. */
	int (*watch)(void *ctx, const struct resource *have, int *fd,
		     struct error *err);
};

/* What becomes of a field, and of all below it, at a provider: for people. */
struct field_use {
	const char *path; /* "trainingInput.workerConfig" */
	const char *doc;  /* "one process each"; NULL: nothing */
};

struct provider {
	const char *name;                /* as jobrun.provider has it */
	const char *summary;             /* one line, for help */
	const struct kind *const *kinds; /* up to NULL; a run's is the last */
	const struct message *block;     /* its fields, or NULL */
	/* Up to a row with no path, for `explain`: the longest path that a
	 * field is at or below counts, and none means that nothing becomes of
	 * it.  NULL: the provider does not say. */
	const struct field_use *uses;
	unsigned traits; /* what it can do: core/job/traits.h */
	bool asks; /* apply needs a yes: it costs or changes something that
		    * others see */

	/* Machine types and accelerators of the file mean nothing there: what
	 * a run uses is not estimated. */
	bool ignores_machines;

	/* How often the job has what its file names as its TPU.  NULL: once. */
	long (*slices)(const struct job *job);

	/*
	 * What only the job's file names and would be contacted to read its
	 * resources: "the login host 'h1'".  Lives in `mem`.  NULL, or returning
	 * NULL: nothing but the provider's own services, or what the user has
	 * configured.
	 */
	const char *(*contacts)(const struct job *job,
				const struct boundary *boundary,
				struct arena *mem);
	/* What should exist for this job; no I/O. */
	int (*desire)(const struct job *job, const struct provider_env *env,
		      struct resources *out, struct error *err);
	/* Where the resources of a job are, for `list`: lives in `mem`.  NULL,
	 * or returning NULL: where things are if no job says where. */
	const char *(*place)(const struct job *job, struct arena *mem);
	/*
	 * What it left behind that is no resource of a job, for gc: nothing
	 * that somebody alive uses.  `sweep` removes one, after having looked
	 * again whether that still holds; gone already is success.  Both, or
	 * NULL.
	 */
	int (*leftovers)(void *ctx, struct leftovers *out, struct error *err);
	int (*sweep)(void *ctx, const struct leftover *one, struct error *err);
	/* What a task of the job will see in its environment, or saw in that
	 * of its run, but for the values of secrets and what it inherits.
	 * NULL: it can't be known here. */
	int (*environment)(void *ctx, const struct job *job,
			   enum task_type type, int index,
			   struct environment *out, struct error *err);
	/* The `ctx` of its kinds, or NULL with `err` set.  A provider without
	 * it has fields and rules only: its jobs are checked, not run. */
	void *(*open)(const struct provider_env *env, struct error *err);
	void (*close)(void *ctx);

	/* What it brings to jobrun's commands, each or NULL; several providers
	 * may bring the same. */
	/* How a process finds out that it runs there, and with whom
	 * (core/topology/topology_read.h), and whom it asks (platform.h). */
	const struct topology_reader *reader;
	const struct platform *platform;
	/* See core/provider/extension.h. */
	const struct provider_render *render;
	const struct provider_trials *trials;
	const struct provider_command *const *commands; /* up to NULL */
	/* What its jobs need here and elsewhere: adds to `out`
	 * (core/provider/checks.h). */
	void (*doctor)(const char *trace_http, struct checks *out);
};

/* What these providers, up to NULL, have as readers. */
void provider_readers(const struct provider *const *all,
		      struct topology_readers *out);

/* It has kinds with KIND_FOR_RUN. */
bool provider_makes_for_runs(const struct provider *provider);

/* The kind with KIND_RUN. */
const struct kind *provider_run_kind(const struct provider *provider);

#endif
