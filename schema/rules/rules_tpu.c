/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about Cloud TPUs. */
#include <stdio.h>

#include "core/base/buf.h"
#include "schema/rules/rules_check.h"

#define SIZES_SHOWN 20
#define TPU_TYPE "trainingInput.workerConfig.acceleratorConfig.type"
#define TPU_COUNT "trainingInput.workerConfig.acceleratorConfig.count"

static const struct accelerator_config *tpu_config(const struct check *check)
{
	return &check->in->worker_config.accelerator_config;
}

/* Labels what makes the worker a TPU. */
static void mark_tpu(const struct check *check)
{
	const struct training_input *in = check->in;

	if (is_cloud_tpu(in->worker_type))
		mark_also(check, value_of(in, "workerType"),
			  "this makes the worker a TPU");
	else
		mark_also(check, value_of(in, "scaleTier"),
			  "this tier has a TPU");
}

static void mark_type(const struct check *check)
{
	mark_also(check, value_of(tpu_config(check), "type"),
		  "the type of the TPU");
}

/* Requires that cloud_tpu and a TPU as the accelerator type go together. */
void check_tpu_accelerator(const struct check *check)
{
	const struct training_input *in = check->in;
	const struct node *at, *worker;
	char path[96], line[LINE_SIZE];
	int i;

	for (i = 0; i < ROLE_COUNT; i++) {
		const char *type = role_config(in, i)->accelerator_config.type;
		bool tpu = is_cloud_tpu(role_type(in, i)) ||
			   (i == ROLE_WORKER &&
			    in->scale_tier == SCALE_TIER_BASIC_TPU);

		if (!type || is_tpu(type) == tpu)
			continue;
		at = value_of(&role_config(in, i)->accelerator_config, "type");
		if (!at || input_refused(check, roles[i].type) ||
		    input_refused(check, "scaleTier"))
			continue;
		snprintf(path, sizeof(path),
			 "trainingInput.%s.acceleratorConfig.type",
			 roles[i].config);
		worker = value_of(in, roles[i].type);
		if (tpu && worker)
			broken(check, at, path,
			       "\"type\" must be TPU_V2 or TPU_V3, not %s, for "
			       "workerType cloud_tpu (%s)",
			       type,
			       line_of(check, worker, at,
				       "this makes the worker a TPU", line));
		else if (tpu) {
			broken(check, at, path,
			       "\"type\" must be TPU_V2 with scaleTier "
			       "BASIC_TPU, not %s",
			       type);
			mark_tpu(check);
		} else if (i != ROLE_WORKER)
			broken(check, at, path,
			       "\"type\" %s: only a worker can be a TPU", type);
		/* A flag may set the worker's type. */
		else if (worker)
			broken(check, at, path,
			       "\"type\" %s needs workerType cloud_tpu, not %s "
			       "(%s)",
			       type, role_type(in, i),
			       line_of(check, worker, at,
				       "this worker is not a TPU", line));
	}
}

void check_tpu_one(const struct check *check)
{
	const struct training_input *in = check->in;
	const struct node *at;

	if (!is_cloud_tpu(in->worker_type) || in->worker_count == 1 ||
	    input_refused(check, "workerCount"))
		return;
	at = value_of(in, "workerCount");
	if (at) {
		broken(check, at, "trainingInput.workerCount",
		       "\"workerCount\" must be 1 with workerType cloud_tpu, "
		       "not %ld",
		       in->worker_count);
		mark_tpu(check);
		return;
	}
	at = value_of(in, "workerType");
	/* A flag may set the count. */
	if (at && !in->head.strange)
		doubtful(check, at, "trainingInput.workerType",
			 "\"workerCount\" must be 1 with workerType cloud_tpu, "
			 "but it is missing");
}

/* Returns the row of the worker's type; NULL if it is no TPU. */
static const struct tpu *tpu_of(const struct check *check)
{
	const char *type = tpu_config(check)->type;

	return is_tpu(type) ? catalogue_tpu(check->catalogue, type) : NULL;
}

/* Writes all sizes, or if there are many, those next to the wrong one. */
static void put_sizes(const struct tpu *tpu, long count, struct buf *out)
{
	const struct slice *slices = tpu->slices;
	bool all = tpu->slice_count <= SIZES_SHOWN, below, above;
	size_t i;

	for (i = 0; i < tpu->slice_count; i++) {
		below = slices[i].count < count &&
			(i + 1 == tpu->slice_count ||
			 slices[i + 1].count > count);
		above = slices[i].count > count &&
			(!i || slices[i - 1].count < count);
		if (all || below || above)
			buf_printf(out, "%s%u", out->len ? ", " : "",
				   slices[i].count);
	}
}

