/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/kubernetes/manifest/pod_security.h"

#include <string.h>

/* Returns the map at a key, creating it if needed; borrowed. */
static json_t *map_at(json_t *object, const char *key)
{
	json_t *map = json_object_get(object, key);

	if (!map) {
		map = json_object();
		json_object_set_new(object, key, map);
	}
	return map;
}

/* Puts `value` (taken) at a key that is not there yet. */
static void put_unless_there(json_t *map, const char *key, json_t *value)
{
	if (json_object_get(map, key))
		json_decref(value);
	else
		json_object_set_new(map, key, value);
}

static void restrict_containers(json_t *containers)
{
	json_t *one, *security;
	size_t i;

	json_array_foreach(containers, i, one)
	{
		security = map_at(one, "securityContext");
		put_unless_there(security, "allowPrivilegeEscalation",
				 json_false());
		put_unless_there(map_at(security, "capabilities"), "drop",
				 json_pack("[s]", "ALL"));
	}
}

void pod_security_fill(json_t *spec, bool restricted)
{
	json_t *security = map_at(spec, "securityContext");

	put_unless_there(security, "seccompProfile",
			 json_pack("{s:s}", "type", "RuntimeDefault"));
	if (!restricted)
		return;
	put_unless_there(security, "runAsNonRoot", json_true());
	restrict_containers(json_object_get(spec, "initContainers"));
	restrict_containers(json_object_get(spec, "containers"));
}

static void restrict_job(json_t *job)
{
	json_t *template =
		json_object_get(json_object_get(job, "spec"), "template");

	pod_security_fill(json_object_get(template, "spec"), true);
}

void pod_security_restrict(json_t *object)
{
	json_t *jobs = json_object_get(json_object_get(object, "spec"),
				       "replicatedJobs");
	json_t *one;
	size_t i;

	json_array_foreach(jobs, i, one)
		restrict_job(json_object_get(one, "template"));
	if (!jobs)
		restrict_job(object);
}
