/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/kubernetes/run.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/base/units.h"
#include "core/provider/listing.h"
#include "providers/kubernetes/manifest/kube_block.h"
#include "providers/kubernetes/companions.h"
#include "providers/kubernetes/kube_enter.h"
#include "providers/kubernetes/kube_follow.h"
#include "providers/kubernetes/manifest/launcher.h"
#include "providers/kubernetes/list.h"
#include "providers/kubernetes/manifest/kube_names.h"
#include "providers/kubernetes/record.h"
#include "providers/kubernetes/success.h"
#include "providers/kubernetes/whereabouts.h"

/* How long, beyond the grace of its pods, an earlier run may take to go. */
#define GONE_MAX_MS 120000
#define GONE_POLL_MS 200
/* The annotations may have 256 KiB in all, of which a part is for others. */
#define PROPERTIES_MAX (192u << 10)

int run_choose_type(const struct kube_at *at, const struct job *job,
		    const struct kube_type **out, struct error *err)
{
	const struct kubernetes_block *block = job_block(job, "kubernetes");
	bool plain = kube_wants_job(job);
	int has = 1;

	if (!plain && (!block || block->controller == CONTROLLER_AUTO))
		has = apiserver_has(at->api, JOBSET_GROUP, err);
	if (has < 0)
		return -1;
	*out = plain || !has ? &type_job : &type_jobset;
	return 0;
}

int run_get_either(const struct kube_at *at, const char *job_id,
		   const char *name, const struct kube_type **type,
		   json_t **out, struct error *err)
{
	const struct kube_type *other =
		*type == &type_job ? &type_jobset : &type_job;
	json_t *found = NULL;
	struct error denied;
	int ret = object_get(at, *type, name, out, err);

	if (ret == 0)
		return object_check_owner(*out, job_id, err);
	if (ret == 1 && other == &type_jobset) {
		ret = apiserver_has(at->api, JOBSET_GROUP, err);
		if (ret <= 0)
			return ret < 0 ? -1 : 1;
	}
	if (ret < 0)
		return -1;
	ret = object_get(at, other, name, &found, &denied);
	/* Without the right to read such objects we have created none. */
	if (ret < 0 && denied.code != ERROR_DENIED) {
		*err = denied;
		return -1;
	}
	if (ret < 0)
		ret = 1;
	/* An object of another job is no conflict here. */
	if (ret == 0 && strcmp(object_note(found, KUBE_NOTE_JOB), job_id) != 0)
		ret = 1;
	if (ret != 0) {
		json_decref(found);
		return ret;
	}
	*out = found;
	*type = other;
	return 0;
}

int run_look_for(const struct kube_at *at, const char *name,
		 const struct kube_type **type, json_t **out, struct error *err)
{
	int ret = apiserver_has(at->api, JOBSET_GROUP, err);

	*type = &type_jobset;
	if (ret >= 0)
		ret = ret ? object_get(at, *type, name, out, err) : 1;
	if (ret == 1) {
		*type = &type_job;
		ret = object_get(at, *type, name, out, err);
	}
	return ret;
}

int run_attempt_of(const json_t *object)
{
	struct error ignored;
	long n;

	return number_parse(object_label(object, KUBE_LABEL_ATTEMPT), 1,
			    1000000, &n, &ignored) == 0
		       ? (int)n
		       : 1;
}

/* ---- starting ---------------------------------------------------------- */

/* Waits until the name is free, as a request with a used name would be
 * refused. */
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

/* Deletes an earlier run after the objects it owns, which could be mistaken for
 * new ones. */
static int remove_earlier(const struct kube_at *at,
			  const struct kube_type *type, const json_t *object,
			  const char *name, int64_t grace_ms, struct error *err)
{
	if (object_delete(at, type, name, object_meta(object, "uid"),
			  "Foreground", err) < 0)
		return -1;
	return wait_gone(at, type, name, grace_ms, err);
}

/* Returns the properties for an annotation.  A very long list of files is left
 * out, while their digest stays. */
static char *properties_text(const struct resource *want)
{
	char *text = json_canonical(want->properties);
	json_t *shorter;

	if (strlen(text) <= PROPERTIES_MAX)
		return text;
	free(text);
	shorter = json_deep_copy(want->properties);
	json_object_del(json_object_get(shorter, "source"), "files");
	text = json_canonical(shorter);
	json_decref(shorter);
	if (strlen(text) > PROPERTIES_MAX)
		strcpy(text, "{}");
	return text;
}