void check_tpu_slice(const struct check *check)
{
	const struct accelerator_config *config = tpu_config(check);
	const struct tpu *tpu = tpu_of(check);
	struct buf list = { 0 };
	const struct node *at;

	if (!tpu || !config->count || tpu_slice(tpu, (unsigned)config->count))
		return;
	at = value_of(config, "count");
	if (!at)
		return;
	put_sizes(tpu, config->count, &list);
	broken(check, at, TPU_COUNT,
	       "\"count\" %ld: %s has no such slice; %s %s", config->count,
	       config->type,
	       tpu->slice_count > SIZES_SHOWN ? "the nearest are"
					      : "its sizes are",
	       buf_text(&list));
	mark_type(check);
	buf_done(&list);
}

/* Checks the count: eight cores, and no pods. */
void check_tpu_count(const struct check *check)
{
	const struct accelerator_config *config = tpu_config(check);
	void (*say)(const struct check *check, const struct node *at,
		    const char *path, const char *format, ...) =
		is_closed(check) ? broken : dated;
	const struct tpu *tpu = tpu_of(check);
	const struct node *at;

	if (!is_tpu(config->type))
		return;
	if (strcmp(config->type, "TPU_V2") != 0 &&
	    strcmp(config->type, "TPU_V3") != 0) {
		at = value_of(config, "type");
		if (!at)
			return;
		say(check, at, TPU_TYPE,
		    "\"type\" must be TPU_V2 or TPU_V3 on AI Platform, not %s",
		    config->type);
		problem_hint(check->found,
			     "jobrun.provider: tpu-vm has the others");
		return;
	}
	at = value_of(config, "count");
	if (!at || !config->count || config->count == 8)
		return;
	/* No provider has such a slice, whichever the job will name. */
	if (tpu && !is_closed(check) &&
	    !tpu_slice(tpu, (unsigned)config->count)) {
		check_tpu_slice(check);
		return;
	}
	say(check, at, TPU_COUNT,
	    "\"count\" %ld: a %s worker needs count 8 on AI Platform",
	    config->count, config->type);
	mark_type(check);
	problem_hint(check->found,
		     "jobrun.provider: tpu-vm has slices of other sizes");
}

/* Checks the version for a TPU that serves a container. */
void check_tpu_tf(const struct check *check)
{
	const struct training_input *in = check->in;
	const struct replica_config *config = &in->worker_config;
	const struct node *at, *other;
	char line[LINE_SIZE];
	char path[64];
	int i;

	for (i = 0; i < ROLE_COUNT; i++) {
		if (i == ROLE_WORKER || !role_config(in, i)->tpu_tf_version)
			continue;
		at = key_of(role_config(in, i), "tpuTfVersion");
		if (!at)
			continue;
		snprintf(path, sizeof(path), "trainingInput.%s.tpuTfVersion",
			 roles[i].config);
		broken(check, at, path,
		       "\"tpuTfVersion\" belongs under workerConfig, with the "
		       "TPU");
		return;
	}
	if (config->tpu_tf_version) {
		at = key_of(config, "tpuTfVersion");
		other = value_of(in, "runtimeVersion");
		if (!at)
			return;
		if (in->runtime_version && other)
			broken(check, at,
			       "trainingInput.workerConfig.tpuTfVersion",
			       "\"tpuTfVersion\" is for custom containers, but "
			       "runtimeVersion (%s) selects the service's",
			       line_of(check, other, at,
				       "the runtime version implies it", line));
		else if (in->worker_type && !is_cloud_tpu(in->worker_type)) {
			broken(check, at,
			       "trainingInput.workerConfig.tpuTfVersion",
			       "\"tpuTfVersion\" needs workerType cloud_tpu");
			mark_also(check, value_of(in, "workerType"),
				  "this worker is not a TPU");
		}
		return;
	}
	if (!uses_tpu(check) || !role_image(in, ROLE_WORKER) ||
	    config_refused(config, "tpuTfVersion") || config->head.strange ||
	    in->head.strange)
		return;
	at = key_of(in, "workerConfig");
	other = key_of(config->image_uri ? config : &in->master_config,
		       "imageUri");
	if (!at)
		at = other;
	if (!at)
		return;
	broken(check, at, "trainingInput.workerConfig",
	       "\"workerConfig.tpuTfVersion\" is required for a TPU worker "
	       "with a custom container");
	mark_tpu(check);
	mark_also(check, at == other ? NULL : other, "the custom container");
	problem_hint(check->found,
		     "the runtime version that has the container's TensorFlow, "
		     "for instance tpuTfVersion: \"2.2\"");
}

