/* SPDX-License-Identifier: Apache-2.0 */
#include "core/plan/plan_file.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/json.h"
#include "core/plan/seal.h"

/* Digests the observed properties.  A secret counts only as present or absent:
 * a reader of the file could find a short one from its digest.  Properties to
 * be deleted are sealed as their kind says. */
static int digest_observed(const struct action *action, struct digest *out,
			   struct error *err)
{
	const struct resource *it = action_resource(action);
	json_t *plain = NULL;
	char *text = NULL;

	if (action->have->properties) {
		plain = seal_properties(NULL, it, NULL,
					action->have->properties, err);
		if (!plain)
			return -1;
		text = json_canonical(plain);
	}
	digest_bytes(text ? text : "", text ? strlen(text) : 0, out);
	free(text);
	json_decref(plain);
	return 0;
}

/* Returns the observations that decisions depend on, without times. */
static json_t *observed_json(const struct action *action, struct error *err)
{
	const struct resource *have = action->have;
	json_t *out = json_object();
	struct digest digest;

	if (digest_observed(action, &digest, err) < 0) {
		json_decref(out);
		return NULL;
	}
	json_put_text(out, "sha256", digest.hex);
	if (have->kind->flags & KIND_RUN) {
		json_put_int(out, "attempt", have->run.attempt);
		json_put_text(out, "state", run_state_name(have->run.state));
		json_put_int(out, "exitCode", have->run.exit_code);
		json_put_text(out, "digest", have->run.digest.hex);
	}
	return out;
}

static int bind_job(const struct plan_job *job, json_t *out, struct error *err)
{
	json_t *observed = json_object();
	json_t *files;
	json_t *source;
	size_t i;

	/* Another commit with the same contents is the same job. */
	json_object_del(out, "revision");

	/* A job without a file is only there to be deleted. */
	if (job->job->file) {
		json_put_text(out, "file", job->job->file);
		json_put(out, "job", job_json(job->job, MESSAGE_DIGEST));
	}
	if (job->job->source_digest.hex[0]) {
		source = json_object();
		files = source_files_json(job->job);
		json_put_text(source, "sha256", job->job->source_digest.hex);
		if (files)
			json_put(source, "files", files);
		json_put(out, "source", source);
	}
	json_put(out, "observed", observed);
	for (i = 0; i < job->action_count; i++) {
		const struct action *action = job->actions[i];
		json_t *one;

		if (!action->have)
			continue;
		one = observed_json(action, err);
		if (!one)
			return -1;
		json_put(observed, action->id, one);
	}
	return 0;
}

json_t *saved_json(const struct plan *plan, json_t *inputs, struct error *err)
{
	json_t *all = plan_json(plan);
	json_t *jobs = json_object_get(all, "jobs");
	static const char *const also[] = { "estimate", "targets" };
	json_t *out = json_object();
	size_t i;

	for (i = 0; i < plan_job_count(plan); i++)
		if (bind_job(plan_job_at(plan, i), json_array_get(jobs, i),
			     err) < 0) {
			json_decref(all);
			json_decref(out);
			return NULL;
		}
	json_put_int(out, "jobrunPlan", SAVED_VERSION);
	json_put(out, "formatVersion",
		 json_incref(json_object_get(all, "formatVersion")));
	json_put(out, "inputs", json_incref(inputs));
	json_put(out, "jobs", json_incref(jobs));
	json_put(out, "summary", json_incref(json_object_get(all, "summary")));
	for (i = 0; i < COUNT(also); i++)
		if (json_object_get(all, also[i]))
			json_put(out, also[i],
				 json_incref(json_object_get(all, also[i])));
	json_decref(all);
	return out;
}

void saved_id(const json_t *saved, struct digest *out)
{
	char *text = json_canonical(saved);

	digest_bytes(text, strlen(text), out);
	free(text);
}
