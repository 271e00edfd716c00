/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/describe/explain_list.h"

#include <stdio.h>
#include <string.h>

#include "core/base/json.h"
#include "schema/problem/problem.h"
#include "schema/rules/rules.h"

/* Writes {"count": 4, "type": "n1-highcpu-8"}, or null if there are none. */
static void put_counted(json_t *row, const char *key, unsigned count,
			const char *type)
{
	json_t *value = json_null();

	if (count && type) {
		value = json_object();
		json_put_int(value, "count", count);
		json_put_text(value, "type", type);
	}
	json_put(row, key, value);
}

/* Writes the source of a row, and the date until which the source was
 * current. */
static void put_origin(json_t *row, const char *source, const char *origin)
{
	json_put_text(row, "source", source);
	json_put_text(row, "origin", origin ? origin : "jobrun");
}

json_t *rule_places(const struct outline *all, const struct rule *rule)
{
	const struct provider *const *provider;
	json_t *names = json_array();

	if (rule_is_everywhere(rule))
		json_array_append_new(names, json_string("all"));
	else
		for (provider = all->providers; *provider; provider++)
			if (rule_holds(rule, (*provider)->traits))
				json_array_append_new(
					names, json_string((*provider)->name));
	return names;
}

static json_t *machine_types(const struct outline *all,
			     const struct catalogue *catalogue)
{
	json_t *rows = json_array();
	size_t i, k;

	(void)all;
	for (i = 0; i < catalogue->family_count; i++) {
		const struct machine_family *family = &catalogue->families[i];

		for (k = 0; k < family->machine_count; k++) {
			const struct machine *machine = &family->machines[k];
			json_t *row;

			if (catalogue_machine(catalogue, machine->name, NULL) !=
			    machine)
				continue;
			row = json_object();
			json_put_text(row, "name", machine->name);
			json_put_int(row, "vcpus", machine->vcpus);
			json_put(row, "memoryGb",
				 json_real(machine->memory_gb));
			put_counted(row, "accelerator",
				    machine->accelerator_count,
				    machine->accelerator_type);
			json_put_text(row, "like",
				      machine->like ? machine->like : "");
			json_put(row, "aiPlatform",
				 json_boolean(!family->unlisted));
			put_origin(row, family->source, family->origin);
			json_array_append_new(rows, row);
		}
	}
	return rows;
}

/* Returns a row for each set of machines: [{"machines": [...], "counts":
 * [...]}] */
static json_t *accelerators(const struct outline *all,
			    const struct catalogue *catalogue)
{
	json_t *rows = json_array();
	size_t i, k, c;

	(void)all;
	for (i = 0; i < catalogue->accelerator_count; i++) {
		const struct accelerator *one = &catalogue->accelerators[i];

		if (catalogue_accelerator(catalogue, one->type) != one)
			continue;
		for (k = 0; k < one->fit_count || !k; k++) {
			const struct fit *fit =
				k < one->fit_count ? &one->fits[k] : NULL;
			json_t *row = json_object(), *counts = json_array();

			for (c = 0; fit && c < fit->count_count; c++)
				json_array_append_new(
					counts, json_integer(fit->counts[c]));
			json_put_text(row, "type", one->type);
			json_put(row, "counts", counts);
			json_put(row, "machines",
				 fit ? json_texts(fit->machines,
						  fit->machine_count)
				     : json_array());
			json_put(row, "regions",
				 json_texts(one->regions, one->region_count));
			put_origin(row, one->source, one->origin);
			json_array_append_new(rows, row);
		}
	}
	return rows;
}

