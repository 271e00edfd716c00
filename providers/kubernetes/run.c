/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run is one JobSet or Job, named after its job: the API server keeps names
 * apart, so that there is never a second one.  An earlier run has to be gone
 * before the next is made; its attempt, its digest and what was wanted are
 * kept in its labels and annotations.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/json.h"
#include "core/base/text.h"
#include "providers/kubernetes/block.h"
#include "providers/kubernetes/follow.h"
#include "providers/kubernetes/internal.h"
#include "providers/kubernetes/names.h"

/* An earlier run takes the grace of its pods to go. */
#define GONE_MAX_MS 120000
#define GONE_POLL_MS 200
#define GRACE_SLACK_MS 30000

/* ---- which it is ------------------------------------------------------- */

/* A JobSet where the cluster has them, unless the file says otherwise. */
static int choose_type(const struct kube_at *at, const struct job *job,
		       const struct kube_type **out, struct error *err)
{
	const struct kubernetes_block *block = job_block(job, "kubernetes");
	int how = block ? block->controller : CONTROLLER_AUTO;
	int has = 1;

	if (how == CONTROLLER_AUTO)
		has = apiserver_has(at->api, JOBSET_GROUP, err);
	if (has < 0)
		return -1;
	*out = how == CONTROLLER_JOB || !has ? &type_job : &type_jobset;
	return 0;
}

static int attempt_of(const json_t *object)
{
	struct error ignored;
	long n;

	return number_parse(object_label(object, KUBE_LABEL_ATTEMPT), 1,
			    1000000, &n, &ignored) == 0
		       ? (int)n
		       : 1;
}

static int check_owner(const struct job *job, const json_t *object,
		       struct error *err)
{
	const char *whose = object_note(object, KUBE_NOTE_JOB);

	if (!strcmp(whose, job->job_id))
		return 0;
	return error_set_final(
		err, ERROR_FAILED, "%s '%s' is there already and %s%s%s",
		json_get_text(object, "kind", "an object"),
		object_meta(object, "name"),
		*whose ? "belongs to the job '" : "was not made by jobrun",
		whose, *whose ? "'" : "");
}

/* ---- reading ----------------------------------------------------------- */

static void show(const struct job *job, const json_t *object, struct arena *mem,
		 struct resource *found)
{
	const char *text = object_note(object, KUBE_NOTE_PROPERTIES);
	const char *why;
	struct error ignored;

	found->exists = true;
	found->properties =
		json_read(text, strlen(text), "annotation", &ignored);
	if (!found->properties)
		found->properties = json_object();
	found->run.state = state_of(object);
	found->run.attempt = attempt_of(object);
	found->run.exit_code = -1;
	snprintf(found->run.digest.hex, sizeof(found->run.digest.hex), "%s",
		 object_note(object, KUBE_NOTE_DIGEST));
	why = found->run.state == RUN_FAILED ? state_why(object, mem) : NULL;
	snprintf(found->run.error, sizeof(found->run.error), "%s",
		 why ? why : "");
	(void)job;
}

/*
 * What the cluster says to it: its admission has the last word on what is
 * applied.  Where there is an earlier run the name is taken, so that another
 * is asked about.
 */
static int rehearse(const struct kube_at *at, const struct kube_type *type,
		    const json_t *body, bool taken, json_t *outputs,
		    struct error *err)
{
	json_t *trial = json_deep_copy(body);
	char *warning = NULL, *name;
	int ret;

	if (taken) {
		name = mem_printf("%s-next", object_meta(body, "name"));
		json_object_set_new(json_object_get(trial, "metadata"), "name",
				    json_text(name));
		free(name);
	}
	ret = object_apply(at, type, trial, true, NULL, &warning, err);
	if (ret == 0)
		json_put_text(outputs, "dryRun", "accepted");
	else
		error_prefix(err, "the cluster refuses it");
	if (warning)
		json_put_text(outputs, "warning", warning);
	free(warning);
	json_decref(trial);
	return ret;
}

