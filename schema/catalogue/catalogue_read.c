/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/catalogue/catalogue_read.h"

#include "schema/catalogue/cubes.h"
#include "schema/catalogue/prices.h"
#include "schema/catalogue/shipped.h"

#define TEXT(key, type, member)                                                \
	CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER, type, member, 1,       \
			       SHIPPED_NAME_MAX)
#define TEXT_IF_ANY(key, type, member)                                         \
	CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,  \
			       type, member, 1, SHIPPED_NAME_MAX)
#define LIST(key, type, member, count, items)                                  \
	CYAML_FIELD_SEQUENCE_COUNT(key, CYAML_FLAG_POINTER, type, member,      \
				   count, items, 1, CYAML_UNLIMITED)
#define LIST_IF_ANY(key, type, member, count, items)                           \
	CYAML_FIELD_SEQUENCE_COUNT(                                            \
		key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, type, member,   \
		count, items, 1, CYAML_UNLIMITED)
#define NUMBER(key, type, member)                                              \
	CYAML_FIELD_UINT(key, CYAML_FLAG_DEFAULT, type, member)
#define NUMBER_IF_ANY(key, type, member)                                       \
	CYAML_FIELD_UINT(key, CYAML_FLAG_OPTIONAL, type, member)
#define YES_IF_ANY(key, type, member)                                          \
	CYAML_FIELD_BOOL(key, CYAML_FLAG_OPTIONAL, type, member)
#define ITEM(type, fields)                                                     \
	{                                                                      \
		CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, type, fields)          \
	}

static const cyaml_schema_value_t text_item = {
	CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 1, SHIPPED_NAME_MAX),
};

static const cyaml_schema_value_t number_item = {
	CYAML_VALUE_UINT(CYAML_FLAG_DEFAULT, unsigned),
};

