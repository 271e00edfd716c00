/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/kubernetes/list.h"

#include <string.h>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/provider/listing.h"
#include "providers/kubernetes/companions.h"
#include "providers/kubernetes/manifest/kube_names.h"
#include "providers/kubernetes/record.h"
#include "providers/kubernetes/rights.h"
#include "providers/kubernetes/run.h"
#include "providers/kubernetes/kube_state.h"
#include "providers/kubernetes/success.h"
#include "providers/kubernetes/whereabouts.h"

struct listing_walk {
	const struct kind *kind;
	const char *place;
	const char *where; /* the place for people */
	struct listing *out;
};

static void add_object(const struct kind *kind, const char *place,
		       const char *where, const json_t *object,
		       struct listing *out)
{
	const char *expires = object_note(object, KUBE_NOTE_EXPIRES);
	const char *set = object_note(object, KUBE_NOTE_SET);
	struct listed one = {
		.kind = kind,
		.name = object_meta(object, "name"),
		.place = place,
		.where = where,
		.labels = { .job_id = object_note(object, KUBE_NOTE_JOB),
			    .digest = object_note(object, KUBE_NOTE_DIGEST),
			    .set = *set ? set : NULL,
			    .origin = object_note(object, KUBE_NOTE_ORIGIN),
			    .cleanup = cleanup_parse(
				    object_label(object, KUBE_LABEL_CLEANUP)) },
		.create_time_ms =
			time_parse(object_meta(object, "creationTimestamp")),
	};

	if (*expires)
		one.labels.expire_time_ms = time_parse(expires);
	if (kind->flags & KIND_RUN) {
		enum run_state state = state_of(object);

		one.name = one.labels.job_id;
		one.live = !run_state_is_final(state);
		one.succeeded = state == RUN_SUCCEEDED;
	}
	if (*one.labels.job_id)
		listing_add(out, &one);
}

static int take_listed(void *arg, const json_t *page, struct error *err)
{
	struct listing_walk *walk = arg;
	const json_t *item;
	size_t i;

	(void)err;
	json_array_foreach(json_object_get(page, "items"), i, item) add_object(
		walk->kind, walk->place, walk->where, item, walk->out);
	return 0;
}

int list_objects(const struct kube_at *at, const struct kube_type *type,
		 const char *label, const struct kind *kind, const char *place,
		 struct listing *out, struct error *err)
{
	const char *const query[] = { "labelSelector", label, NULL };
	struct arena *mem = arena_new();
	struct listing_walk walk = { kind, place ? place : KUBE_ANYWHERE,
				     whereabouts_words(at, mem), out };
	int ret = apiserver_list(at->api, type_path(type, at, NULL, mem), query,
				 take_listed, &walk, err);

	arena_free(mem);
	return ret;
}

/* ---- Secrets ----------------------------------------------------------- */

/* Finds Secrets without listing them, which would show all of a namespace: they
 * have their jobs' names, which the jobs' other objects tell. */
struct secret_walk {
	const struct kube_type *type; /* type of the listed objects */
	json_t *names;                /* {"NAME": true} for possible Secrets */
};

static int take_owners(void *arg, const json_t *page, struct error *err)
{
	struct secret_walk *walk = arg;
	const json_t *item;
	size_t i;

	(void)err;
	json_array_foreach(json_object_get(page, "items"), i, item)
	{
		const char *name = object_label(item, KUBE_LABEL_JOB);
		bool is_run =
			walk->type == &type_job || walk->type == &type_jobset;

		if (*name && (!is_run || companion_of(item, &type_secret)))
			json_object_set_new(walk->names, name, json_true());
	}
	return 0;
}

/* Adds the names of the jobs that have objects of a type. */
static int add_names(const struct kube_at *at, const struct kube_type *type,
		     json_t *names, struct error *err)
{
	const char *const query[] = { "labelSelector", KUBE_LABEL_JOB, NULL };
	struct secret_walk walk = { type, names };
	struct arena *mem = arena_new();
	int ret = apiserver_list(at->api, type_path(type, at, NULL, mem), query,
				 take_owners, &walk, err);

	arena_free(mem);
	return ret;
}

int list_secrets(const struct kube_at *at, const struct kind *kind,
		 const char *place, struct listing *out, struct error *err)
{
	static const struct kube_type *const types[] = { &type_job,
							 &type_config_map,
							 &type_service };
	json_t *names = json_object(), *value, *object;
	struct arena *mem = arena_new();
	const char *name;
	size_t i;
	int ret = apiserver_has(at->api, JOBSET_GROUP, err);

	if (ret > 0)
		ret = add_names(at, &type_jobset, names, err);
	for (i = 0; i < COUNT(types) && ret == 0; i++)
		ret = add_names(at, types[i], names, err);
	json_object_foreach(names, name, value)
	{
		object = NULL;
		if (ret == 0 &&
		    object_get(at, &type_secret, name, &object, err) < 0)
			ret = -1;
		if (object)
			add_object(kind, place ? place : KUBE_ANYWHERE,
				   whereabouts_words(at, mem), object, out);
		json_decref(object);
	}
	json_decref(names);
	arena_free(mem);
	return ret < 0 ? -1 : 0;
}

/* ---- runs -------------------------------------------------------------- */

/* Lists runs, also those whose object is gone but whose record is here, and
 * those that others started from the output of 'render', which have no
 * attempt. */
int run_list(void *ctx, const char *place, struct listing *out,
	     struct error *err)
{
	struct kube_at at;
	int ret = 0;

	if (kube_is_known(place)) {
		if (kube_find(ctx, place, &at, err) < 0)
			return -1;
		ret = apiserver_has(at.api, JOBSET_GROUP, err);
		if (ret > 0)
			ret = list_objects(&at, &type_jobset, KUBE_LABEL_JOB,
					   &kind_kube_run, place, out, err);
		if (ret >= 0)
			ret = list_objects(&at, &type_job, KUBE_LABEL_JOB,
					   &kind_kube_run, place, out, err);
		if (ret >= 0 && rights_may(ctx, &at, "list", &type_config_map))
			ret = success_list(&at, &kind_kube_run, place, out,
					   err);
	}
	return ret < 0 ? -1 : record_list(ctx, &kind_kube_run, place, out, err);
}
