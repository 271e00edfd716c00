/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about machines: tiers, types, counts, accelerators. */
#include <ctype.h>
#include <stdio.h>

#include "core/base/buf.h"
#include "core/job/traits.h"
#include "schema/tables/tables.h"
#include "schema/rules/hints.h"
#include "schema/rules/rules_check.h"
#include "schema/rules/rules_world.h"

static const char *const tier_names[] = {
	[SCALE_TIER_UNSPECIFIED] = "BASIC",
	[SCALE_TIER_BASIC] = "BASIC",
	[SCALE_TIER_STANDARD_1] = "STANDARD_1",
	[SCALE_TIER_PREMIUM_1] = "PREMIUM_1",
	[SCALE_TIER_BASIC_GPU] = "BASIC_GPU",
	[SCALE_TIER_BASIC_TPU] = "BASIC_TPU",
	[SCALE_TIER_CUSTOM] = "CUSTOM",
};

/* Files for tuning often leave the machine to a flag. */
void check_custom_master(const struct check *check)
{
	const struct training_input *in = check->in;
	const struct node *at;

	if (in->scale_tier != SCALE_TIER_CUSTOM || in->master_type ||
	    in->head.strange || input_refused(check, "masterType"))
		return;
	at = value_of(in, "scaleTier");
	if (!at)
		return;
	if (in->hyperparameters.head.node)
		doubtful(check, at, "trainingInput.scaleTier",
			 "\"masterType\" is required with scaleTier CUSTOM: "
			 "pass it as a flag");
	else
		broken(check, at, "trainingInput.scaleTier",
		       "\"masterType\" is required with scaleTier CUSTOM");
	problem_hint(check->found, "for instance masterType: n1-standard-8");
}

/* Returns the first of the fields that need scaleTier CUSTOM. */
static const struct node *custom_key(const struct training_input *in,
				     const char **name)
{
	int i;

	for (i = 0; i < ROLE_COUNT; i++) {
		*name = roles[i].type;
		if (role_type(in, i))
			return key_of(in, *name);
		*name = roles[i].count;
		if (i != ROLE_MASTER && role_count(in, i) > 0)
			return key_of(in, *name);
	}
	return NULL;
}

void check_only_custom(const struct check *check)
{
	const struct training_input *in = check->in;
	const struct node *at, *tier;
	const char *name;
	char path[64], line[LINE_SIZE];

	if (in->scale_tier == SCALE_TIER_CUSTOM ||
	    input_refused(check, "scaleTier"))
		return;
	at = custom_key(in, &name);
	if (!at)
		return;
	snprintf(path, sizeof(path), "trainingInput.%s", name);
	tier = value_of(in, "scaleTier");
	if (tier && in->scale_tier != SCALE_TIER_UNSPECIFIED) {
		broken(check, at, path,
		       "\"%s\" needs scaleTier CUSTOM, but it is %s (%s)", name,
		       tier_names[in->scale_tier],
		       line_of(check, tier, at, "this tier has fixed machines",
			       line));
		return;
	}
	/* A flag may set CUSTOM; TPUs need no tier. */
	if (in->head.strange ||
	    is_tpu(in->worker_config.accelerator_config.type))
		return;
	doubtful(check, at, path,
		 "\"%s\" needs scaleTier CUSTOM; the default is BASIC", name);
	problem_hint(check->found, "write scaleTier: CUSTOM");
}

void check_types(const struct check *check)
{
	const struct training_input *in = check->in;
	const struct node *at;
	char path[64];
	int i;

	/* With another tier this was reported already. */
	if (in->scale_tier != SCALE_TIER_CUSTOM &&
	    message_has(&message_training_input, in, "scaleTier"))
		return;
	for (i = ROLE_WORKER; i < ROLE_COUNT; i++) {
		const struct role_fields *role = &roles[i];

		if (role_count(in, i) > 0 && !role_type(in, i)) {
			at = value_of(in, role->count);
			if (!at || in->head.strange ||
			    input_refused(check, role->type))
				continue;
			snprintf(path, sizeof(path), "trainingInput.%s",
				 role->count);
			broken(check, at, path,
			       "\"%s\" is required when %s is greater than 0",
			       role->type, role->count);
		} else if (role_type(in, i) && !role_count(in, i) &&
			   !is_cloud_tpu(role_type(in, i))) {
			at = value_of(in, role->type);
			if (!at || in->head.strange ||
			    value_of(in, role->count))
				continue;
			snprintf(path, sizeof(path), "trainingInput.%s",
				 role->type);
			doubtful(check, at, path,
				 "\"%s\" has no effect: there is no %s",
				 role->type, role->count);
		}
	}
}

