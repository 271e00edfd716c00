/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/vertexai/vertexai_own.h"

#include <string.h>

#include "core/base/json.h"

#define RESERVATION_KEY "compute.googleapis.com/reservation-name"

static json_t *affinity(const struct strings *names)
{
	bool any = !strcmp(names->items[0], "any");
	json_t *out = json_object();

	json_put_text(out, "reservationAffinityType",
		      any ? "ANY_RESERVATION"
		      : !strcmp(names->items[0], "none")
			      ? "NO_RESERVATION"
			      : "SPECIFIC_RESERVATION");
	if (any || !strcmp(names->items[0], "none"))
		return out;
	json_put_text(out, "key", RESERVATION_KEY);
	json_put(out, "values", json_texts(names->items, names->count));
	return out;
}

static json_t *nfs_mounts(const struct messages *list)
{
	const struct vertex_ai_nfs *one = list->items;
	json_t *out = json_array();
	size_t i;

	for (i = 0; i < list->count; i++)
		json_array_append_new(out, json_pack("{s:s,s:s,s:s}", "server",
						     one[i].server, "path",
						     one[i].path, "mountPoint",
						     one[i].mount_point));
	return out;
}

void block_put_pool(const struct vertex_ai_block *block, json_t *out)
{
	if (!block)
		return;
	if (block->reservation.count)
		json_put(json_object_get(out, "machineSpec"),
			 "reservationAffinity", affinity(&block->reservation));
	if (block->nfs_mounts.count)
		json_put(out, "nfsMounts", nfs_mounts(&block->nfs_mounts));
}

/* The fields of Vertex AI's block and their places in a job's specification. */
static const struct {
	const char *field, *path;
} own[] = {
	{ "tensorboard", "tensorboard" },
	{ "strategy", "scheduling.strategy" },
	{ "maxWait", "scheduling.maxWaitDuration" },
	{ "restartOnWorkerRestart", "scheduling.restartJobOnWorkerRestart" },
	{ "disableRetries", "scheduling.disableRetries" },
	{ "persistentResource", "persistentResourceId" },
	{ "dashboardAccess", "enableDashboardAccess" },
	{ "networkAttachment", "pscInterfaceConfig.networkAttachment" },
	{ "experiment", "experiment" },
	{ "experimentRun", "experimentRun" },
	{ "outputDirectory", "baseOutputDirectory.outputUriPrefix" },
};

void block_put_spec(const struct vertex_ai_block *block, struct arena *mem,
		    json_t *spec)
{
	json_t *said, *value, *in;
	size_t i;

	if (!block)
		return;
	said = message_json(&vertex_ai_message, block, MESSAGE_WIRE);
	for (i = 0; i < COUNT(own); i++) {
		const char *dot = strchr(own[i].path, '.');
		const char *head = dot ? arena_printf(mem, "%.*s",
						      (int)(dot - own[i].path),
						      own[i].path)
				       : NULL;

		value = json_object_get(said, own[i].field);
		if (!value)
			continue;
		if (head && !json_object_get(spec, head))
			json_put(spec, head, json_object());
		in = head ? json_object_get(spec, head) : spec;
		json_object_set(in, dot ? dot + 1 : own[i].path, value);
	}
	json_decref(said);
}
