/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the state of a run before its job is applied, and checks what the
 * cluster would say to the next run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/json.h"
#include "providers/kubernetes/kubernetes.h"
#include "providers/kubernetes/manifest/kube_names.h"
#include "providers/kubernetes/namespace.h"
#include "providers/kubernetes/manifest/pod_security.h"
#include "providers/kubernetes/record.h"
#include "providers/kubernetes/rehearsal.h"
#include "providers/kubernetes/rights.h"
#include "providers/kubernetes/whereabouts.h"
#include "providers/kubernetes/run.h"
#include "providers/kubernetes/kube_state.h"
#include "providers/kubernetes/success.h"

void run_show(const json_t *object, enum run_state state, const char *why,
	      struct resource *found)
{
	const char *text = object_note(object, KUBE_NOTE_PROPERTIES);
	struct error ignored;

	found->run.state = state;
	found->run.attempt = run_attempt_of(object);
	found->run.exit_code = -1;
	run_status_set_origin(&found->run,
			      object_note(object, KUBE_NOTE_ORIGIN));
	resource_found(found,
		       json_read(text, strlen(text), "annotation", &ignored),
		       object_note(object, KUBE_NOTE_DIGEST),
		       object_note(object, KUBE_NOTE_DIGEST_2), why);
}

/* Adds the results of trials that the Job does not have. */
static void show_judged(struct kube *kube, const char *job_id,
			const json_t *object, struct arena *mem,
			struct resource *found)
{
	struct kube_record record;
	struct error ignored;

	if (record_get(kube, job_id, mem, &record, &ignored) != 0 ||
	    !record.trials || !run_state_is_final(record.run.state) ||
	    strcmp(record.uid, object_meta(object, "uid")) != 0)
		return;
	found->run.state = record.run.state;
	snprintf(found->run.error, sizeof(found->run.error), "%s",
		 record.run.error ? record.run.error : "");
}

/* Notes what the cluster has or requires that the file alone does not show. */
static void note_cluster(struct kube *kube, const struct kube_at *at,
			 const struct kube_job *made, json_t *body,
			 json_t *notes)
{
	const char *queue = object_label(body, KUEUE_LABEL);
	const struct kube_type *kueue;

	if (made->asks_namespace && namespace_is_restricted(kube, at)) {
		json_array_append_new(
			notes,
			json_sprintf("namespace '%s' asks for PodSecurity "
				     "'restricted': the program does not run "
				     "as root",
				     at->name_space));
		pod_security_restrict(body);
		if (made->plain_jobset)
			pod_security_restrict(made->plain_jobset);
	}
	if (*queue && kueue_type(at, KUEUE_GROUP, &kueue) == 0)
		json_array_append_new(
			notes, json_sprintf("the cluster has no Kueue: nothing "
					    "waits in queue '%s'",
					    queue));
}

/* Rehearses the run exactly as it would be applied. */
static int rehearse_run(const struct kube_at *at, const struct kube_type *type,
			const struct resource *want,
			const struct kube_job *made, const json_t *object,
			json_t *outputs, struct error *err)
{
	json_t *body = run_complete(want, json_object_get(outputs, "body"),
				    run_attempt_of(object) + 1);
	struct rehearsal all = {
		.at = at,
		.job = want->job,
		.made = made,
		.type = type,
		.body = body,
		.taken = object,
		.outputs = outputs,
		.notes = json_object_get(outputs, OUTPUT_NOTES),
	};
	int ret = rehearse(&all, err);

	json_decref(body);
	return ret;
}

/* Rehearses the run; a cluster that refuses the file's way of restarts is asked
 * again without it, and that is noted. */
static int rehearse_restarts(const struct kube_at *at,
			     const struct kube_type *type,
			     const struct resource *want,
			     const struct kube_job *made, const json_t *object,
			     json_t *outputs, struct error *err)
{
	json_t *notes = json_object_get(outputs, OUTPUT_NOTES);
	struct error why;
	int ret = rehearse_run(at, type, want, made, object, outputs, err);

	if (ret == 0 || type != &type_jobset || !made->plain_jobset ||
	    (err->code != ERROR_INVALID && err->code != ERROR_DENIED))
		return ret;
	why = *err;
	json_object_set(outputs, "body", made->plain_jobset);
	if (rehearse_run(at, type, want, made, object, outputs, err) < 0)
		return -1;
	json_array_append_new(
		notes, json_sprintf("jobrun.kubernetes.restart: all pods are "
				    "made anew: %s",
				    why.text));
	return 0;
}