static json_t *regions(const struct outline *all,
		       const struct catalogue *catalogue)
{
	json_t *rows = json_array();
	size_t i, k;
	const char *letter;

	(void)all;
	for (i = 0; i < catalogue->region_group_count; i++) {
		const struct region_group *group = &catalogue->region_groups[i];

		for (k = 0; k < group->region_count; k++) {
			const struct region *region = &group->regions[k];
			json_t *row, *zones;

			if (catalogue_region(catalogue, region->name, NULL) !=
			    region)
				continue;
			row = json_object();
			zones = json_array();
			for (letter = region->zones; letter && *letter;
			     letter++)
				json_array_append_new(zones,
						      json_sprintf("%s-%c",
								   region->name,
								   *letter));
			json_put_text(row, "name", region->name);
			json_put(row, "aiPlatform",
				 json_boolean(group->training));
			json_put(row, "zones", zones);
			put_origin(row, group->source, group->origin);
			json_array_append_new(rows, row);
		}
	}
	return rows;
}

/* Adds a row {"zone": "us-central1-a", "tpus": ["TPU_V5P"], ...}. */
static void put_zone(json_t *rows, const struct catalogue *catalogue,
		     const char *name, const char *source, const char *origin)
{
	json_t *row = json_object(), *found = json_array();
	size_t i, k;

	for (i = 0; i < catalogue->tpu_count; i++)
		for (k = 0; k < catalogue->tpus[i].zone_count; k++)
			if (!strcmp(catalogue->tpus[i].zones[k].name, name))
				json_array_append_new(
					found,
					json_sprintf(
						"%s %u to %u",
						catalogue->tpus[i].type,
						catalogue->tpus[i].zones[k].min,
						catalogue->tpus[i]
							.zones[k]
							.max));
	json_put_text(row, "zone", name);
	json_put(row, "tpus", found);
	put_origin(row, source, origin);
	json_array_append_new(rows, row);
}

/* Returns the zones of regions, and other zones that have TPUs. */
static json_t *zones(const struct outline *all,
		     const struct catalogue *catalogue)
{
	json_t *rows = json_array(), *row;
	size_t i, k;
	const char *letter;
	char name[64];

	(void)all;
	for (i = 0; i < catalogue->region_group_count; i++) {
		const struct region_group *group = &catalogue->region_groups[i];

		for (k = 0; k < group->region_count; k++) {
			const struct region *one = &group->regions[k];

			if (catalogue_region(catalogue, one->name, NULL) != one)
				continue;
			for (letter = one->zones; *letter; letter++) {
				snprintf(name, sizeof(name), "%s-%c", one->name,
					 *letter);
				put_zone(rows, catalogue, name, group->source,
					 group->origin);
			}
		}
	}
	for (i = 0; i < catalogue->tpu_count; i++)
		for (k = 0; k < catalogue->tpus[i].zone_count; k++) {
			const struct tpu *tpu = &catalogue->tpus[i];
			size_t at;

			json_array_foreach(
				rows, at,
				row) if (!strcmp(json_get_text(row, "zone", ""),
						 tpu->zones[k].name)) break;
			if (at == json_array_size(rows))
				put_zone(rows, catalogue, tpu->zones[k].name,
					 tpu->source, tpu->origin);
		}
	return rows;
}

static json_t *runtime_versions(const struct outline *all,
				const struct catalogue *catalogue)
{
	static const char *const support[] = {
		[TPU_SUPPORT_NO] = "no",
		[TPU_SUPPORT_YES] = "yes",
		[TPU_SUPPORT_ENDED] = "ended",
		[TPU_SUPPORT_SEEN] = "seen",
	};
	json_t *rows = json_array();
	size_t i;

	(void)all;
	for (i = 0; i < catalogue->runtime_count; i++) {
		const struct runtime *runtime = &catalogue->runtimes[i];
		json_t *row = json_object();

		json_put_text(row, "version", runtime->version);
		json_put_text(row, "released",
			      runtime->released ? runtime->released : "");
		json_put(row, "pythons",
			 json_texts(runtime->pythons, runtime->python_count));
		json_put_text(row, "tpus", support[runtime->tpu]);
		json_put(row, "retired", json_boolean(runtime->retired));
		put_origin(row, runtime->source, runtime->origin);
		json_array_append_new(rows, row);
	}
	return rows;
}