/* What `adapt` needs: the call that makes it in this cluster. */
static int prepare(struct kube *kube, const struct kube_at *at,
		   const struct kube_type *type, const struct job *job,
		   const json_t *object, struct arena *mem,
		   struct resource *found, struct error *err)
{
	struct kube_job made;
	const json_t *body;
	bool same = object && !strcmp(object_note(object, KUBE_NOTE_DIGEST),
				      job->digest.hex);
	int ret = kube_translate(job, kube->env.catalogue, mem, &made, err);

	if (ret < 0)
		return -1;
	body = type == &type_job ? made.indexed : made.jobset;
	if (!body)
		ret = error_set(err, ERROR_FAILED, "%s",
				kube_why_no_jobset(&made));
	found->outputs = json_object();
	json_put(found->outputs, "url",
		 json_sprintf("%s%s?fieldManager=" FIELD_MANAGER,
			      apiserver_server(at->api),
			      type_path(type, at, made.name, mem)));
	if (ret == 0)
		json_object_set(found->outputs, "body", (json_t *)body);
	/* Without an image there is nothing to ask about. */
	if (ret == 0 && !same && !kube_needs(&made))
		ret = rehearse(at, type, body, object, found->outputs, err);
	kube_job_done(&made);
	return ret;
}

/* One whose object is gone is what is remembered of it. */
static void show_remembered(struct kube *kube, const struct resource *want,
			    struct arena *mem, struct resource *found)
{
	struct kube_record record;
	struct error ignored;

	if (record_get(kube, want->name, mem, &record, &ignored) != 0 ||
	    !run_state_is_final(record.run.state))
		return;
	found->exists = true;
	found->properties = record.properties
				    ? json_read(record.properties,
						strlen(record.properties),
						"store", &ignored)
				    : NULL;
	if (!found->properties)
		found->properties = json_object();
	found->run.state = record.run.state;
	found->run.attempt = record.run.attempt;
	found->run.exit_code = record.run.exit_code;
	snprintf(found->run.digest.hex, sizeof(found->run.digest.hex), "%s",
		 record.run.digest);
	snprintf(found->run.error, sizeof(found->run.error), "%s",
		 record.run.error ? record.run.error : "");
}

/* Without its file, where a job is is what is remembered, or listed. */
static int find_run(struct kube *kube, const struct resource *want,
		    struct arena *mem, const char **place,
		    const struct kube_type **type, struct kube_at *at,
		    struct error *err)
{
	struct kube_record record;
	int ret = 0;

	*place = want->place;
	*type = NULL;
	if (!want->job || !want->job->file) {
		ret = record_get(kube, want->name, mem, &record, err);
		if (ret == 0) {
			*place = record.place;
			*type = record.type;
		}
	}
	if (ret == 1 && *place)
		ret = 0;
	if (ret == 0 && !kube_is_known(*place))
		return 1;
	if (ret == 0)
		ret = kube_find(kube, *place, at, err);
	if (ret == 0 && !*type)
		ret = choose_type(at, want->job, type, err);
	return ret;
}

static int run_read(void *ctx, const struct resource *want,
		    struct resource *found, struct error *err)
{
	struct kube *kube = ctx;
	struct arena *mem = arena_new();
	const struct kube_type *type;
	const char *place;
	json_t *object = NULL;
	struct error ignored;
	struct kube_at at;
	int ret = find_run(kube, want, mem, &place, &type, &at, err);

	if (ret == 0)
		ret = object_get(&at, type, kube_name(want->name, mem), &object,
				 err);
	else if (ret == 1)
		goto out;
	if (ret == 0 && want->job)
		ret = check_owner(want->job, object, err);
	if (ret >= 0 && want->job && want->job->file)
		ret = prepare(kube, &at, type, want->job, object, mem, found,
			      err);
	/* One that is being deleted is as good as gone. */
	if (ret >= 0 && object && !*object_meta(object, "deletionTimestamp")) {
		show(want->job, object, mem, found);
		/* Another machine may have started it.  Where the store can't
		 * be written, nothing is remembered. */
		if (kube->env.store && want->job && want->job->file)
			record_put(kube, want->job, place, type, object,
				   &ignored);
	} else if (ret >= 0 && !object) {
		show_remembered(kube, want, mem, found);
	}
out:
	json_decref(object);
	arena_free(mem);
	return ret < 0 ? -1 : 0;
}