/* Fills in what `adapt` needs: the API call that creates the run in this
 * cluster. */
static int prepare(struct kube *kube, const struct kube_at *at,
		   const struct kube_type *type, const struct resource *want,
		   const json_t *object, struct arena *mem,
		   struct resource *found, struct error *err)
{
	const struct job *job = want->job;
	json_t *missing = json_array(), *notes = json_array();
	struct kube_job made;
	json_t *body;
	bool same = object &&
		    job_was_run(job, object_note(object, KUBE_NOTE_DIGEST),
				object_note(object, KUBE_NOTE_DIGEST_2));
	int ret = kube_translate(job, kube->env.catalogue, mem, &made, err);

	found->outputs = json_object();
	json_put(found->outputs, OUTPUT_MISSING, missing);
	json_put(found->outputs, OUTPUT_NOTES, notes);
	if (ret < 0)
		return -1;
	rights_check(kube, at, rights_need(&made, type), missing, notes);
	body = type == &type_job ? made.indexed : made.jobset;
	if (body)
		note_cluster(kube, at, &made, body, notes);
	if (!body)
		ret = error_set(err, ERROR_FAILED, "%s",
				kube_why_no_jobset(&made));
	json_put(found->outputs, "url",
		 json_sprintf("%s%s?fieldManager=" FIELD_MANAGER,
			      apiserver_server(at->api),
			      type_path(type, at, made.name, mem)));
	if (ret == 0)
		json_object_set(found->outputs, "body", body);
	/* Without an image there is nothing to check. */
	if (ret == 0 && !same && !kube_needs(&made) &&
	    !json_array_size(missing))
		ret = rehearse_restarts(at, type, want, &made, object,
					found->outputs, err);
	kube_job_done(&made);
	return ret;
}

/* Shows the record of a run whose object is gone. */
static void show_remembered(struct kube *kube, const struct resource *want,
			    struct arena *mem, struct resource *found)
{
	struct kube_record record;
	struct error ignored;

	if (record_get(kube, want->name, mem, &record, &ignored) != 0 ||
	    !run_state_is_final(record.run.state))
		return;
	found->run.state = record.run.state;
	found->run.attempt = record.run.attempt;
	found->run.exit_code = record.run.exit_code;
	run_status_set_origin(&found->run, record.run.job_origin);
	resource_found(found, record_wanted(kube, &record), record.run.digest,
		       record.run.digest2, record.run.error);
}

/* Whether the run was found by its labels or its record, without its file. */
static bool is_unknown(const struct resource *want)
{
	return !want->job || !want->job->file;
}

/* Shows a run whose object is gone.  A run found by its labels alone may have
 * only the mark of its success. */
static int show_left(struct kube *kube, const struct resource *want,
		     const struct kube_at *at, const char *name,
		     struct arena *mem, struct resource *found,
		     struct error *err)
{
	show_remembered(kube, want, mem, found);
	if (is_unknown(want) || kube_has_ttl(want->job))
		return success_show(at, want->name, name, found, err);
	return 0;
}

/* Sets the place of a run that goes on to where it is. */
static int go_where_it_is(struct kube *kube, const struct resource *want,
			  struct arena *mem, struct kube_at *at,
			  struct error *err)
{
	struct kube_record record;
	int ret = record_get(kube, want->name, mem, &record, err);

	if (ret != 0 || run_state_is_final(record.run.state) ||
	    !whereabouts_differ(&record, at))
		return ret < 0 ? -1 : 0;
	return whereabouts_find(kube, &record, at, NULL, err);
}

/* Finds the run of a job.  Without the file it is where the record or the list
 * says; the type is then the recorded one, or NULL. */