static json_t *scale_tiers(const struct outline *all,
			   const struct catalogue *catalogue)
{
	json_t *rows = json_array();
	size_t i;

	(void)all;
	for (i = 0; i < catalogue->tier_count; i++) {
		const struct tier *tier = &catalogue->tiers[i];
		json_t *row = json_object();

		json_put_text(row, "name", tier->name);
		json_put_text(row, "master", tier->master_type);
		put_counted(row, "workers", tier->worker_count,
			    tier->worker_type);
		put_counted(row, "parameterServers",
			    tier->parameter_server_count,
			    tier->parameter_server_type);
		put_counted(row, "accelerator", tier->accelerator_count,
			    tier->accelerator_type);
		json_put_text(row, "source", tier->source);
		json_array_append_new(rows, row);
	}
	return rows;
}

static json_t *tpus(const struct outline *all,
		    const struct catalogue *catalogue)
{
	json_t *rows = json_array();
	size_t i, k;

	(void)all;
	for (i = 0; i < catalogue->tpu_count; i++) {
		const struct tpu *tpu = &catalogue->tpus[i];

		if (catalogue_tpu(catalogue, tpu->type) != tpu)
			continue;
		for (k = 0; k < tpu->slice_count; k++) {
			const struct slice *slice = &tpu->slices[k];
			json_t *row = json_object();

			json_put_text(row, "slice", slice->name);
			json_put_text(row, "type", tpu->type);
			if (tpu->pod_type)
				json_put_text(row, "podType", tpu->pod_type);
			json_put_int(row, "count", slice->count);
			json_put_int(row, "hosts", slice->hosts);
			json_put_int(row, "devicesPerHost",
				     tpu->devices_per_host);
			json_put_text(row, "topology", slice->topology);
			put_origin(row, tpu->source, tpu->origin);
			json_array_append_new(rows, row);
		}
	}
	return rows;
}

static json_t *all_rules(const struct outline *all,
			 const struct catalogue *catalogue)
{
	json_t *rows = json_array();
	const struct rule *rule;

	(void)catalogue;
	for (rule = rules; rule->id; rule++) {
		json_t *row = json_object();

		json_put_text(row, "id", rule->id);
		json_put_text(row, "rule", rule->doc);
		json_put_text(row, "severity", severity_name(rule->severity));
		json_put(row, "providers", rule_places(all, rule));
		json_put_text(row, "source", rule->source);
		json_array_append_new(rows, row);
	}
	return rows;
}

static json_t *all_providers(const struct outline *all,
			     const struct catalogue *catalogue)
{
	const struct provider *const *provider;
	json_t *rows = json_array();

	(void)catalogue;
	for (provider = all->providers; *provider; provider++) {
		json_t *row = json_object();

		json_put_text(row, "name", (*provider)->name);
		json_put_text(row, "runs", (*provider)->summary);
		json_array_append_new(rows, row);
	}
	return rows;
}

const struct explain_list listings[] = {
	{ "machine-types", "values of masterType and the like", machine_types,
	  true },
	{ "accelerators", "GPUs, and the machines that can have them",
	  accelerators, true },
	{ "scale-tiers", "the sets of machines behind scaleTier", scale_tiers,
	  true },
	{ "tpus", "the slices of Cloud TPUs", tpus, true },
	{ "regions", "the regions with machines", regions, true },
	{ "zones", "the zones of regions, and the TPUs in them", zones, true },
	{ "runtime-versions", "values of runtimeVersion", runtime_versions,
	  true },
	{ "rules", "what jobrun checks, between fields too", all_rules, false },
	{ "providers", "where jobs can run", all_providers, false },
	{ NULL, NULL, NULL, false },
};

const struct explain_list *listing_find(const char *name)
{
	const struct explain_list *listing;

	for (listing = listings; listing->name; listing++)
		if (!strcmp(listing->name, name))
			return listing;
	return NULL;
}
