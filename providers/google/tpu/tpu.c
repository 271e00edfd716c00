/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/google/tpu/tpu.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/digest.h"
#include "core/base/json.h"
#include "providers/google/api.h"

static const char *copy(struct arena *mem, const json_t *object,
			const char *key)
{
	return arena_strdup(mem, json_get_text(object, key, ""));
}

static void read_endpoints(const json_t *list, struct arena *mem,
			   struct tpu_node *out)
{
	size_t count = json_array_size(list), i;
	struct tpu_endpoint *all = arena_alloc(mem, (count + 1) * sizeof(*all));
	const json_t *item;

	json_array_foreach(list, i, item)
	{
		const char *outside =
			json_get_text(json_object_get(item, "accessConfig"),
				      "externalIp", NULL);

		all[i].ip = copy(mem, item, "ipAddress");
		all[i].port = (int)json_get_int(item, "port", 0);
		all[i].external_ip =
			outside ? arena_strdup(mem, outside) : NULL;
	}
	out->endpoints = all;
	out->endpoint_count = count;
}

static void read_symptoms(const json_t *list, struct arena *mem,
			  struct tpu_node *out)
{
	size_t count = json_array_size(list), i;
	const char **all = arena_alloc(mem, (count + 1) * sizeof(*all));
	const json_t *item;

	json_array_foreach(list, i, item) all[i] =
		copy(mem, item, "symptomType");
	out->symptoms = all;
	out->symptom_count = count;
}

unsigned tpu_topology_chips(const char *topology)
{
	unsigned long chips = 1, side;
	const char *at = topology;
	char *end;

	for (;; at = end + 1) {
		side = strtoul(at, &end, 10);
		if (end == at || *at < '1' || *at > '9' || side > 1024)
			return 0;
		chips *= side;
		if (!*end)
			return (unsigned)chips;
		if (*end != 'x' || chips > 1024 * 1024)
			return 0;
	}
}

void tpu_node_read(const json_t *body, enum tpu_api api, struct arena *mem,
		   struct tpu_node *out)
{
	bool v1 = api == TPU_API_V1;

	out->exists = true;
	out->name = copy(mem, body, "name");
	out->state = copy(mem, body, "state");
	out->health = copy(mem, body, "health");
	out->health_text = copy(mem, body, "healthDescription");
	out->accelerator_type = copy(mem, body, "acceleratorType");
	out->version =
		copy(mem, body, v1 ? "tensorflowVersion" : "runtimeVersion");
	out->chips = tpu_topology_chips(json_get_text(
		json_object_get(body, "acceleratorConfig"), "topology", ""));
	read_endpoints(json_object_get(body, "networkEndpoints"), mem, out);
	read_symptoms(json_object_get(body, "symptoms"), mem, out);
}

static const struct tpu_node no_node = {
	.name = "",
	.state = "",
	.health = "",
	.health_text = "",
	.accelerator_type = "",
	.version = "",
};

int tpu_node_get(struct google *google, enum tpu_api api, const char *project,
		 const char *zone, const char *node, struct arena *mem,
		 struct tpu_node *out, struct error *err)
{
	bool v1 = api == TPU_API_V1;
	struct api_answer answer = { 0 };
	struct buf path = { 0 };
	struct api_request request = {
		.service = SERVICE_TPU,
		.method = "GET",
	};
	int ret;

	buf_puts(&path, v1 ? "v1/projects" : "v2/projects");
	api_path_add(&path, project);
	buf_puts(&path, "/locations");
	api_path_add(&path, zone);
	buf_puts(&path, "/nodes");
	api_path_add(&path, node);
	request.path = path.data;
	ret = api_call(google, &request, &answer, err);
	if (ret < 0 && answer.status == 404) {
		*out = no_node;
		ret = 0;
	} else if (ret == 0) {
		tpu_node_read(answer.body, api, mem, out);
	} else {
		error_prefix(err, "TPU node '%s' in %s", node, zone);
	}
	api_answer_done(&answer);
	buf_done(&path);
	return ret;
}

static bool is_one_of(const char *word, const char *const *words)
{
	for (; *words; words++)
		if (!strcmp(word, *words))
			return true;
	return false;
}

enum tpu_phase tpu_node_phase(const struct tpu_node *node)
{
	/* gcloud does not wait in these states either. */
	static const char *const lost[] = {
		"DELETING", "STOPPED", "STOPPING",   "PREEMPTED",
		"HIDDEN",   "",        "TERMINATED", NULL,
	};

	if (!node->exists || is_one_of(node->state, lost))
		return TPU_LOST;
	if (!strcmp(node->state, "READY") && !strcmp(node->health, "HEALTHY") &&
	    node->endpoint_count)
		return TPU_USABLE;
	return TPU_PENDING;
}

void tpu_node_expect(json_t *properties, const struct slice *slice)
{
	json_put_int(properties, "hosts", slice->hosts);
	json_put_int(properties, "chips", slice->chips);
}

bool tpu_node_differs(const struct tpu_node *node, const json_t *properties,
		      char *why, size_t size)
{
	size_t hosts = (size_t)json_get_int(properties, "hosts", 0);
	unsigned chips = (unsigned)json_get_int(properties, "chips", 0);
	unsigned found = node->chips ? node->chips : chips;

	/* Plans of earlier versions do not say. */
	if (!hosts || tpu_node_phase(node) != TPU_USABLE ||
	    (node->endpoint_count == hosts && found == chips))
		return false;
	snprintf(why, size, "%zu host%s with %u chips instead of %zu with %u",
		 node->endpoint_count, node->endpoint_count == 1 ? "" : "s",
		 found, hosts, chips);
	return true;
}

void tpu_name(const char *job_id, char out[TPU_NAME_MAX])
{
	const size_t room = 40;
	bool exact = strlen(job_id) <= room;
	struct digest digest;
	size_t i;

	for (i = 0; job_id[i] && i < room; i++) {
		char c = (char)tolower((unsigned char)job_id[i]);

		if (c == '_')
			c = '-';
		exact = exact && c == job_id[i];
		out[i] = c;
	}
	while (i && out[i - 1] == '-')
		i--;
	out[i] = '\0';
	/* A digest distinguishes ids that differ only in case. */
	if (!exact) {
		digest_bytes(job_id, strlen(job_id), &digest);
		snprintf(out + i, TPU_NAME_MAX - i, "-%.8s", digest.hex);
	}
}