static int find_run(struct kube *kube, const struct resource *want,
		    struct arena *mem, const char **place,
		    const struct kube_type **type, struct kube_at *at,
		    struct error *err)
{
	struct kube_record record;
	int ret = 0;

	*place = want->place;
	*type = NULL;
	if (is_unknown(want)) {
		ret = record_get(kube, want->name, mem, &record, err);
		if (ret == 0) {
			*place = record.place;
			*type = record.type;
		}
	}
	if (ret == 1 && *place)
		ret = 0;
	/* A resource that is only to be forgotten needs no cluster, but a plan
	 * does. */
	if (ret == 0 && is_unknown(want) && !kube_is_known(*place))
		return 1;
	if (ret == 0)
		ret = kube_find(kube, *place, at, err);
	if (ret == 0)
		ret = go_where_it_is(kube, want, mem, at, err);
	if (ret == 0 && !is_unknown(want))
		ret = run_choose_type(at, want->job, type, err);
	return ret;
}

int run_read(void *ctx, const struct resource *want, struct resource *found,
	     struct error *err)
{
	struct kube *kube = ctx;
	struct arena *mem = arena_new();
	const struct kube_type *type, *to_be;
	const char *place, *name;
	json_t *object = NULL;
	struct error ignored;
	struct kube_at at;
	int ret = find_run(kube, want, mem, &place, &type, &at, err);

	if (ret == 1)
		goto out;
	name = kube_name(want->name, mem);
	to_be = type;
	if (ret == 0)
		ret = type ? run_get_either(&at, want->name, name, &type,
					    &object, err)
			   : run_look_for(&at, name, &type, &object, err);
	if (ret == 0 && want->job)
		ret = object_check_owner(object, want->job->job_id, err);
	if (ret >= 0 && !is_unknown(want))
		ret = prepare(kube, &at, to_be, want,
			      type == to_be ? object : NULL, mem, found, err);
	/* A run that is being deleted counts as gone, except for those who want
	 * to delete it. */
	if (ret >= 0 && object &&
	    (is_unknown(want) || !*object_meta(object, "deletionTimestamp"))) {
		run_show(object, state_of(object),
			 state_of(object) == RUN_FAILED ? state_why(object, mem)
							: NULL,
			 found);
		show_judged(kube, want->name, object, mem, found);
		/* Another machine may have started the run.  If the store can't
		 * be written, nothing is recorded. */
		if (kube->env.store && !is_unknown(want))
			record_put_found(kube, want->job, place, &at, type,
					 object, &ignored);
	} else if (ret >= 0 && !object) {
		ret = show_left(kube, want, &at, name, mem, found, err);
	}
out:
	json_decref(object);
	arena_free(mem);
	return ret < 0 ? -1 : 0;
}

int run_adopt(void *ctx, const struct resource *run, struct error *err)
{
	struct kube *kube = ctx;
	struct arena *mem = arena_new();
	const struct job listed = { .job_id = run->name };
	const struct job *job = run->job ? run->job : &listed;
	const char *place =
		run->job ? provider_kubernetes.place(job, mem) : run->place;
	const struct kube_type *type;
	json_t *object = NULL;
	struct kube_at at;
	int ret = kube_is_known(place) ? 0 : 1;

	if (ret == 0)
		ret = kube_find(kube, place, &at, err);
	if (ret == 0)
		ret = run_look_for(&at, kube_name(job->job_id, mem), &type,
				   &object, err);
	/* Jobs with similar names have the same one here. */
	if (ret == 0 &&
	    strcmp(object_note(object, KUBE_NOTE_JOB), job->job_id) != 0)
		ret = 1;
	if (ret == 0)
		ret = record_put_found(kube, job, place, &at, type, object,
				       err);
	json_decref(object);
	arena_free(mem);
	return ret;
}

void run_adapt(struct resource *want, const struct resource *found)
{
	const char *key;
	json_t *value;

	json_object_foreach(found->outputs, key, value)
	{
		if (strcmp(key, OUTPUT_MISSING) != 0 &&
		    strcmp(key, OUTPUT_NOTES) != 0)
			json_object_set(want->request, key, value);
	}
}