static const cyaml_schema_field_t tier_fields[] = {
	TEXT("name", struct tier, name),
	TEXT("masterType", struct tier, master_type),
	TEXT_IF_ANY("workerType", struct tier, worker_type),
	NUMBER_IF_ANY("workerCount", struct tier, worker_count),
	TEXT_IF_ANY("parameterServerType", struct tier, parameter_server_type),
	NUMBER_IF_ANY("parameterServerCount", struct tier,
		      parameter_server_count),
	TEXT_IF_ANY("acceleratorType", struct tier, accelerator_type),
	NUMBER_IF_ANY("acceleratorCount", struct tier, accelerator_count),
	TEXT("source", struct tier, source),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t tier_item = ITEM(struct tier, tier_fields);

static const cyaml_schema_field_t machine_fields[] = {
	TEXT("name", struct machine, name),
	NUMBER_IF_ANY("vcpus", struct machine, vcpus),
	CYAML_FIELD_FLOAT("memoryGb", CYAML_FLAG_OPTIONAL, struct machine,
			  memory_gb),
	TEXT_IF_ANY("acceleratorType", struct machine, accelerator_type),
	NUMBER_IF_ANY("acceleratorCount", struct machine, accelerator_count),
	TEXT_IF_ANY("like", struct machine, like),
	YES_IF_ANY("bySpot", struct machine, by_spot),
	YES_IF_ANY("byFlexStart", struct machine, by_flex_start),
	YES_IF_ANY("byReservation", struct machine, by_reservation),
	YES_IF_ANY("notAtVertex", struct machine, not_at_vertex),
	NUMBER_IF_ANY("tpuChips", struct machine, tpu_chips),
	TEXT_IF_ANY("tpuType", struct machine, tpu_type),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t machine_item =
	ITEM(struct machine, machine_fields);

static const cyaml_schema_field_t family_fields[] = {
	TEXT("name", struct machine_family, name),
	YES_IF_ANY("legacy", struct machine_family, legacy),
	YES_IF_ANY("unlisted", struct machine_family, unlisted),
	TEXT("source", struct machine_family, source),
	LIST("machines", struct machine_family, machines, machine_count,
	     &machine_item),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t family_item =
	ITEM(struct machine_family, family_fields);

static const cyaml_schema_field_t fit_fields[] = {
	LIST("machines", struct fit, machines, machine_count, &text_item),
	LIST("counts", struct fit, counts, count_count, &number_item),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t fit_item = ITEM(struct fit, fit_fields);

static const cyaml_schema_field_t accelerator_fields[] = {
	TEXT("type", struct accelerator, type),
	YES_IF_ANY("later", struct accelerator, later),
	YES_IF_ANY("flexStart", struct accelerator, flex_start),
	TEXT_IF_ANY("gres", struct accelerator, gres),
	TEXT("source", struct accelerator, source),
	LIST_IF_ANY("regions", struct accelerator, regions, region_count,
		    &text_item),
	LIST_IF_ANY("fits", struct accelerator, fits, fit_count, &fit_item),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t accelerator_item =
	ITEM(struct accelerator, accelerator_fields);

static const cyaml_schema_field_t strategy_fields[] = {
	TEXT("name", struct strategy, name),
	YES_IF_ANY("waits", struct strategy, waits),
	YES_IF_ANY("someAccelerators", struct strategy, some_accelerators),
	YES_IF_ANY("oneMachine", struct strategy, one_machine),
	YES_IF_ANY("noReservation", struct strategy, no_reservation),
	NUMBER_IF_ANY("maxDays", struct strategy, max_days),
	TEXT("source", struct strategy, source),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t strategy_item =
	ITEM(struct strategy, strategy_fields);

static const cyaml_schema_field_t maker_fields[] = {
	TEXT("name", struct maker, name),
	TEXT("resource", struct maker, resource),
	YES_IF_ANY("gke", struct maker, gke),
	LIST_IF_ANY("lines", struct maker, lines, line_count, &text_item),
	TEXT("source", struct maker, source),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t maker_item = ITEM(struct maker, maker_fields);

#define SHARE_IF_ANY(key, member)                                              \
	CYAML_FIELD_FLOAT(key, CYAML_FLAG_OPTIONAL, struct node_share, member)

static const cyaml_schema_field_t node_fields[] = {
	TEXT("of", struct node_share, of),
	SHARE_IF_ANY("from", from),
	SHARE_IF_ANY("until", until),
	SHARE_IF_ANY("share", share),
	SHARE_IF_ANY("fixed", fixed),
	TEXT("source", struct node_share, source),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t node_item =
	ITEM(struct node_share, node_fields);

static const cyaml_schema_field_t slice_fields[] = {
	TEXT("name", struct slice, name),
	NUMBER("count", struct slice, count),
	NUMBER("cores", struct slice, cores),
	NUMBER("chips", struct slice, chips),
	NUMBER("hosts", struct slice, hosts),
	TEXT("topology", struct slice, topology),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t slice_item = ITEM(struct slice, slice_fields);

static const cyaml_schema_field_t zone_fields[] = {
	TEXT("name", struct tpu_zone, name),
	NUMBER("min", struct tpu_zone, min),
	NUMBER("max", struct tpu_zone, max),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t zone_item =
	ITEM(struct tpu_zone, zone_fields);

static const cyaml_schema_field_t tpu_fields[] = {
	TEXT("type", struct tpu, type),
	TEXT("generation", struct tpu, generation),
	NUMBER("devicesPerHost", struct tpu, devices_per_host),
	TEXT_IF_ANY("podType", struct tpu, pod_type),
	TEXT_IF_ANY("apiType", struct tpu, api_type),
	TEXT_IF_ANY("vmRuntime", struct tpu, vm_runtime),
	TEXT_IF_ANY("gkeSlice", struct tpu, gke_slice),
	TEXT_IF_ANY("gkeSingle", struct tpu, gke_single),
	YES_IF_ANY("flat", struct tpu, flat),
	NUMBER_IF_ANY("cubes", struct tpu, cubes),
	TEXT_IF_ANY("vertexMachine", struct tpu, vertex_machine),
	TEXT_IF_ANY("vertexType", struct tpu, vertex_type),
	TEXT("source", struct tpu, source),
	LIST_IF_ANY("regions", struct tpu, regions, region_count, &text_item),
	LIST_IF_ANY("zones", struct tpu, zones, zone_count, &zone_item),
	LIST("slices", struct tpu, slices, slice_count, &slice_item),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t tpu_item = ITEM(struct tpu, tpu_fields);

static const cyaml_schema_field_t region_fields[] = {
	TEXT("name", struct region, name),
	TEXT("zones", struct region, zones),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t region_item =
	ITEM(struct region, region_fields);

static const cyaml_schema_field_t region_group_fields[] = {
	YES_IF_ANY("training", struct region_group, training),
	TEXT("source", struct region_group, source),
	LIST("regions", struct region_group, regions, region_count,
	     &region_item),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t region_group_item =
	ITEM(struct region_group, region_group_fields);

static const cyaml_strval_t support_names[] = {
	{ .str = "no", .val = TPU_SUPPORT_NO },
	{ .str = "yes", .val = TPU_SUPPORT_YES },
	{ .str = "ended", .val = TPU_SUPPORT_ENDED },
	{ .str = "seen", .val = TPU_SUPPORT_SEEN },
};

static const cyaml_schema_field_t runtime_fields[] = {
	TEXT("version", struct runtime, version),
	TEXT_IF_ANY("released", struct runtime, released),
	LIST("pythons", struct runtime, pythons, python_count, &text_item),
	YES_IF_ANY("open", struct runtime, open),
	CYAML_FIELD_ENUM("tpu", CYAML_FLAG_STRICT, struct runtime, tpu,
			 support_names, CYAML_ARRAY_LEN(support_names)),
	YES_IF_ANY("retired", struct runtime, retired),
	TEXT("source", struct runtime, source),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t runtime_item =
	ITEM(struct runtime, runtime_fields);

static const cyaml_strval_t device_names[] = {
	{ .str = "cpu", .val = DEVICE_CPU },
	{ .str = "gpu", .val = DEVICE_GPU },
	{ .str = "tpu", .val = DEVICE_TPU },
};

static const cyaml_schema_field_t container_fields[] = {
	TEXT("runtime", struct container, runtime),
	TEXT("python", struct container, python),
	CYAML_FIELD_ENUM("device", CYAML_FLAG_STRICT, struct container, device,
			 device_names, CYAML_ARRAY_LEN(device_names)),
	TEXT("image", struct container, image),
	TEXT("until", struct container, until),
	TEXT("source", struct container, source),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t container_item =
	ITEM(struct container, container_fields);

static const cyaml_schema_field_t catalogue_fields[] = {
	TEXT_IF_ANY("date", struct catalogue, date),
	LIST_IF_ANY("tiers", struct catalogue, tiers, tier_count, &tier_item),
	LIST_IF_ANY("families", struct catalogue, families, family_count,
		    &family_item),
	LIST_IF_ANY("accelerators", struct catalogue, accelerators,
		    accelerator_count, &accelerator_item),
	LIST_IF_ANY("strategies", struct catalogue, strategies, strategy_count,
		    &strategy_item),
	LIST_IF_ANY("makers", struct catalogue, makers, maker_count,
		    &maker_item),
	LIST_IF_ANY("nodes", struct catalogue, nodes, node_count, &node_item),
	LIST_IF_ANY("tpus", struct catalogue, tpus, tpu_count, &tpu_item),
	LIST_IF_ANY("regionGroups", struct catalogue, region_groups,
		    region_group_count, &region_group_item),
	LIST_IF_ANY("runtimes", struct catalogue, runtimes, runtime_count,
		    &runtime_item),
	LIST_IF_ANY("containers", struct catalogue, containers, container_count,
		    &container_item),
	TEXT_IF_ANY("currency", struct catalogue, prices.currency),
	LIST_IF_ANY("prices", struct catalogue, prices.prices,
		    prices.price_count, &price_item),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t catalogue_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct catalogue,
			    catalogue_fields),
};

struct catalogue *catalogue_read(const char *text, size_t len,
				 struct error *err)
{
	struct catalogue *all = shipped_read(text, len, &catalogue_schema, err);
	size_t i;

	for (i = 0; all && i < all->tpu_count; i++)
		slices_of_cubes((struct tpu *)&all->tpus[i]);
	return all;
}

void catalogue_free(struct catalogue *all)
{
	shipped_free(all, &catalogue_schema);
}