static void run_adapt(struct resource *want, const struct resource *found)
{
	const char *key;
	json_t *value;

	json_object_foreach(found->outputs, key, value)
		json_object_set(want->request, key, value);
}

/* ---- starting ---------------------------------------------------------- */

/* Waits until the name is free: `name` in a request would be refused. */
static int wait_gone(const struct kube_at *at, const struct kube_type *type,
		     const char *name, int64_t grace_ms, struct error *err)
{
	int64_t until = time_monotonic_ms() + GONE_MAX_MS + grace_ms;
	json_t *object = NULL;
	int ret;

	for (;;) {
		ret = object_get(at, type, name, &object, err);
		json_decref(object);
		object = NULL;
		if (ret != 0)
			return ret < 0 ? -1 : 0;
		if (time_monotonic_ms() >= until)
			return error_set(
				err, ERROR_TRY_AGAIN,
				"the earlier %s '%s' is still being "
				"deleted: 'kubectl describe' says what "
				"holds it",
				type->kind, name);
		if (http_sleep(apiserver_http(at->api), GONE_POLL_MS, err) < 0)
			return -1;
	}
}

/* What it owns goes before it does, so that nothing of what is made anew is
 * taken for it. */
static int remove_earlier(const struct kube_at *at,
			  const struct kube_type *type, const json_t *object,
			  const char *name, int64_t grace_ms, struct error *err)
{
	if (object_delete(at, type, name, object_meta(object, "uid"),
			  "Foreground", err) < 0)
		return -1;
	return wait_gone(at, type, name, grace_ms, err);
}

/* With what tells this run from others. */
static json_t *complete(const struct resource *want, int attempt)
{
	json_t *body = json_deep_copy(json_object_get(want->request, "body"));
	json_t *meta = json_object_get(body, "metadata");
	json_t *notes = json_object_get(meta, "annotations");
	struct labels labels = labels_of(want->job, time_now_ms());
	char *text = json_canonical(want->properties);
	char when[40];

	json_object_set_new(json_object_get(meta, "labels"), KUBE_LABEL_ATTEMPT,
			    json_sprintf("%d", attempt));
	json_object_set_new(notes, KUBE_NOTE_PROPERTIES, json_text(text));
	if (labels.expire_time_ms) {
		time_format(labels.expire_time_ms, when, sizeof(when));
		json_object_set_new(notes, KUBE_NOTE_EXPIRES, json_text(when));
	}
	free(text);
	return body;
}

/* It is there: what belongs to it is its, and it is remembered. */
static int take_over(struct kube *kube, const struct resource *want,
		     const struct kube_at *at, const struct kube_type *type,
		     const char *name, const json_t *object, struct error *err)
{
	struct arena *mem = arena_new();
	struct kube_record record;
	char *folder = NULL;
	int ret = record_put(kube, want->job, want->place, type, object, err);

	if (ret == 0)
		ret = record_get(kube, want->job->job_id, mem, &record, err);
	if (ret == 0) {
		folder = store_run_folder(kube->env.store, record.run.job_id,
					  record.run.attempt);
		ret = objects_own_once(at, name, object, folder, err);
	}
	free(folder);
	arena_free(mem);
	return ret < 0 ? -1 : 0;
}

static int start(struct kube *kube, const struct resource *want,
		 const struct kube_at *at, const struct kube_type *type,
		 int last, const char *name, struct error *err)
{
	json_t *body = complete(want, last + 1), *made = NULL;
	int ret = object_apply(at, type, body, false, &made, NULL, err);

	if (ret == 0)
		ret = take_over(kube, want, at, type, name, made, err);
	json_decref(made);
	json_decref(body);
	return ret;
}

/* One with the job's digest that was not there when this was planned is what
 * an earlier try has left. */
static bool is_ours(const struct resource *want, const json_t *object)
{
	return attempt_of(object) > want->run.attempt &&
	       !strcmp(object_note(object, KUBE_NOTE_DIGEST),
		       want->job->digest.hex) &&
	       !*object_meta(object, "deletionTimestamp");
}

