/* SPDX-License-Identifier: Apache-2.0 */
/* Ends a run, and deletes what is left of it. */
#include <string.h>

#include "core/base/json.h"
#include "providers/kubernetes/companions.h"
#include "providers/kubernetes/manifest/kube_names.h"
#include "providers/kubernetes/manifest/kube_translate.h"
#include "providers/kubernetes/record.h"
#include "providers/kubernetes/rights.h"
#include "providers/kubernetes/run.h"
#include "providers/kubernetes/kube_state.h"
#include "providers/kubernetes/success.h"
#include "providers/kubernetes/whereabouts.h"

/* Kills the pods at once, without their grace. */
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

/* Finds the run of a call in the record, or if another machine started it by
 * its object.  Returns 1 if there is none. */
static int find_old(struct kube *kube, const struct resource *have,
		    struct arena *mem, struct kube_record *out,
		    struct kube_at *at, struct error *err)
{
	int ret = record_get(kube, have->name, mem, out, err);
	json_t *object = NULL;

	if (ret == 1 && have->place && kube_is_known(have->place)) {
		*out = (struct kube_record){
			.place = have->place, .name = kube_name(have->name, mem)
		};
		out->run.job_id = have->name;
		ret = kube_find(kube, have->place, at, err);
		if (ret == 0)
			ret = run_look_for(at, out->name, &out->type, &object,
					   err);
		json_decref(object);
		return ret < 0 ? -1 : 0;
	}
	if (ret == 0)
		ret = whereabouts_find(kube, out, at, NULL, err);
	return ret;
}

/* Records the end of a run that had already ended by itself. */
static int put_asked(struct kube *kube, struct kube_record *record,
		     const json_t *was, struct arena *mem, struct error *err)
{
	enum run_state state = was ? state_of(was) : RUN_CANCELLING;

	if (!run_state_is_final(state))
		return 0;
	record->run.state = state;
	record->run.end_time_ms = state_end_ms(was);
	if (state == RUN_SUCCEEDED)
		record->run.exit_code = 0;
	else
		record->run.error = state_why(was, mem);
	return store_run_put(kube->env.store, &record->run, err);
}

/* Cancels a run by deleting its object, since there is no other way; the record
 * then says that this was asked for.  Nothing is read before that, so that slow
 * answers about pods, logs or Secrets do not delay the end. */
int run_cancel(void *ctx, const struct resource *have, bool now,
	       struct error *err)
{
	struct kube *kube = ctx;
	struct arena *mem = arena_new();
	struct kube_record record = { 0 };
	json_t *object = NULL, *was = NULL;
	struct kube_at at;
	int ret = find_old(kube, have, mem, &record, &at, err);

	if (ret != 0 || run_state_is_final(record.run.state))
		goto out;
	record.run.state = RUN_CANCELLING;
	if (record.uid)
		ret = store_run_put(kube->env.store, &record.run, err);
	else
		ret = object_get_own(&at, record.type, record.name,
				     record.run.job_id, &object, err);
	if (ret == 0)
		ret = object_take_away(&at, record.type, record.name,
				       record.uid ? record.uid
						  : object_meta(object, "uid"),
				       "Foreground", &was, err);
	if (ret == 0 && record.uid)
		ret = put_asked(kube, &record, was, mem, err);
	if (ret == 0 && now)
		ret = kill_pods(&at, record.name, mem, err);
out:
	json_decref(was);
	json_decref(object);
	arena_free(mem);
	return ret < 0 ? -1 : 0;
}

/* Whether the run was found by its labels, without its file. */
bool run_is_unknown(const struct resource *have)
{
	return have->place && (!have->job || !have->job->file);
}

int run_wait_unknown(struct kube *kube, const struct resource *have,
		     enum wait_state *state, struct error *err)
{
	struct arena *mem = arena_new();
	const struct kube_type *type;
	json_t *object = NULL;
	struct kube_at at;
	int ret = kube_find(kube, have->place, &at, err);

	if (ret == 0)
		ret = run_look_for(&at, kube_name(have->name, mem), &type,
				   &object, err);
	if (ret >= 0)
		*state = object && !run_state_is_final(state_of(object)) &&
					 !strcmp(object_note(object,
							     KUBE_NOTE_JOB),
						 have->name)
				 ? WAIT_PENDING
				 : WAIT_DONE;
	json_decref(object);
	arena_free(mem);
	return ret < 0 ? -1 : 0;
}

static bool wanted_secrets(const json_t *wanted)
{
	const char *name, *variable;
	json_t *pool, *value;

	json_object_foreach(json_object_get(wanted, "pools"), name, pool)
	{
		json_object_foreach(json_object_get(pool, "env"), variable,
				    value)
		{
			if (!strcmp(json_string_value(value),
				    KUBE_SECRET_SHOWN))
				return true;
		}
	}
	return false;
}

/* Deletes a Secret without an owner, which an interrupted start has left; lists
 * find other objects. */
static int delete_secret(struct kube *kube, const struct kube_record *record,
			 const struct kube_at *at, struct error *err)
{
	json_t *wanted = record_wanted(kube, record);
	int ret = 0;

	if (wanted_secrets(wanted))
		ret = companion_delete_own(at, &type_secret, record->name,
					   record->run.job_id, err);
	json_decref(wanted);
	return ret;
}

/* Deletes the newest run's object and the objects beside it. */
static int forget(struct kube *kube, const struct kube_record *record,
		  const struct kube_at *at, struct error *err)
{
	json_t *object = NULL;
	int ret = object_get_own(at, record->type, record->name,
				 record->run.job_id, &object, err);

	if (ret == 0 && !run_state_is_final(state_of(object)) &&
	    !*object_meta(object, "deletionTimestamp"))
		ret = error_set(err, ERROR_TRY_AGAIN,
				"still running; 'jobrun cancel %s' stops it",
				record->run.job_id);
	if (ret == 0)
		ret = object_delete(at, record->type, record->name,
				    object_meta(object, "uid"), "Background",
				    err);
	if (ret == 0)
		ret = companions_delete(at, object, record->run.job_id, err);
	else if (ret == 1)
		ret = record->uid ? delete_secret(kube, record, at, err) : 0;
	json_decref(object);
	return ret;
}

/* Deletes the mark of a success.  1: it has to stay, as `err` says. */
static int forget_success(struct kube *kube, const struct kube_record *record,
			  const struct kube_at *at, struct error *err)
{
	int ret = 0;

	if (rights_may(kube, at, "get", &type_config_map))
		ret = success_delete(at, record->run.job_id, record->name, err);
	if (ret < 0 && err->code == ERROR_DENIED) {
		error_prefix(err, "its mark of success stays, so no machine "
				  "runs it again without --rerun");
		return 1;
	}
	return ret;
}

int run_delete(void *ctx, const struct resource *have, struct error *err)
{
	struct kube *kube = ctx;
	struct arena *mem = arena_new();
	struct kube_record record;
	struct kube_at at;
	struct error left = { 0 };
	int ret, stays = 0;

	do {
		record = (struct kube_record){ 0 };
		ret = find_old(kube, have, mem, &record, &at, err);
		if (ret == 0)
			ret = forget(kube, &record, &at, err);
		if (ret == 0 && !stays) {
			stays = forget_success(kube, &record, &at, err);
			ret = stays < 0 ? -1 : 0;
			left = *err;
		}
		if (ret == 0 && record.uid)
			ret = store_run_delete(kube->env.store, &record.run,
					       err);
	} while (ret == 0 && record.uid);
	arena_free(mem);
	if (ret >= 0 && stays)
		*err = left;
	return ret < 0 ? -1 : stays;
}
