/* SPDX-License-Identifier: Apache-2.0 */
#include "core/job/machines.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"

static const char *const role_names[] = {
	[ROLE_MASTER] = "master",
	[ROLE_WORKER] = "worker",
	[ROLE_PARAMETER_SERVER] = "parameterServer",
	[ROLE_EVALUATOR] = "evaluator",
};

static const char *const tier_names[] = {
	/* a fragment: the file's own fields count */
	[SCALE_TIER_UNSPECIFIED] = NULL,
	[SCALE_TIER_BASIC] = "BASIC",
	[SCALE_TIER_STANDARD_1] = "STANDARD_1",
	[SCALE_TIER_PREMIUM_1] = "PREMIUM_1",
	[SCALE_TIER_BASIC_GPU] = "BASIC_GPU",
	[SCALE_TIER_BASIC_TPU] = "BASIC_TPU",
	[SCALE_TIER_CUSTOM] = NULL,
};

const char *role_name(enum role role)
{
	return role_names[role];
}

/* Where a job has the fields of a role. */
static const struct {
	size_t type, count, config;
} fields[ROLE_COUNT] = {
	[ROLE_MASTER] = {
		.type = offsetof(struct training_input, master_type),
		.config = offsetof(struct training_input, master_config),
	},
	[ROLE_WORKER] = {
		.type = offsetof(struct training_input, worker_type),
		.count = offsetof(struct training_input, worker_count),
		.config = offsetof(struct training_input, worker_config),
	},
	[ROLE_PARAMETER_SERVER] = {
		.type = offsetof(struct training_input, parameter_server_type),
		.count =
			offsetof(struct training_input, parameter_server_count),
		.config =
			offsetof(struct training_input, parameter_server_config),
	},
	[ROLE_EVALUATOR] = {
		.type = offsetof(struct training_input, evaluator_type),
		.count = offsetof(struct training_input, evaluator_count),
		.config = offsetof(struct training_input, evaluator_config),
	},
};

static const void *member(const struct training_input *in, size_t offset)
{
	return (const char *)in + offset;
}

const char *role_type(const struct training_input *in, enum role role)
{
	return *(const char *const *)member(in, fields[role].type);
}

long role_count(const struct training_input *in, enum role role)
{
	return role == ROLE_MASTER
		       ? 1
		       : *(const long *)member(in, fields[role].count);
}

const struct replica_config *role_config(const struct training_input *in,
					 enum role role)
{
	return member(in, fields[role].config);
}

const char *role_image(const struct training_input *in, enum role role)
{
	const char *own = role_config(in, role)->image_uri;

	return own ? own : in->master_config.image_uri;
}

static void read_fields(const struct job *job,
			struct machine_group groups[ROLE_COUNT])
{
	const struct training_input *input = &job->training_input;
	size_t i;

	for (i = 0; i < ROLE_COUNT; i++)
		groups[i] = (struct machine_group){
			.type = role_type(input, i),
			.count = role_count(input, i),
			.config = role_config(input, i),
		};
}

/* Sets what the tier defines, which the file must not set. */
static int read_tier(const struct job *job, const struct catalogue *catalogue,
		     struct machine_group groups[ROLE_COUNT], struct error *err)
{
	const char *name = tier_names[job->training_input.scale_tier];
	const struct tier *tier = name ? catalogue_tier(catalogue, name) : NULL;
	struct machine_group *with = &groups[ROLE_MASTER];

	if (!name) {
		tier = catalogue_tier(catalogue, "BASIC");
		if (!groups[ROLE_MASTER].type && tier)
			groups[ROLE_MASTER].type = tier->master_type;
		return 0;
	}
	if (!tier)
		return error_set(err, ERROR_INVALID, "unknown scale tier '%s'",
				 name);
	groups[ROLE_MASTER].type = tier->master_type;
	groups[ROLE_WORKER].type = tier->worker_type;
	groups[ROLE_WORKER].count = tier->worker_count;
	groups[ROLE_PARAMETER_SERVER].type = tier->parameter_server_type;
	groups[ROLE_PARAMETER_SERVER].count = tier->parameter_server_count;
	if (tier->worker_type && !strcmp(tier->worker_type, "cloud_tpu")) {
		with = &groups[ROLE_WORKER];
		with->count = 1;
	}
	with->accelerator_type = tier->accelerator_type;
	with->accelerator_count = tier->accelerator_count;
	return 0;
}