static int run_create(void *ctx, const struct resource *want, struct error *err)
{
	struct kube *kube = ctx;
	struct arena *mem = arena_new();
	const char *name = kube_name(want->name, mem);
	int64_t grace_ms = (int64_t)want->job->jobrun.grace_s * 1000;
	const struct kube_type *type = &type_jobset;
	json_t *object = NULL;
	struct kube_at at;
	int last = want->run.attempt;
	int ret = kube_find(kube, want->place, &at, err);

	if (ret == 0)
		ret = choose_type(&at, want->job, &type, err);
	if (ret == 0)
		ret = object_get(&at, type, name, &object, err);
	if (ret == 0)
		ret = check_owner(want->job, object, err);
	if (ret == 0 && is_ours(want, object)) {
		ret = take_over(kube, want, &at, type, name, object, err);
		goto out;
	}
	if (ret == 0) {
		last = attempt_of(object) > last ? attempt_of(object) : last;
		ret = remove_earlier(&at, type, object, name, grace_ms, err);
	}
	if (ret >= 0)
		ret = objects_ensure(kube, &at, want->job, type, err);
	if (ret == 0)
		ret = start(kube, want, &at, type, last, name, err);
out:
	json_decref(object);
	arena_free(mem);
	return ret;
}

/* ---- ending ------------------------------------------------------------ */

/* Without the grace: the pods at once. */
static int kill_pods(const struct kube_at *at, const char *name,
		     struct arena *mem, struct error *err)
{
	const char *query[] = { "labelSelector",
				arena_printf(mem, "%s=%s", KUBE_LABEL_JOB,
					     name),
				"gracePeriodSeconds", "0", NULL };
	struct apiserver_request request = {
		.method = "DELETE",
		.path = type_path(&type_pod, at, NULL, mem),
		.query = query,
		.repeatable = true,
	};
	struct apiserver_answer answer = { 0 };
	int ret = apiserver_call(at->api, &request, &answer, err);

	apiserver_answer_done(&answer);
	return ret;
}

/* What a call is about: the run that is remembered here, or of another
 * machine's the object alone.  1: there is none. */
static int find_old(struct kube *kube, const struct resource *have,
		    struct arena *mem, struct kube_record *out,
		    struct kube_at *at, struct error *err)
{
	int ret = record_get(kube, have->name, mem, out, err);

	if (ret == 1 && have->place && kube_is_known(have->place)) {
		*out = (struct kube_record){
			.place = have->place, .name = kube_name(have->name, mem)
		};
		out->run.job_id = have->name;
		ret = kube_find(kube, have->place, at, err);
		if (ret == 0)
			ret = apiserver_has(at->api, JOBSET_GROUP, err);
		out->type = ret > 0 ? &type_jobset : &type_job;
		return ret < 0 ? -1 : 0;
	}
	if (ret == 0)
		ret = kube_find(kube, out->place, at, err);
	return ret;
}

/* Not that of another job, whose name is nearly the same. */
static int get_own(const struct kube_at *at, const struct kube_record *record,
		   json_t **out, struct error *err)
{
	int ret = object_get(at, record->type, record->name, out, err);

	if (ret == 0 &&
	    strcmp(object_note(*out, KUBE_NOTE_JOB), record->run.job_id) != 0) {
		json_decref(*out);
		*out = NULL;
		ret = 1;
	}
	return ret;
}

/* A Job can only be ended by deleting it; that it was asked for is what the
 * record says then. */
static int run_cancel(void *ctx, const struct resource *have, bool now,
		      struct error *err)
{
	struct kube *kube = ctx;
	struct arena *mem = arena_new();
	struct kube_record record = { 0 };
	json_t *object = NULL;
	struct kube_at at;
	int ret = find_old(kube, have, mem, &record, &at, err);

	if (ret != 0 || run_state_is_final(record.run.state))
		goto out;
	record.run.state = RUN_CANCELLING;
	if (record.uid)
		ret = store_run_put(kube->env.store, &record.run, err);
	if (ret == 0)
		ret = get_own(&at, &record, &object, err);
	if (ret == 0)
		ret = object_delete(&at, record.type, record.name,
				    record.uid ? record.uid
					       : object_meta(object, "uid"),
				    "Foreground", err);
	if (ret == 0 && now)
		ret = kill_pods(&at, record.name, mem, err);
out:
	json_decref(object);
	arena_free(mem);
	return ret < 0 ? -1 : 0;
}