void check_one_category(const struct check *check)
{
	static const char *const words[] = {
		[CATEGORY_LEGACY] = "a legacy one",
		[CATEGORY_COMPUTE] = "of Compute Engine",
	};
	const struct training_input *in = check->in;
	enum category first = CATEGORY_UNKNOWN, category;
	const struct node *at, *other;
	char path[64], line[LINE_SIZE];
	int i, first_role = 0;

	for (i = 0; i < ROLE_COUNT; i++) {
		const char *type = role_type(in, i);

		if (!type || is_cloud_tpu(type))
			continue;
		category = category_of(check, type);
		if (category == CATEGORY_UNKNOWN)
			continue;
		if (first == CATEGORY_UNKNOWN) {
			first = category;
			first_role = i;
		}
		if (category == first)
			continue;
		at = value_of(in, roles[i].type);
		other = value_of(in, roles[first_role].type);
		if (!at || !other)
			return;
		snprintf(path, sizeof(path), "trainingInput.%s", roles[i].type);
		broken(check, at, path,
		       "all machine types must be Compute Engine types or all "
		       "legacy ones: \"%s\" %s is %s, \"%s\" %s (%s) is %s",
		       roles[i].type, type, words[category],
		       roles[first_role].type, role_type(in, first_role),
		       line_of(check, other, at,
			       "this one is of the other kind", line),
		       words[first]);
		return;
	}
}

static void hint_known(const struct check *check, const struct node *at,
		       const char *field, const char *type)
{
	const char *meant = hint_value(field, type);
	const char *near;

	if (meant && strchr(meant, ' '))
		problem_hint(check->found, "%s", meant);
	else if (hint_looks(check->found, at))
		return;
	else if (meant || (near = misspelt_machine(check->catalogue, type)))
		problem_hint(check->found, "did you mean %s?",
			     meant ? meant : near);
	else if ((near = machine_of_size(check->catalogue, type)))
		problem_hint(check->found, "the nearest known one is %s", near);
}

static void check_machine_type(const struct check *check, int role)
{
	const char *type = role_type(check->in, role);
	const struct machine_family *family;
	const struct machine *machine;
	const struct node *at;
	char path[64], shown[SHORT_SIZE];
	const struct tpu *tpu;
	const struct slice *slice;

	machine = catalogue_machine(check->catalogue, type, &family);
	if (machine && !family->unlisted)
		return;
	at = value_of(check->in, roles[role].type);
	if (!at)
		return;
	snprintf(path, sizeof(path), "trainingInput.%s", roles[role].type);
	text_short(type, shown);
	slice = catalogue_slice(check->catalogue, type, &tpu);
	if (slice) {
		broken(check, at, path,
		       "\"%s\" \"%s\" is not a machine type but a TPU slice",
		       roles[role].type, shown);
		problem_hint(check->found,
			     "write workerType: cloud_tpu, and workerConfig: "
			     "{acceleratorConfig: {type: %s, count: %u}}",
			     tpu->type, slice->count);
	} else if (machine) {
		if (check->traits & TRAIT_AI_PLATFORM_RULES)
			dated(check, at, path,
			      "\"%s\" %s is not in AI Platform's list of "
			      "machine types",
			      roles[role].type, shown);
	} else if (looks_like_compute(type)) {
		unknown(check, at, path, type, "machine type");
		hint_known(check, at, roles[role].type, type);
	} else {
		broken(check, at, path, "\"%s\" \"%s\" is not a machine type",
		       roles[role].type, shown);
		hint_known(check, at, roles[role].type, type);
	}
}