static void check_support(const struct check *check, const char *version,
			  const struct node *at, const char *path)
{
	const struct runtime *runtime =
		catalogue_runtime(check->catalogue, version);

	if (!runtime || !at || runtime->tpu == TPU_SUPPORT_YES)
		return;
	if (runtime->tpu == TPU_SUPPORT_NO)
		broken(check, at, path,
		       "\"%s\" %s did not support TPUs: 1.13, 1.14, 1.15, 2.1 "
		       "and 2.2 did",
		       strrchr(path, '.') + 1, version);
	else if (runtime->tpu == TPU_SUPPORT_ENDED)
		dated(check, at, path,
		      "\"%s\" %s supported TPUs only for a time",
		      strrchr(path, '.') + 1, version);
	else if (runtime->tpu == TPU_SUPPORT_SEEN)
		doubtful(check, at, path,
			 "\"%s\" %s may not have supported TPUs",
			 strrchr(path, '.') + 1, version);
	mark_tpu(check);
}

void check_tpu_runtime(const struct check *check)
{
	const struct training_input *in = check->in;

	if (!uses_tpu(check))
		return;
	if (in->worker_config.tpu_tf_version)
		check_support(check, in->worker_config.tpu_tf_version,
			      value_of(&in->worker_config, "tpuTfVersion"),
			      "trainingInput.workerConfig.tpuTfVersion");
	else if (in->runtime_version)
		check_support(check, in->runtime_version,
			      value_of(in, "runtimeVersion"),
			      "trainingInput.runtimeVersion");
}

void check_tpu_region(const struct check *check)
{
	const char *type = tpu_config(check)->type;
	const char *region = check->in->region;
	const struct node *at;
	const struct tpu *tpu;
	struct buf list = { 0 };
	bool training;
	size_t i;

	if (!uses_tpu(check) || !region ||
	    !catalogue_region(check->catalogue, region, &training) || !training)
		return;
	tpu = catalogue_tpu(check->catalogue, type ? type : "TPU_V2");
	at = value_of(check->in, "region");
	if (!tpu || !tpu->region_count || !at)
		return;
	for (i = 0; i < tpu->region_count; i++) {
		if (!strcmp(tpu->regions[i], region))
			goto out;
		buf_printf(&list, "%s%s", i ? " and " : "", tpu->regions[i]);
	}
	broken(check, at, "trainingInput.region",
	       "\"region\" %s: AI Platform had TPUs in %s only", region,
	       buf_text(&list));
	mark_tpu(check);
out:
	buf_done(&list);
}

/* Whether TPUs of that type and size are known to be in the zone; `near` is one
 * that has them. */
static bool has_tpu(const struct tpu *tpu, unsigned count, const char *zone,
		    const char **near)
{
	size_t i;

	for (i = 0; i < tpu->zone_count; i++) {
		const struct tpu_zone *one = &tpu->zones[i];

		if (count && (count < one->min || count > one->max))
			continue;
		if (!strcmp(one->name, zone))
			return true;
		*near = one->name;
	}
	return false;
}

static void check_tpu_in(const struct check *check, const char *zone,
			 const struct node *at, const char *path)
{
	const struct accelerator_config *config = tpu_config(check);
	const struct tpu *tpu = tpu_of(check);
	const char *near = NULL;

	if (!tpu || !tpu->zone_count || !zone || !at ||
	    !catalogue_zone(check->catalogue, zone) ||
	    has_tpu(tpu, (unsigned)config->count, zone, &near))
		return;
	broken(check, at, path,
	       "\"%s\" %s is not known to have a %s with count %ld",
	       strrchr(path, '.') + 1, zone, config->type, config->count);
	mark_type(check);
	mark_also(check, value_of(config, "count"), "how much of it");
	if (near)
		problem_hint(check->found, "%s is", near);
}

void check_tpu_zone(const struct check *check)
{
	const struct jobrun_block *jobrun = &check->job->jobrun;
	const struct node *block = value_of(jobrun, jobrun->provider);
	const struct node *others = block ? node_get(block, "zones") : NULL;
	char path[128];
	const struct item *one;

	check_tpu_in(check, jobrun->zone, value_of(jobrun, "zone"),
		     "jobrun.zone");
	snprintf(path, sizeof(path), "jobrun.%s.zones", jobrun->provider);
	if (!others || others->kind != NODE_LIST)
		return;
	for (one = others->items; one; one = one->next)
		if (one->value->kind == NODE_SCALAR)
			check_tpu_in(check, one->value->text, one->value, path);
}
