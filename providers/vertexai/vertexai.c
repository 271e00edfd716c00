/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/vertexai/vertexai.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/job/traits.h"
#include "core/provider/extension.h"
#include "providers/google/tpu/gce.h"
#include "providers/google/doctor_google.h"
#include "providers/google/managed/managed.h"
#include "providers/google/storage/staging.h"
#include "providers/vertexai/vertexai_block.h"
#include "providers/vertexai/study.h"
#include "providers/vertexai/vertexai_translate.h"
#include "providers/vertexai/vertexai_uses.h"

/* ---- the service ------------------------------------------------------- */

static void filter(const char *job_id, const char *label, struct buf *out)
{
	(void)job_id;
	if (label)
		buf_printf(out, "labels.jobrun-job=%s", label);
	else
		buf_puts(out, "labels.jobrun-job:*");
}

static const char *location(const struct job *job)
{
	return job->training_input.region;
}

static const char *const collections[] = { "customJobs",
					   "hyperparameterTuningJobs", NULL };

static const char *collection(const struct job *job)
{
	return collections[message_has(job->training_message,
				       &job->training_input,
				       "hyperparameters")];
}

/* Converts a JobState without its prefix "JOB_STATE_". */
static enum run_state state_of(const char *name)
{
	static const struct {
		const char *name;
		enum run_state state;
	} states[] = {
		{ "PENDING", RUN_PREPARING },
		{ "PAUSED", RUN_PREPARING },
		{ "UPDATING", RUN_RUNNING },
		{ "EXPIRED", RUN_FAILED },
		{ "PARTIALLY_SUCCEEDED", RUN_FAILED },
	};
	enum run_state out;
	size_t i;

	if (text_starts(name, "JOB_STATE_"))
		name += strlen("JOB_STATE_");
	for (i = 0; i < COUNT(states); i++)
		if (!strcmp(states[i].name, name))
			return states[i].state;
	/* An unspecified state does not mean that the job has ended. */
	return run_state_parse(name, &out) == 0 ? out : RUN_QUEUED;
}

static void read_state(const json_t *body, struct arena *mem,
		       struct managed_state *out)
{
	const char *name = json_get_text(body, "state", "");
	const char *error =
		json_get_text(json_object_get(body, "error"), "message", NULL);

	out->state = state_of(name);
	if (error && *error)
		out->error = arena_strdup(mem, error);
	else if (!strcmp(name, "JOB_STATE_EXPIRED"))
		out->error = "it has expired";
	else if (!strcmp(name, "JOB_STATE_PARTIALLY_SUCCEEDED"))
		out->error = "it has succeeded in part only";
	if (!strcmp(name, "JOB_STATE_PAUSED"))
		out->waiting = "the service has paused it";
}

static const json_t *trials(const json_t *body)
{
	return json_object_get(body, "trials");
}

/* Returns the properties that distinguish custom jobs: not their names, states
 * and labels. */
static json_t *properties(const json_t *body)
{
	static const char *const keys[] = {
		"jobSpec",
		"studySpec",
		"maxTrialCount",
		"parallelTrialCount",
		"maxFailedTrialCount",
		"trialJobSpec",
		"encryptionSpec",
	};
	json_t *out = json_object();
	size_t i;

	for (i = 0; i < COUNT(keys); i++)
		if (json_object_get(body, keys[i]))
			json_put(
				out, keys[i],
				json_deep_copy(json_object_get(body, keys[i])));
	return out;
}

static int forget(struct managed *managed, const char *name, const json_t *body,
		  struct error *err)
{
	struct api_answer answer = { 0 };
	int ret = managed_call(managed, "DELETE", name, "", NULL, NULL, &answer,
			       err);

	(void)body;
	if (ret < 0 && answer.status == 404)
		ret = 0;
	api_answer_done(&answer);
	return ret;
}

