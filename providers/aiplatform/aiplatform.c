/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/aiplatform/aiplatform.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/job/traits.h"
#include "core/provider/extension.h"
#include "providers/google/tpu/gce.h"
#include "providers/google/doctor_google.h"
#include "providers/aiplatform/access.h"
#include "providers/aiplatform/aiplatform_block.h"
#include "providers/aiplatform/aiplatform_body.h"
#include "providers/google/managed/managed.h"
#include "providers/google/storage/staging.h"
#include "providers/google/managed/uses.h"

/* ---- the service ------------------------------------------------------- */

static void filter(const char *job_id, const char *label, struct buf *out)
{
	(void)label;
	/* The service cannot search by labels. */
	if (job_id)
		buf_printf(out, "jobId:%s*", job_id);
}

static const char *collection(const struct job *job)
{
	(void)job;
	return "jobs";
}

static void read_state(const json_t *body, struct arena *mem,
		       struct managed_state *out)
{
	const char *error = json_get_text(body, "errorMessage", NULL);
	long long position = managed_int64(body, "jobPosition", 0);

	/* An unspecified state does not mean that the job has ended. */
	if (run_state_parse(json_get_text(body, "state", ""), &out->state) < 0)
		out->state = RUN_QUEUED;
	if (error && *error)
		out->error = arena_strdup(mem, error);
	if (out->state == RUN_QUEUED && position > 0)
		out->waiting = arena_printf(
			mem, "waiting at position %lld of the service's queue",
			position);
}

static const json_t *trials(const json_t *body)
{
	return json_object_get(json_object_get(body, "trainingOutput"),
			       "trials");
}

/* Reads a HyperparameterOutput. */
static void read_trial(const json_t *trial, struct arena *mem,
		       struct trial_record *out)
{
	const json_t *values = json_object_get(trial, "hyperparameters");
	const json_t *all = json_object_get(trial, "allMetrics");
	const json_t *metric = json_object_get(trial, "finalMetric");
	char *text;

	out->number = (int)managed_int64(trial, "trialId", 0);
	if (run_state_parse(json_get_text(trial, "state", ""), &out->state) < 0)
		out->state = RUN_QUEUED;
	if (values) {
		text = json_canonical(values);
		out->parameters = arena_strdup(mem, text);
		free(text);
	}
	/* A running trial has no final metric, so take the newest. */
	if (!metric && json_array_size(all))
		metric = json_array_get(all, json_array_size(all) - 1);
	if (metric) {
		out->value = json_number_value(
			json_object_get(metric, "objectiveValue"));
		out->step = managed_int64(metric, "trainingStep", -1);
	}
	out->early =
		json_is_true(json_object_get(trial, "isTrialStoppedEarly"));
	out->start_time_ms = managed_time(trial, "startTime");
	out->end_time_ms = managed_time(trial, "endTime");
}

static json_t *properties(const json_t *body)
{
	const json_t *input = json_object_get(body, "trainingInput");

	return input ? json_deep_copy(input) : json_object();
}

/* Removes our labels, since jobs cannot be deleted: nothing then connects it
 * with a job here. */
static int forget(struct managed *managed, const char *name, const json_t *body,
		  struct error *err)
{
	static const char *const query[] = { "updateMask", "labels", NULL };
	struct api_answer answer = { 0 };
	json_t *change = json_object();
	json_t *labels = json_object();
	const char *key;
	json_t *value;
	int ret;

	json_object_foreach(json_object_get(body, "labels"), key, value)
	{
		if (!text_starts(key, "jobrun-"))
			json_object_set(labels, key, value);
	}
	json_put(change, "labels", labels);
	if (json_object_get(body, "etag"))
		json_put_text(change, "etag", json_get_text(body, "etag", ""));
	ret = managed_call(managed, "PATCH", name, "", query, change, &answer,
			   err);
	json_decref(change);
	api_answer_done(&answer);
	return ret;
}

static const char *const collections[] = { "jobs", NULL };

static const struct kind kind_job = {
	.name = "training-job",
	.flags = KIND_RUN,
	.poll_ms = MANAGED_POLL_MS,
	.read = managed_read,
	.adapt = managed_adapt,
	.create = managed_create,
	.delete = managed_delete,
	.wait = managed_wait,
	.cancel = managed_cancel,
	.list = managed_list,
};

static const struct kind *const kinds[] = {
	&kind_service_identity,
	&kind_iam_binding,
	&managed_object,
	&kind_job,
	NULL,
};

