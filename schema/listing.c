/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/listing.h"

#include <string.h>

#include "core/base/alloc.h"
#include "core/base/json.h"
#include "schema/rules.h"

/* {"count": 4, "type": "n1-highcpu-8"}, or null for none. */
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

		for (k = 0; k < tpu->slice_count; k++) {
			const struct slice *slice = &tpu->slices[k];
			json_t *row = json_object();

			json_put_text(row, "slice", slice->name);
			json_put_text(row, "type", tpu->type);
			json_put_int(row, "count", slice->count);
			json_put_int(row, "hosts", slice->hosts);
			json_put_int(row, "devicesPerHost",
				     tpu->devices_per_host);
			json_put_text(row, "topology", slice->topology);
			json_put_text(row, "source", tpu->source);
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

	(void)all;
	(void)catalogue;
	for (rule = rules; rule->id; rule++) {
		json_t *row = json_object();

		json_put_text(row, "id", rule->id);
		json_put_text(row, "rule", rule->doc);
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

const struct listing listings[] = {
	{ "scale-tiers", "the sets of machines that scaleTier names",
	  scale_tiers },
	{ "tpus", "the slices of Cloud TPUs", tpus },
	{ "rules", "what must hold between fields", all_rules },
	{ "providers", "where jobs run", all_providers },
	{ NULL, NULL, NULL },
};

const struct listing *listing_find(const char *name)
{
	const struct listing *listing;

	for (listing = listings; listing->name; listing++)
		if (!strcmp(listing->name, name))
			return listing;
	return NULL;
}