void check_machine_types(const struct check *check)
{
	int i;

	for (i = 0; i < ROLE_COUNT; i++)
		if (role_type(check->in, i) &&
		    !is_cloud_tpu(role_type(check->in, i)))
			check_machine_type(check, i);
}

/* Warns of an unknown machine type: on a cluster no CPU and no memory would be
 * requested for it. */
void check_machine_known(const struct check *check)
{
	const char *date = check->catalogue->date;
	char path[64], shown[SHORT_SIZE];
	const char *type;
	const struct node *at;
	int i;

	for (i = 0; i < ROLE_COUNT; i++) {
		type = role_type(check->in, i);
		at = value_of(check->in, roles[i].type);
		if (!type || !at || is_cloud_tpu(type) ||
		    catalogue_machine(check->catalogue, type, NULL))
			continue;
		snprintf(path, sizeof(path), "trainingInput.%s", roles[i].type);
		broken(check, at, path,
		       "\"%s\" \"%s\" is not a known machine type: the "
		       "catalogue is of %s, and the job requests no CPU and no "
		       "memory for it",
		       roles[i].type, text_short(type, shown),
		       date ? date : "an unknown date");
		hint_known(check, at, roles[i].type, type);
	}
}

/* Warns of a machine type whose own accelerators are others.  On a cluster it
 * is otherwise only a size, and a job may take a part of a machine. */
void check_machine_accelerator(const struct check *check)
{
	int i;

	for (i = 0; i < ROLE_COUNT; i++) {
		const struct accelerator_config *config =
			&role_config(check->in, i)->accelerator_config;
		const char *type = role_type(check->in, i);
		const struct machine *machine =
			type ? catalogue_machine(check->catalogue, type, NULL)
			     : NULL;
		bool same;
		char path[96];

		if (!machine || !machine->accelerator_type || !config->type ||
		    is_tpu(config->type) || !value_of(config, "type"))
			continue;
		same = !strcmp(machine->accelerator_type, config->type);
		if (same && config->count <= (long)machine->accelerator_count)
			continue;
		snprintf(path, sizeof(path),
			 "trainingInput.%s.acceleratorConfig.%s",
			 roles[i].config, same ? "count" : "type");
		broken(check, value_of(config, same ? "count" : "type"), path,
		       "a machine of type %s has %u x %s, not %ld x %s", type,
		       machine->accelerator_count, machine->accelerator_type,
		       config->count, config->type);
	}
}

/* Requires type and count together. */
void check_accelerator_pairs(const struct check *check)
{
	int i;

	for (i = 0; i < ROLE_COUNT; i++) {
		const struct accelerator_config *config =
			&role_config(check->in, i)->accelerator_config;
		const char *missing = !config->type ? "type" : "count";
		const char *given = config->type ? "type" : "count";
		char path[96];

		if (!config->head.node || !config->type == !config->count ||
		    config->head.refused || config->head.strange)
			continue;
		snprintf(path, sizeof(path),
			 "trainingInput.%s.acceleratorConfig.%s",
			 roles[i].config, given);
		broken(check, key_of(config, given), path,
		       "\"%s\" of an acceleratorConfig also needs \"%s\"",
		       given, missing);
	}
}

static void put_counts(const struct fit *fit, struct buf *out)
{
	size_t i;

	for (i = 0; i < fit->count_count; i++)
		buf_printf(out, "%s%u",
			   i == 0                     ? ""
			   : i + 1 < fit->count_count ? ", "
						      : " or ",
			   fit->counts[i]);
}