/* With a legacy master the file names no TPU: it is BASIC_TPU's. */
static int find_tpu(const struct catalogue *catalogue,
		    struct machine_group *group, struct error *err)
{
	const struct tier *tier = catalogue_tier(catalogue, "BASIC_TPU");
	long count;

	if (!group->accelerator_type && tier)
		group->accelerator_type = tier->accelerator_type;
	if (!group->accelerator_count && tier)
		group->accelerator_count = tier->accelerator_count;
	count = group->accelerator_count;
	group->tpu = group->accelerator_type
			     ? catalogue_tpu(catalogue, group->accelerator_type)
			     : NULL;
	if (!group->tpu)
		return error_set(
			err, ERROR_INVALID, "unknown TPU type '%s'",
			group->accelerator_type ? group->accelerator_type : "");
	group->accelerator_type = group->tpu->type;
	group->slice = count > 0 && count <= MACHINE_COUNT_MAX
			       ? tpu_slice(group->tpu, (unsigned)count)
			       : NULL;
	if (!group->slice)
		return error_set(err, ERROR_INVALID, "no %s has %ld cores",
				 group->accelerator_type, count);
	return 0;
}

static bool is_tpu(const struct machine_group *group)
{
	return (group->type && !strcmp(group->type, "cloud_tpu")) ||
	       (group->role == ROLE_WORKER && group->accelerator_type &&
		text_starts(group->accelerator_type, "TPU_"));
}

static int look_up(const struct catalogue *catalogue,
		   struct machine_group *group, struct error *err)
{
	const struct accelerator_config *config =
		&group->config->accelerator_config;

	if (config->type)
		group->accelerator_type = config->type;
	if (config->count)
		group->accelerator_count = config->count;
	if (is_tpu(group))
		return find_tpu(catalogue, group, err);
	if (group->type)
		group->machine =
			catalogue_machine(catalogue, group->type, NULL);
	if (!group->accelerator_type && group->machine) {
		group->accelerator_type = group->machine->accelerator_type;
		group->accelerator_count =
			(long)group->machine->accelerator_count;
	}
	return 0;
}

int machines_of(const struct job *job, const struct catalogue *catalogue,
		struct machine_groups *out, struct error *err)
{
	struct machine_group groups[ROLE_COUNT];
	struct machine_groups all = { 0 };
	int role;

	read_fields(job, groups);
	if (read_tier(job, catalogue, groups, err) < 0)
		return -1;
	for (role = 0; role < ROLE_COUNT; role++) {
		struct machine_group *group = &groups[role];

		group->role = (enum role)role;
		if (group->count > MACHINE_COUNT_MAX)
			return error_set(err, ERROR_INVALID,
					 "more than %d machines of one role",
					 MACHINE_COUNT_MAX);
		/* One TPU, which a fragment may leave out. */
		if (role == ROLE_WORKER && job_uses_tpu(job))
			group->count = 1;
		if (group->count <= 0)
			continue;
		if (look_up(catalogue, group, err) < 0)
			return -1;
		all.items[all.count++] = *group;
	}
	*out = all;
	return 0;
}

const struct machine_group *machines_find(const struct machine_groups *all,
					  enum role role)
{
	size_t i;

	for (i = 0; i < all->count; i++)
		if (all->items[i].role == role)
			return &all->items[i];
	return NULL;
}

long machines_processes(const struct job *job,
			const struct machine_group *group)
{
	const char *text = job->jobrun.processes_per_host;
	long count;

	if (!text || (group->role != ROLE_MASTER && group->role != ROLE_WORKER))
		return 1;
	if (strcmp(text, PROCESSES_DEVICE) != 0)
		count = strtol(text, NULL, 10);
	else if (group->slice)
		count = group->slice->chips / group->slice->hosts;
	else
		count = group->accelerator_count;
	return count > 0 ? count : 1;
}