json_t *run_complete(const struct resource *want, const json_t *request,
		     int attempt)
{
	json_t *body = json_deep_copy(request);
	json_t *meta = json_object_get(body, "metadata");
	json_t *notes = json_object_get(meta, "annotations");
	struct labels labels = labels_of(want->job, time_now_ms());
	char *text = properties_text(want);
	char when[40];

	json_object_set_new(json_object_get(meta, "labels"), KUBE_LABEL_ATTEMPT,
			    json_sprintf("%d", attempt));
	json_object_set_new(notes, KUBE_NOTE_PROPERTIES, json_text(text));
	json_put_text(notes, KUBE_NOTE_DIGEST_2, want->job->digest2.hex);
	if (labels.expire_time_ms) {
		time_format(labels.expire_time_ms, when, sizeof(when));
		json_object_set_new(notes, KUBE_NOTE_EXPIRES, json_text(when));
	}
	free(text);
	return body;
}

/* Takes over an existing object: makes it the owner of the objects beside it,
 * and records it. */
static int take_over(struct kube *kube, const struct resource *want,
		     const struct kube_at *at, const struct kube_type *type,
		     const json_t *object, struct error *err)
{
	struct arena *mem = arena_new();
	struct kube_record record;
	char *folder = NULL;
	int ret =
		record_put(kube, want->job, want->place, at, type, object, err);

	if (ret == 0)
		ret = record_get(kube, want->job->job_id, mem, &record, err);
	if (ret == 0) {
		folder = store_run_folder(kube->env.store, record.run.job_id,
					  record.run.attempt);
		ret = companions_own(at, object, folder, err);
	}
	free(folder);
	arena_free(mem);
	return ret < 0 ? -1 : 0;
}

static int start(struct kube *kube, const struct resource *want,
		 const struct kube_at *at, const struct kube_type *type,
		 int last, struct error *err)
{
	json_t *body = run_complete(
		want, json_object_get(want->request, "body"), last + 1);
	json_t *made = NULL;
	int ret = object_apply(at, type, body, false, &made, NULL, err);

	if (ret == 0)
		ret = take_over(kube, want, at, type, made, err);
	json_decref(made);
	json_decref(body);
	return ret;
}

/* Whether an earlier try left the object: it has the job's digest, and was not
 * there when this was planned. */
static bool is_ours(const struct resource *want, const json_t *object)
{
	return run_attempt_of(object) > want->run.attempt &&
	       job_was_run(want->job, object_note(object, KUBE_NOTE_DIGEST),
			   object_note(object, KUBE_NOTE_DIGEST_2)) &&
	       !*object_meta(object, "deletionTimestamp");
}

/* Refuses a second run while one goes on at another place. */
static int refuse_second(struct kube *kube, const struct resource *want,
			 const struct kube_at *at, struct arena *mem,
			 struct error *err)
{
	struct kube_record record;
	int ret = record_get(kube, want->job->job_id, mem, &record, err);

	if (ret != 0 || run_state_is_final(record.run.state) ||
	    !whereabouts_differ(&record, at))
		return ret < 0 ? -1 : 0;
	return error_set_final(err, ERROR_TRY_AGAIN,
			       "its run is still going in %s; 'jobrun cancel "
			       "%s' stops it",
			       record.where, want->job->job_id);
}

static int run_create(void *ctx, const struct resource *want, struct error *err)
{
	struct kube *kube = ctx;
	struct arena *mem = arena_new();
	const char *name = kube_name(want->name, mem);
	int64_t grace_ms = launcher_grace_s(want->job) * 1000LL;
	const struct kube_type *type = &type_jobset, *was;
	json_t *object = NULL;
	struct kube_at at;
	struct error ignored;
	int last = want->run.attempt;
	int ret = kube_find(kube, want->place, &at, err);

	if (ret == 0)
		ret = refuse_second(kube, want, &at, mem, err);
	if (ret == 0)
		ret = run_choose_type(&at, want->job, &type, err);
	was = type;
	if (ret == 0)
		ret = run_get_either(&at, want->job->job_id, name, &was,
				     &object, err);
	if (ret == 0 && is_ours(want, object)) {
		ret = take_over(kube, want, &at, was, object, err);
		goto out;
	}
	if (ret == 0) {
		last = run_attempt_of(object) > last ? run_attempt_of(object)
						     : last;
		ret = remove_earlier(&at, was, object, name, grace_ms, err);
	}
	if (ret >= 0)
		ret = companions_ensure(kube, &at, want->job, type, err);
	/* An earlier success does not mean that this run succeeds. */
	if (ret == 0 && kube_has_ttl(want->job))
		success_delete(&at, want->job->job_id, name, &ignored);
	if (ret == 0)
		ret = start(kube, want, &at, type, last, err);
out:
	json_decref(object);
	arena_free(mem);
	return ret;
}

const struct kind kind_kube_run = {
	.name = "job",
	.flags = KIND_RUN | KIND_CANCEL_FIRST,
	.files = "source.files",
	.poll_ms = KUBE_POLL_MS,
	.read = run_read,
	.adapt = run_adapt,
	.create = run_create,
	.delete = run_delete,
	.wait = kube_wait,
	.cancel = run_cancel,
	.refresh = kube_refresh,
	.adopt = run_adopt,
	.watch = kube_watch,
	.list = run_list,
	.enter = kube_enter,
};
