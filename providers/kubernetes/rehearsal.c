/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/kubernetes/rehearsal.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/json.h"
#include "providers/kubernetes/manifest/kube_source.h"
#include "providers/kubernetes/manifest/kube_trials.h"

/* Notes each warning once, whichever objects it came with. */
static void take_warnings(const struct rehearsal *all, const json_t *warnings)
{
	json_t *known = json_object_get(all->outputs, "warnings"), *one, *other;
	size_t i, j;

	json_array_foreach((json_t *)warnings, i, one)
	{
		if (!known) {
			known = json_array();
			json_put(all->outputs, "warnings", known);
		}
		json_array_foreach(known, j, other)
		{
			if (json_equal(one, other))
				break;
		}
		if (j < json_array_size(known))
			continue;
		json_array_append(known, one);
		json_array_append_new(all->notes,
				      json_sprintf("the cluster warns: %s",
						   json_string_value(one)));
	}
}

static int try_one(const struct rehearsal *all, const struct kube_type *type,
		   const json_t *body, json_t **made, struct error *err)
{
	json_t *warnings = NULL;
	int ret = object_apply(all->at, type, body, true, made, &warnings, err);

	take_warnings(all, warnings);
	json_decref(warnings);
	return ret < 0 ? error_prefix(err, "the cluster refuses it") : 0;
}

/* Tries an object beside the run, unless it exists already.  No secret is read
 * for this. */
static int try_companion(const struct rehearsal *all,
			 const struct kube_type *type, const json_t *body,
			 struct error *err)
{
	const struct secret *secrets = all->job->jobrun.secrets.items;
	json_t *there = NULL, *trial, *data;
	size_t i;
	int ret = body ? object_get(all->at, type, object_meta(body, "name"),
				    &there, err)
		       : 0;

	json_decref(there);
	if (ret != 1)
		return ret;
	trial = json_deep_copy(body);
	if (type == &type_secret) {
		data = json_object();
		for (i = 0; i < all->job->jobrun.secrets.count; i++)
			json_put_text(data, secrets[i].name, "");
		json_put(trial, "data", data);
	}
	ret = type == &type_config_map ? source_fill(all->job, trial, err) : 0;
	if (ret == 0)
		ret = try_one(all, type, trial, NULL, err);
	json_decref(trial);
	return ret < 0 ? error_prefix(err, "%s '%s'", type->kind,
				      object_meta(body, "name"))
		       : 0;
}

/* Tries the run.  If an earlier run has the name, another name is used; the
 * quota may then have no room for both, but it has room for one. */
static int try_run(const struct rehearsal *all, struct error *err)
{
	json_t *trial = json_deep_copy(all->body), *made = NULL;
	char *name;
	int ret;

	if (all->taken) {
		name = mem_printf("%s-next", object_meta(all->body, "name"));
		json_object_set_new(json_object_get(trial, "metadata"), "name",
				    json_text(name));
		free(name);
	}
	ret = try_one(all, all->type, trial, &made, err);
	json_decref(trial);
	if (ret < 0 && all->taken && err->code == ERROR_TRY_AGAIN) {
		json_array_append_new(
			all->notes,
			json_sprintf("tried beside the run that it replaces, "
				     "which goes first: %s",
				     err->text));
		return 0;
	}
	if (ret == 0 && !trials_are_kept(all->body, made))
		ret = error_set(err, ERROR_FAILED,
				"the cluster refuses it: it knows no trials: "
				"that takes Kubernetes 1.29 "
				"(backoffLimitPerIndex of a Job)");
	if (ret == 0)
		json_put_text(all->outputs, "dryRun", "accepted");
	json_decref(made);
	return ret;
}

int rehearse(const struct rehearsal *all, struct error *err)
{
	const struct kube_job *made = all->made;

	if (try_companion(all, &type_secret, made->secret, err) < 0 ||
	    try_companion(all, &type_config_map, made->config_map, err) < 0)
		return -1;
	if (all->type == &type_job &&
	    try_companion(all, &type_service, made->service, err) < 0)
		return -1;
	return try_run(all, err);
}