static void check_fit(const struct check *check, int role,
		      const struct accelerator *accelerator)
{
	const struct accelerator_config *config =
		&role_config(check->in, role)->accelerator_config;
	const char *type = role_type(check->in, role);
	const struct fit *fit = accelerator_fit(accelerator, type);
	const struct machine *machine;
	const struct node *machine_at = value_of(check->in, roles[role].type);
	struct buf counts = { 0 };
	char path[96], line[LINE_SIZE];

	if (!fit) {
		/* Combinations that the catalogue does not know are allowed. */
		machine = catalogue_machine(check->catalogue, type, NULL);
		if (!machine)
			return;
		snprintf(path, sizeof(path),
			 "trainingInput.%s.acceleratorConfig.type",
			 roles[role].config);
		if (machine_at)
			line_of(check, machine_at, machine_at,
				"the machine type", line);
		broken(check, value_of(config, "type"), path,
		       "\"type\": a machine of type %s can't have an %s", type,
		       config->type);
		return;
	}
	if (!config->count || fit_has(fit, config->count))
		return;
	snprintf(path, sizeof(path), "trainingInput.%s.acceleratorConfig.count",
		 roles[role].config);
	put_counts(fit, &counts);
	if (machine_at)
		line_of(check, machine_at, machine_at, "the machine type",
			line);
	broken(check, value_of(config, "count"), path,
	       "\"count\": a machine of type %s can have %s of %s, not %ld",
	       type, buf_text(&counts), config->type, config->count);
	buf_done(&counts);
}

static void check_accelerator(const struct check *check, int role)
{
	const struct accelerator_config *config =
		&role_config(check->in, role)->accelerator_config;
	const char *type = role_type(check->in, role);
	const struct accelerator *accelerator;
	char path[96], line[LINE_SIZE];
	const struct node *at;

	if (!config->type || is_tpu(config->type) || is_cloud_tpu(type))
		return;
	accelerator = catalogue_accelerator(check->catalogue, config->type);
	at = value_of(config, "type");
	if (!at || !accelerator)
		return;
	snprintf(path, sizeof(path), "trainingInput.%s.acceleratorConfig",
		 roles[role].config);
	if (accelerator->later && is_closed(check)) {
		broken(check, at, path, "AI Platform had no \"%s\"",
		       config->type);
		problem_hint(check->found, "jobrun.provider: vertex-ai has it");
	} else if (type && category_of(check, type) == CATEGORY_LEGACY) {
		at = key_of(role_config(check->in, role), "acceleratorConfig");
		broken(check, at, path,
		       "\"acceleratorConfig\" needs a Compute Engine machine "
		       "type, but \"%s\" %s (%s) is a legacy one",
		       roles[role].type, type,
		       line_of(check, value_of(check->in, roles[role].type), at,
			       "a legacy machine type", line));
	} else if (type) {
		check_fit(check, role, accelerator);
	}
}

void check_accelerators(const struct check *check)
{
	int i;

	for (i = 0; i < ROLE_COUNT; i++)
		check_accelerator(check, i);
}

static bool is_among(const char *const *names, size_t count, const char *name)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

/* Returns the accelerator of a role: its own, or the one built into its machine
 * type or the tier. */
static const char *accelerator_of(const struct check *check, int role)
{
	const struct training_input *in = check->in;
	const char *type = role_config(in, role)->accelerator_config.type;
	const struct machine *machine =
		role_type(in, role)
			? catalogue_machine(check->catalogue,
					    role_type(in, role), NULL)
			: NULL;
	const struct tier *tier =
		role == ROLE_MASTER ? catalogue_tier(check->catalogue,
						     tier_names[in->scale_tier])
				    : NULL;

	if (type)
		return type;
	if (machine)
		return machine->accelerator_type;
	return tier ? tier->accelerator_type : NULL;
}

void check_accelerator_region(const struct check *check)
{
	const char *region = check->in->region;
	const struct accelerator *one;
	const struct node *at, *other;
	bool training;
	int i;

	if (!region || !catalogue_region(check->catalogue, region, &training) ||
	    !training)
		return;
	for (i = 0; i < ROLE_COUNT; i++) {
		const char *type = accelerator_of(check, i);

		one = type ? catalogue_accelerator(check->catalogue, type)
			   : NULL;
		if (!one || !one->region_count ||
		    is_among(one->regions, one->region_count, region))
			continue;
		at = value_of(check->in, "region");
		if (!at)
			return;
		broken(check, at, "trainingInput.region",
		       "\"region\" %s: AI Platform had no %s there", region,
		       type);
		other = value_of(&role_config(check->in, i)->accelerator_config,
				 "type");
		mark_also(check, other, "the GPU");
		if (!other)
			mark_also(check, value_of(check->in, "scaleTier"),
				  "this tier has one");
		return;
	}
}
