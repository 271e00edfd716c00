/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/kubernetes/found_tasks.h"

#include "core/base/json.h"
#include "core/topology/topology_read.h"
#include "providers/kubernetes/kube_internal.h"

/* Returns the i-th Job of a JobSet, or the Job itself. */
static const json_t *job_at(const json_t *object, size_t i)
{
	const json_t *jobs = json_object_get(json_object_get(object, "spec"),
					     "replicatedJobs");

	return jobs ? json_object_get(json_array_get(jobs, i), "template")
		    : object;
}

/* Returns how many pods all Jobs have. */
static size_t count_pods(const json_t *object)
{
	const json_t *jobs = json_object_get(json_object_get(object, "spec"),
					     "replicatedJobs");
	size_t count = jobs ? json_array_size(jobs) : 1, i;
	long long total = 0, n;

	for (i = 0; i < count; i++) {
		n = json_get_int(json_object_get(job_at(object, i), "spec"),
				 "completions", 1);
		if (n > 0 && n <= TOPOLOGY_TASK_MAX)
			total += n;
	}
	return total > 0 && total <= TOPOLOGY_TASK_MAX ? (size_t)total : 1;
}

/* Returns the variables of the first pod, as far as the manifest has their
 * values. */
static char *const *first_env(const json_t *object, struct arena *mem)
{
	const json_t *spec = json_object_get(job_at(object, 0), "spec");
	const json_t *pod =
		json_object_get(json_object_get(spec, "template"), "spec");
	const json_t *container =
		json_array_get(json_object_get(pod, "containers"), 0);
	const json_t *env = json_object_get(container, "env"), *one;
	char **out =
		arena_alloc(mem, (json_array_size(env) + 2) * sizeof(char *));
	size_t i, n = 0;

	json_array_foreach(env, i, one)
	{
		const char *value = json_get_text(one, "value", NULL);

		if (value)
			out[n++] = arena_printf(mem, "%s=%s",
						json_get_text(one, "name", ""),
						value);
	}
	out[n++] = arena_strdup(mem, "JOB_COMPLETION_INDEX=0");
	out[n] = NULL;
	return out;
}

void found_tasks(const json_t *object, struct arena *mem, struct topology *out)
{
	struct surroundings first = {
		.env = first_env(object, mem),
		.host = arena_printf(mem, "%s-0", object_meta(object, "name")),
	};
	size_t count = count_pods(object), self, i;
	const char **hosts;
	struct error ignored;

	if (reader_kubernetes.read(&first, mem, out, &self, &ignored) == 0 &&
	    out->count == count)
		return;
	/* Trials know no peers, and neither do manifests of others. */
	hosts = arena_alloc(mem, count * sizeof(*hosts));
	for (i = 0; i < count; i++)
		hosts[i] = arena_printf(mem, "%zu", i);
	topology_from_hosts(hosts, count, mem, out);
}