static const struct managed_service service = {
	.kind = &kind_job,
	.provider = "ai-platform",
	.service = SERVICE_ML,
	.collections = collections,
	.name_field = "jobId",
	.title_field = "jobId",
	.create_repeatable = true,
	.filter = filter,
	.collection = collection,
	.read = read_state,
	.trials = trials,
	.read_trial = read_trial,
	.properties = properties,
	.forget = forget,
};

/* ---- what a job wants -------------------------------------------------- */

/* Notes a missing field with the reason that `explain` gives, too. */
static void miss(struct resources *out, const char *path)
{
	bool impossible;

	resources_miss(out, "%s: %s", path,
		       use_reason(ai_platform_uses, path, &impossible));
}

static void look_for_missing(const struct job *job,
			     const struct strings *packages,
			     struct resources *out)
{
	const struct training_input *input = &job->training_input;
	const struct jobrun_block *jobrun = &job->jobrun;

	if (!input->region)
		resources_miss(out, "where to run: set trainingInput.region");
	if (!input->master_config.image_uri) {
		if (!input->python_module)
			resources_miss(out, "what to run: set "
					    "trainingInput.pythonModule or "
					    "masterConfig.imageUri");
		if (!packages->count && !out->missing_count)
			resources_miss(out, "the program: set jobrun.source "
					    "or trainingInput.packageUris");
		if (!input->runtime_version)
			resources_miss(out, "what it runs in: set "
					    "trainingInput.runtimeVersion or "
					    "masterConfig.imageUri");
	}
	if (jobrun->command.count)
		miss(out, "jobrun.command");
	if (jobrun->setup.count)
		miss(out, "jobrun.setup");
	if (jobrun->env.count)
		miss(out, "jobrun.env");
	if (jobrun->secrets.count)
		miss(out, "jobrun.secrets");
}

/* Returns the body (new), and adds the uploads that must precede it. */
static json_t *body_of(const struct job *job, struct resources *out,
		       struct error *err)
{
	const struct ai_platform_block *block = job_block(job, "ai-platform");
	const char *staging = job->jobrun.staging;
	struct pairs labels = managed_labels(job, out->mem);
	struct strings packages;

	if (!staging && block)
		staging = block->staging_bucket;
	if (staging_desire(job, staging, &managed_object, out, &packages, err) <
	    0)
		return NULL;
	look_for_missing(job, &packages, out);
	return ai_platform_body(job, job->job_id,
				packages.count ? &packages : NULL, &labels);
}

static int desire(const struct job *job, const struct provider_env *env,
		  struct resources *out, struct error *err)
{
	const struct ai_platform_block *block = job_block(job, "ai-platform");
	json_t *body;

	(void)env;
	if (block && block->grant_tpu_access)
		access_desire(job, out);
	body = body_of(job, out, err);
	if (!body)
		return -1;
	managed_add_run(&service, job, body, out);
	resources_note_unused(out, job, &provider_ai_platform);
	return 0;
}

static int render(const struct job *job, const struct render_env *env,
		  struct buf *out, struct error *err)
{
	struct resources *staged = resources_new();
	json_t *body = body_of(job, staged, err);
	size_t i;

	if (body)
		json_print(body, out);
	for (i = 0; body && i < staged->missing_count; i++)
		env->tell(env->arg, true, NULL, staged->missing[i]);
	json_decref(body);
	resources_free(staged);
	return body ? 0 : -1;
}

static const struct provider_render ai_platform_render = { .digest = true,
							   .render = render };

static const char *place(const struct job *job, struct arena *mem)
{
	return managed_place(job, NULL, mem);
}

static void *open_service(const struct provider_env *env, struct error *err)
{
	return managed_open(&service, env, err);
}

static void doctor_job(const struct job *job, const struct provider_env *env,
		       struct checks *out)
{
	const struct google_need need = { .service = SERVICE_ML };

	doctor_google_job(job, env, &need, out);
}

const struct provider provider_ai_platform = {
	.name = "ai-platform",
	.summary = "AI Platform Training",
	.traits = TRAITS_AI_PLATFORM,
	.kinds = kinds,
	.block = &ai_platform_message,
	.uses = ai_platform_uses,
	.asks = true,
	.desire = desire,
	.place = place,
	.open = open_service,
	.close = managed_close,
	.reader = &reader_aiplatform,
	.platform = &platform_gce,
	.render = &ai_platform_render,
	.doctor = doctor_google,
	.doctor_job = doctor_job,
};