/* The newest run's object, and what it has beside it. */
static int forget(const struct kube_record *record, const struct kube_at *at,
		  struct error *err)
{
	json_t *object = NULL;
	int ret = get_own(at, record, &object, err);

	if (ret == 0 && !run_state_is_final(state_of(object)) &&
	    !*object_meta(object, "deletionTimestamp"))
		ret = error_set(err, ERROR_TRY_AGAIN,
				"it is still running: 'jobrun cancel %s' ends "
				"it",
				record->run.job_id);
	if (ret == 0)
		ret = object_delete(at, record->type, record->name,
				    object_meta(object, "uid"), "Background",
				    err);
	if (ret >= 0)
		ret = objects_delete(at, record->name, err);
	json_decref(object);
	return ret;
}

static int run_delete(void *ctx, const struct resource *have, struct error *err)
{
	struct kube *kube = ctx;
	struct arena *mem = arena_new();
	struct kube_record record;
	struct kube_at at;
	int ret;

	do {
		record = (struct kube_record){ 0 };
		ret = find_old(kube, have, mem, &record, &at, err);
		if (ret == 0)
			ret = forget(&record, &at, err);
		if (ret == 0 && record.uid)
			ret = store_run_delete(kube->env.store, &record.run,
					       err);
	} while (ret == 0 && record.uid);
	arena_free(mem);
	return ret < 0 ? -1 : 0;
}

/* ---- listing ----------------------------------------------------------- */

struct run_walk {
	const char *place;
	struct listing *out;
};

static int take_runs(void *arg, const json_t *page, struct error *err)
{
	struct run_walk *walk = arg;
	const json_t *item;
	size_t i;

	(void)err;
	json_array_foreach(json_object_get(page, "items"), i, item)
		object_listed(&kind_kube_run, walk->place, item, walk->out);
	return 0;
}

/* Of a run whose object is gone, what this machine has is left. */
static int list_remembered(struct kube *kube, const char *place,
			   struct listing *out, struct error *err)
{
	struct arena *mem = arena_new();
	struct kube_record record;
	struct run_list all;
	size_t i;
	int ret = store_run_list(kube->env.store, false, mem, &all, err);

	for (i = 0; ret == 0 && i < all.count; i++) {
		const struct run_record *run = &all.items[i];
		struct listed one = {
			.kind = &kind_kube_run,
			.name = run->job_id,
			.labels = { .job_id = run->job_id,
				    .digest = run->digest },
			.create_time_ms = run->create_time_ms,
			.live = !run_state_is_final(run->state),
			.succeeded = run->state == RUN_SUCCEEDED,
		};

		if (record_get(kube, run->job_id, mem, &record, err) != 0)
			continue;
		one.place = record.place;
		if (!place || !strcmp(place, record.place))
			listing_add(out, &one);
	}
	arena_free(mem);
	return ret;
}

static int run_list(void *ctx, const char *place, struct listing *out,
		    struct error *err)
{
	static const char *const query[] = { "labelSelector",
					     KUBE_LABEL_ATTEMPT, NULL };
	struct run_walk walk = { place ? place : KUBE_ANYWHERE, out };
	struct arena *mem;
	struct kube_at at;
	int ret = list_remembered(ctx, place, out, err);

	if (ret < 0 || !kube_is_known(place))
		return ret;
	if (kube_find(ctx, place, &at, err) < 0)
		return -1;
	mem = arena_new();
	ret = apiserver_has(at.api, JOBSET_GROUP, err);
	if (ret > 0)
		ret = apiserver_list(at.api,
				     type_path(&type_jobset, &at, NULL, mem),
				     query, take_runs, &walk, err);
	if (ret >= 0)
		ret = apiserver_list(at.api,
				     type_path(&type_job, &at, NULL, mem),
				     query, take_runs, &walk, err);
	arena_free(mem);
	return ret;
}

const struct kind kind_kube_run = {
	.name = "job",
	.flags = KIND_RUN,
	.files = "source.files",
	.poll_ms = KUBE_POLL_MS,
	.read = run_read,
	.adapt = run_adapt,
	.create = run_create,
	.delete = run_delete,
	.wait = kube_wait,
	.cancel = run_cancel,
	.watch = kube_watch,
	.list = run_list,
};
