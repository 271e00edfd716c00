/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/google/managed/read_cluster.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/json.h"
#include "core/base/units.h"

/* Reads "HOST:PORT" or "[::1]:PORT". */
static int read_address(const char *name, const char *text, struct arena *mem,
			struct task_place *out, struct error *err)
{
	const char *colon = strrchr(text, ':');
	const char *host = text;
	size_t len;
	long port;

	if (!colon || colon == text ||
	    number_parse(colon + 1, 1, 65535, &port, err) < 0)
		return error_set(err, ERROR_INVALID, "%s: '%s' is no HOST:PORT",
				 name, text);
	len = (size_t)(colon - text);
	if (host[0] == '[' && host[len - 1] == ']') {
		host++;
		len -= 2;
	}
	if (!len)
		return error_set(err, ERROR_INVALID, "%s: '%s' is no HOST:PORT",
				 name, text);
	out->host = arena_strndup(mem, host, len);
	out->port = (int)port;
	return 0;
}

static int read_list(const char *name, const char *key, const json_t *list,
		     enum task_type type, struct arena *mem,
		     struct topology *out, struct error *err)
{
	size_t i;

	if (!json_is_array(list))
		return error_set(err, ERROR_INVALID,
				 "%s: cluster.%s is no list of addresses", name,
				 key);
	for (i = 0; i < json_array_size(list); i++) {
		const char *text = json_string_value(json_array_get(list, i));
		struct task_place *task = &out->tasks[out->count];

		if (!text)
			return error_set(err, ERROR_INVALID,
					 "%s: cluster.%s[%zu] is no text", name,
					 key, i);
		if (read_address(name, text, mem, task, err) < 0)
			return -1;
		task->type = type;
		task->index = (int)i;
		out->count++;
	}
	return 0;
}

/* Reads all tasks in the order of their ordinals, with room for one more. */
static int read_cluster(const char *name, const json_t *cluster,
			int (*type_of)(const char *key, enum task_type *out),
			struct arena *mem, struct topology *out,
			struct error *err)
{
	const char *keys[TASK_TYPE_COUNT] = { NULL };
	const char *key;
	enum task_type type;
	size_t total = 0;
	json_t *list;

	json_object_foreach((json_t *)cluster, key, list)
	{
		if (type_of(key, &type) < 0)
			return error_set(err, ERROR_INVALID,
					 "%s: '%s' is no type of task that is "
					 "known",
					 name, key);
		if (keys[type])
			return error_set(err, ERROR_INVALID,
					 "%s: cluster has both '%s' and '%s'",
					 name, keys[type], key);
		keys[type] = key;
		total += json_array_size(list);
		if (total > TOPOLOGY_TASK_MAX)
			return error_set(err, ERROR_INVALID,
					 "%s: more than %d tasks", name,
					 TOPOLOGY_TASK_MAX);
	}
	out->tasks = arena_alloc(mem, (total + 1) * sizeof(*out->tasks));
	for (type = 0; type < TASK_TYPE_COUNT; type++) {
		if (!keys[type])
			continue;
		list = json_object_get(cluster, keys[type]);
		if (read_list(name, keys[type], list, type, mem, out, err) < 0)
			return -1;
	}
	return 0;
}

/* Reads which task this is.  Numbers may be strings. */
static int read_task(const char *name, const json_t *task,
		     int (*type_of)(const char *key, enum task_type *out),
		     struct arena *mem, struct topology *out, size_t *self,
		     struct error *err)
{
	const char *key = json_get_text(task, "type", "");
	const char *text = json_get_text(task, "index", NULL);
	const char *trial = json_get_text(task, "trial", NULL);
	long index = (long)json_get_int(task, "index", 0);
	struct task_place *more;
	enum task_type type;
	int at;

	if (type_of(key, &type) < 0)
		return error_set(err, ERROR_INVALID,
				 "%s: task.type '%s' is no type of task that "
				 "is known",
				 name, key);
	if (text && number_parse(text, 0, INT_MAX, &index, err) < 0)
		return error_prefix(err, "%s: task.index", name);
	if (index < 0 || index > INT_MAX)
		return error_set(err, ERROR_INVALID,
				 "%s: task.index %ld is out of range", name,
				 index);
	if (trial && *trial)
		out->trial_id = arena_strdup(mem, trial);
	at = topology_find(out, type, (int)index);
	if (at >= 0) {
		*self = (size_t)at;
		return 0;
	}
	if (type != TASK_EVALUATOR)
		return error_set(err, ERROR_INVALID,
				 "%s: task is %s %ld, and cluster has no such "
				 "one",
				 name, key, index);
	more = &out->tasks[out->count];
	more->type = type;
	more->index = (int)index;
	more->host = "localhost";
	more->port = TOPOLOGY_TASK_PORT;
	*self = out->count++;
	return 0;
}

int topology_from_cluster(const json_t *config, const char *name,
			  int (*type_of)(const char *key, enum task_type *out),
			  struct arena *mem, struct topology *out, size_t *self,
			  struct error *err)
{
	const json_t *cluster = json_object_get(config, "cluster");
	const json_t *task = json_object_get(config, "task");
	static const char *const here[] = { "127.0.0.1" };

	if ((cluster && !json_is_object(cluster)) ||
	    (task && !json_is_object(task)))
		return error_set(err, ERROR_INVALID,
				 "%s: cluster and task must be maps", name);
	if (!json_object_size(cluster) && !json_object_size(task)) {
		topology_from_hosts(here, 1, mem, out);
		out->master_port = TOPOLOGY_TASK_PORT;
		*self = 0;
		return 0;
	}
	if (read_cluster(name, cluster, type_of, mem, out, err) < 0 ||
	    read_task(name, task, type_of, mem, out, self, err) < 0)
		return -1;
	/* Prebuilt containers of PyTorch on both services use the first
	 * replica's port for the rendezvous, as only that one is certainly
	 * open. */
	out->master_port = out->tasks[0].port;
	topology_rank(out);
	return 0;
}

void surroundings_cloud_ml(const struct surroundings *at, struct topology *out)
{
	const char *name = surroundings_get(at, "CLOUD_ML_JOB_ID");
	const char *trial = surroundings_get(at, "CLOUD_ML_TRIAL_ID");

	out->job_id = name ? name : "job";
	/* The description of the cluster may have set it already. */
	if (trial)
		out->trial_id = trial;
	out->metric_file = surroundings_get(at, "CLOUD_ML_HP_METRIC_FILE");
}