static const struct kind kind_job = {
	.name = "custom-job",
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

static const struct kind *const kinds[] = { &managed_object, &kind_job, NULL };

static const struct managed_service service = {
	.kind = &kind_job,
	.provider = "vertex-ai",
	.service = SERVICE_AIPLATFORM,
	.collections = collections,
	.title_field = "displayName",
	.filter = filter,
	.location = location,
	.collection = collection,
	.read = read_state,
	.trials = trials,
	.read_trial = study_read_trial,
	.properties = properties,
	.forget = forget,
};

/* ---- what a job wants -------------------------------------------------- */

static void note_left_out(const struct vertex_job *translated,
			  struct resources *out)
{
	size_t i;

	for (i = 0; i < translated->left_count; i++) {
		const struct left_out *left = &translated->left[i];

		if (left->needed)
			resources_miss(out, "%s: %s", left->path, left->why);
		else
			resources_note(out, "%s is left out: %s", left->path,
				       left->why);
	}
}

/* Makes the body, and adds the uploads that must precede it. */
static int translate(const struct job *job, const struct catalogue *catalogue,
		     struct resources *out, struct vertex_job *made,
		     struct error *err)
{
	const struct vertex_ai_block *block = job_block(job, "vertex-ai");
	const char *staging = job->jobrun.staging;
	struct pairs labels = managed_labels(job, out->mem);
	struct strings packages;

	if (!staging && block)
		staging = block->staging_bucket;
	if (staging_desire(job, staging, &managed_object, out, &packages, err) <
	    0)
		return -1;
	return vertex_translate(job, catalogue, &packages, &labels, out->mem,
				made, err);
}

static int desire(const struct job *job, const struct provider_env *env,
		  struct resources *out, struct error *err)
{
	struct vertex_job translated;

	if (translate(job, env->catalogue, out, &translated, err) < 0)
		return -1;
	managed_add_run(&service, job, json_incref(translated.body), out);
	if (translated.prebuilt)
		resources_note(out,
			       "trainingInput.runtimeVersion stands for the "
			       "prebuilt container %s",
			       translated.prebuilt);
	note_left_out(&translated, out);
	vertex_job_done(&translated);
	resources_note_unused(out, job, &provider_vertex_ai);
	return 0;
}

/* Writes only the body; fields without a place in it are noted beside it. */
static int render(const struct job *job, const struct render_env *env,
		  struct buf *out, struct error *err)
{
	struct resources *staged = resources_new();
	struct vertex_job made;
	size_t i;
	int ret = translate(job, env->catalogue, staged, &made, err);

	if (ret == 0) {
		json_print(made.body, out);
		for (i = 0; i < made.left_count; i++)
			env->tell(env->arg, made.left[i].needed,
				  made.left[i].path, made.left[i].why);
		for (i = 0; i < staged->missing_count; i++)
			env->tell(env->arg, true, NULL, staged->missing[i]);
		vertex_job_done(&made);
	}
	resources_free(staged);
	return ret;
}

static const struct provider_render vertex_ai_render = { .digest = true,
							 .render = render };

static const char *place(const struct job *job, struct arena *mem)
{
	return location(job) ? managed_place(job, location(job), mem) : NULL;
}

static void *open_service(const struct provider_env *env, struct error *err)
{
	return managed_open(&service, env, err);
}

static void doctor_job(const struct job *job, const struct provider_env *env,
		       struct checks *out)
{
	const struct google_need need = { .service = SERVICE_AIPLATFORM,
					  .region = location(job) };

	doctor_google_job(job, env, &need, out);
}

const struct provider provider_vertex_ai = {
	.name = "vertex-ai",
	.summary = "Vertex AI custom jobs",
	.traits = TRAIT_GOOGLE_CLOUD | TRAIT_MANAGED | TRAIT_QUEUE |
		  TRAIT_PRIORITY,
	.kinds = kinds,
	.block = &vertex_ai_message,
	.uses = vertex_ai_uses,
	.asks = true,
	.desire = desire,
	.place = place,
	.open = open_service,
	.close = managed_close,
	.reader = &reader_vertexai,
	.platform = &platform_gce,
	.render = &vertex_ai_render,
	.doctor = doctor_google,
	.doctor_job = doctor_job,
};
