/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/catalogue.h"

#include <cyaml/cyaml.h>
#include <pthread.h>

#define NAME_MAX_LEN 256

/* From the linker: the bytes of the file. */
extern const uint8_t catalogue_yaml[], catalogue_yaml_end[];

static const cyaml_schema_field_t tier_fields[] = {
	CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_POINTER, struct tier, name, 1,
			       NAME_MAX_LEN),
	CYAML_FIELD_STRING_PTR("masterType", CYAML_FLAG_POINTER, struct tier,
			       master_type, 1, NAME_MAX_LEN),
	CYAML_FIELD_STRING_PTR("workerType",
			       CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
			       struct tier, worker_type, 1, NAME_MAX_LEN),
	CYAML_FIELD_UINT("workerCount", CYAML_FLAG_OPTIONAL, struct tier,
			 worker_count),
	CYAML_FIELD_STRING_PTR(
		"parameterServerType", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
		struct tier, parameter_server_type, 1, NAME_MAX_LEN),
	CYAML_FIELD_UINT("parameterServerCount", CYAML_FLAG_OPTIONAL,
			 struct tier, parameter_server_count),
	CYAML_FIELD_STRING_PTR("acceleratorType",
			       CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
			       struct tier, accelerator_type, 1, NAME_MAX_LEN),
	CYAML_FIELD_UINT("acceleratorCount", CYAML_FLAG_OPTIONAL, struct tier,
			 accelerator_count),
	CYAML_FIELD_STRING_PTR("source", CYAML_FLAG_POINTER, struct tier,
			       source, 1, NAME_MAX_LEN),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t tier_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tier, tier_fields),
};

static const cyaml_schema_field_t slice_fields[] = {
	CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_POINTER, struct slice, name,
			       1, NAME_MAX_LEN),
	CYAML_FIELD_UINT("count", CYAML_FLAG_DEFAULT, struct slice, count),
	CYAML_FIELD_UINT("hosts", CYAML_FLAG_DEFAULT, struct slice, hosts),
	CYAML_FIELD_STRING_PTR("topology", CYAML_FLAG_POINTER, struct slice,
			       topology, 1, NAME_MAX_LEN),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t slice_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct slice, slice_fields),
};

static const cyaml_schema_field_t tpu_fields[] = {
	CYAML_FIELD_STRING_PTR("type", CYAML_FLAG_POINTER, struct tpu, type, 1,
			       NAME_MAX_LEN),
	CYAML_FIELD_STRING_PTR("generation", CYAML_FLAG_POINTER, struct tpu,
			       generation, 1, NAME_MAX_LEN),
	CYAML_FIELD_UINT("devicesPerHost", CYAML_FLAG_DEFAULT, struct tpu,
			 devices_per_host),
	CYAML_FIELD_SEQUENCE_COUNT("slices", CYAML_FLAG_POINTER, struct tpu,
				   slices, slice_count, &slice_schema, 1,
				   CYAML_UNLIMITED),
	CYAML_FIELD_STRING_PTR("source", CYAML_FLAG_POINTER, struct tpu, source,
			       1, NAME_MAX_LEN),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t tpu_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tpu, tpu_fields),
};

static const cyaml_schema_field_t catalogue_fields[] = {
	CYAML_FIELD_SEQUENCE_COUNT("tiers", CYAML_FLAG_POINTER,
				   struct catalogue, tiers, tier_count,
				   &tier_schema, 1, CYAML_UNLIMITED),
	CYAML_FIELD_SEQUENCE_COUNT("tpus", CYAML_FLAG_POINTER, struct catalogue,
				   tpus, tpu_count, &tpu_schema, 1,
				   CYAML_UNLIMITED),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t catalogue_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct catalogue,
			    catalogue_fields),
};

static const cyaml_config_t config = {
	.log_level = CYAML_LOG_ERROR,
	.mem_fn = cyaml_mem,
};

/* Read once, never written again. */
static struct catalogue *the_catalogue;
static cyaml_err_t why;

static void load(void)
{
	cyaml_data_t *data = NULL;

	why = cyaml_load_data(catalogue_yaml,
			      (size_t)(catalogue_yaml_end - catalogue_yaml),
			      &config, &catalogue_schema, &data, NULL);
	if (why == CYAML_OK)
		the_catalogue = data;
}

const struct catalogue *catalogue_get(struct error *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load);
	if (!the_catalogue)
		error_set(err, ERROR_FAILED,
			  "cannot read the catalogue that is compiled in: %s",
			  cyaml_strerror(why));
	return the_catalogue;
}
