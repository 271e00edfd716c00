/* SPDX-License-Identifier: Apache-2.0 */
/* Takes pod templates of Kubernetes.  jobrun has most of a pod's settings once
 * for all replicas, so those of the first kind of pods count. */
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/job/message.h"
#include "schema/import/foreign.h"

#define GPU_LABEL "cloud.google.com/gke-accelerator"

/* Takes [{name, value}]; an entry of another form, or with another value than
 * before, stays. */
static void take_env(struct foreign *foreign, json_t *container)
{
	json_t *list = json_object_get(container, "env"), *item, *value, *have;
	char text[4096];
	size_t i;

	json_array_foreach(list, i, item)
	{
		const char *name = json_get_text(item, "name", "");

		value = json_object_get(item, "value");
		have = json_object_get(
			import_get(foreign->import->job, "jobrun.env"), name);
		if (!foreign_text(value, text, sizeof(text)) ||
		    (have && strcmp(json_string_value(have), text) != 0))
			continue;
		if (!import_get(foreign->import->job, "jobrun.env"))
			import_set(foreign->import->job, "jobrun.env",
				   json_object());
		json_put_text(import_get(foreign->import->job, "jobrun.env"),
			      name, text);
		json_object_clear(item);
	}
}

static double take_amount(json_t *resources, const char *key, double plain)
{
	json_t *limits = json_object_get(resources, "limits");
	json_t *requests = json_object_get(resources, "requests");
	json_t *value = foreign_take_key(requests, key);
	json_t *limit = foreign_take_key(limits, key);
	double out = 0;
	char text[64];

	if (foreign_text(value ? value : limit, text, sizeof(text)))
		out = text_ends(text, "m") ? atof(text) / 1000
					   : foreign_gb(text, plain);
	json_decref(value);
	json_decref(limit);
	return out;
}

/* Takes GPUs, whose type is known only from a label of the nodes. */
static void take_gpus(struct foreign *foreign, json_t *resources,
		      json_t *selector, struct foreign_pool *out)
{
	const struct catalogue *all = foreign->catalogue;
	json_t *limits = json_object_get(resources, "limits");
	const char *label = json_get_text(selector, GPU_LABEL, NULL);
	const char *type = label ? foreign_accelerator(foreign, label) : NULL;
	char text[32];
	size_t i;

	for (i = 0; type && i < all->maker_count; i++) {
		const char *key = all->makers[i].resource;
		json_t *count = json_object_get(limits, key);

		if (!foreign_text(count, text, sizeof(text)))
			continue;
		out->accelerator = type;
		out->accelerators = strtol(text, NULL, 10);
		json_object_del(limits, key);
		json_object_del(json_object_get(resources, "requests"), key);
		json_object_del(selector, GPU_LABEL);
	}
}

static void put_if(json_t *map, const char *key, json_t *value)
{
	if (value)
		json_put(map, key, value);
}

/* Whether CPUs or memory are limited to what is requested; a limit without a
 * request is both.  Another limit stays. */
static bool is_limited(json_t *resources, const char *key)
{
	json_t *limits = json_object_get(resources, "limits");
	json_t *limit = json_object_get(limits, key);
	json_t *request =
		json_object_get(json_object_get(resources, "requests"), key);

	return limit && (!request || json_equal(limit, request));
}

static void take_resources(struct foreign *foreign, json_t *resources,
			   json_t *selector, struct foreign_pool *out,
			   json_t *shared)
{
	json_t *limits = json_object_get(resources, "limits");
	json_t *cpu = json_incref(json_object_get(limits, "cpu"));
	json_t *memory = json_incref(json_object_get(limits, "memory"));
	bool limited =
		is_limited(resources, "cpu") && is_limited(resources, "memory");

	out->cpus = take_amount(resources, "cpu", 1);
	out->memory_gb = take_amount(resources, "memory", 1e-9);
	take_gpus(foreign, resources, selector, out);
	if (limited) {
		json_put(shared, "limits", json_true());
	} else {
		put_if(limits, "cpu", json_incref(cpu));
		put_if(limits, "memory", json_incref(memory));
	}
	json_decref(memory);
	json_decref(cpu);
}

/* Returns a volume as {"claim": "x"}, or NULL if it has another form. */
static json_t *volume_source(json_t *volume)
{
	static const char *const forms[][3] = {
		{ "persistentVolumeClaim", "claimName", "claim" },
		{ "configMap", "name", "configMap" },
		{ "secret", "secretName", "secret" },
		{ "hostPath", "path", "hostPath" },
		{ "emptyDir", "sizeLimit", "memory" },
	};
	size_t i;

	for (i = 0; i < COUNT(forms); i++) {
		json_t *form = json_object_get(volume, forms[i][0]);
		json_t *value = json_object_get(form, forms[i][1]);
		json_t *out;

		if (!value ||
		    (i == 4 &&
		     strcmp(json_get_text(form, "medium", ""), "Memory") != 0))
			continue;
		out = json_object();
		json_put(out, forms[i][2], json_incref(value));
		json_object_del(form, forms[i][1]);
		json_object_del(form, "medium");
		return out;
	}
	return NULL;
}

static void take_volume(json_t *volumes, json_t *mount, json_t *shared)
{
	json_t *volume = NULL, *source;
	const char *name = json_get_text(mount, "name", "");
	json_t *taken;
	size_t i;

	json_array_foreach(
		volumes, i,
		volume) if (!strcmp(json_get_text(volume, "name", ""),
				    name)) break;
	source = i < json_array_size(volumes) ? volume_source(volume) : NULL;
	if (!source)
		return;
	json_put(source, "path", foreign_take(mount, "mountPath"));
	if (json_is_true(json_object_get(mount, "readOnly")))
		json_put(source, "readOnly", json_true());
	json_object_del(mount, "readOnly");
	taken = json_object_get(shared, "volumes");
	if (!taken) {
		taken = json_object();
		json_put(shared, "volumes", taken);
	}
	json_put(taken, name, source);
	json_object_del(mount, "name");
	json_object_del(volume, "name");
}

static void take_container(struct foreign *foreign, json_t *pod,
			   struct foreign_pool *pool, json_t *shared)
{
	json_t *container =
		json_array_get(json_object_get(pod, "containers"), 0);
	json_t *mounts = json_object_get(container, "volumeMounts"), *mount;
	size_t i;

	if (!container)
		return;
	json_object_del(container, "name");
	foreign_pool_set(foreign, pool->role, "Config.imageUri",
			 foreign_take(container, "image"));
	foreign_pool_set(foreign, pool->role, "Config.containerCommand",
			 foreign_take(container, "command"));
	foreign_pool_set(foreign, pool->role, "Config.containerArgs",
			 foreign_take(container, "args"));
	take_env(foreign, container);
	take_resources(foreign, json_object_get(container, "resources"),
		       json_object_get(pod, "nodeSelector"), pool, shared);
	json_array_foreach(mounts, i, mount)
		take_volume(json_object_get(pod, "volumes"), mount, shared);
}

/* Takes names of secrets: [{name: a}] becomes [a]. */
static void take_secrets(json_t *pod, json_t *shared)
{
	json_t *list = foreign_take(pod, "imagePullSecrets"), *item;
	json_t *names = json_array();
	size_t i;

	json_array_foreach(list, i, item) json_array_append_new(
		names, json_text(json_get_text(item, "name", "")));
	if (json_array_size(names))
		json_put(shared, "imagePullSecrets", json_incref(names));
	json_decref(names);
	json_decref(list);
}

/* Notes that a tree is refused: its `ctx` is a bool. */
static void refuse(void *ctx, const char *path, const char *text,
		   const char *hint)
{
	(void)path;
	(void)text;
	(void)hint;
	*(bool *)ctx = true;
}

/* Returns {below: {key: value}}; of "main", that of the program's container. */
static json_t *wrap(const char *below, const char *key, json_t *value)
{
	if (!strcmp(below, "main"))
		return json_pack("{s:{s:[{s:s,s:O}]}}", "spec", "containers",
				 "name", below, key, value);
	return json_pack("{s:{s:O}}", below, key, value);
}

json_t *foreign_keep(const struct foreign *foreign, json_t *map,
		     const char *field, const char *below)
{
	/* The functions above have taken of these what a job can express. */
	static const char *const taken[] = { "containers", "initContainers",
					     "volumes", "volumeMounts",
					     "resources" };
	const struct field *tree =
		foreign->fields ? message_field(foreign->fields, field) : NULL;
	json_t *out = json_object(), *value, *one;
	const char *key;
	void *next;
	size_t i;

	json_object_foreach_safe(map, next, key, value)
	{
		bool refused = foreign_has_secret(value, key);

		for (i = 0; i < COUNT(taken); i++)
			refused = refused || !strcmp(taken[i], key);
		one = wrap(below, key, value);
		if (!refused && tree && tree->check_tree)
			tree->check_tree(one, refuse, &refused);
		json_decref(one);
		if (refused || !tree || !tree->check_tree)
			continue;
		json_object_set(out, key, value);
		json_object_del(map, key);
	}
	return out;
}

/* Keeps what jobrun.kubernetes.pod can say of the template. */
static void keep_pod(const struct foreign *foreign, json_t *template,
		     json_t *shared)
{
	json_t *spec = json_object_get(template, "spec");
	json_t *container =
		json_array_get(json_object_get(spec, "containers"), 0);
	json_t *main = foreign_keep(foreign, container, "pod", "main");
	json_t *out = json_object();
	json_t *kept =
		foreign_keep(foreign, json_object_get(template, "metadata"),
			     "pod", "metadata");

	if (json_object_size(kept))
		json_object_set(out, "metadata", kept);
	json_decref(kept);
	kept = foreign_keep(foreign, spec, "pod", "spec");
	if (json_object_size(main)) {
		json_put_text(main, "name", "main");
		json_put(kept, "containers", json_pack("[O]", main));
	}
	if (json_object_size(kept))
		json_object_set(out, "spec", kept);
	json_decref(kept);
	json_decref(main);
	if (json_object_size(out))
		json_object_set(shared, "pod", out);
	json_decref(out);
}

static void lose_shared(struct foreign *foreign,
			const struct foreign_pool *pool, const char *field,
			const json_t *value)
{
	char *text = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;

	import_loss(foreign->import,
		    "%s:%lld: %s: %s%s%s%.80s: all replicas have what the "
		    "first has",
		    foreign->file, json_get_int(foreign->lines, pool->path, 1),
		    pool->path, text ? "" : "no ", field, text ? "=" : "",
		    text ? text : "");
	free(text);
}

/* Sets fields of the block; for other pods than the first, lists what differs.
 * Takes `mine`. */
static void put_shared(struct foreign *foreign, const struct foreign_pool *pool,
		       json_t *mine)
{
	const char *key;
	json_t *value;

	if (!foreign->shared) {
		foreign->shared = mine;
		json_object_foreach(mine, key, value)
		{
			char *path =
				mem_printf("jobrun.%s.%s", foreign->block, key);

			import_set(foreign->import->job, path,
				   json_incref(value));
			free(path);
		}
		return;
	}
	json_object_foreach(mine, key, value)
	{
		json_t *have = json_object_get(foreign->shared, key);

		if (!have || !json_equal(have, value))
			lose_shared(foreign, pool, key, value);
	}
	json_object_foreach(foreign->shared, key, value)
	{
		if (!json_object_get(mine, key))
			lose_shared(foreign, pool, key, NULL);
	}
	json_decref(mine);
}

void foreign_take_pod(struct foreign *foreign, json_t *template,
		      struct foreign_pool *pool)
{
	json_t *pod = json_object_get(template, "spec");
	json_t *shared = json_object(), *selector;

	if (!strcmp(json_get_text(pod, "restartPolicy", ""), "Never"))
		json_object_del(pod, "restartPolicy");
	take_container(foreign, pod, pool, shared);
	put_if(shared, "serviceAccount",
	       foreign_take(pod, "serviceAccountName"));
	put_if(shared, "priorityClass", foreign_take(pod, "priorityClassName"));
	take_secrets(pod, shared);
	selector = foreign_take(pod, "nodeSelector");
	if (json_object_size(selector))
		json_put(shared, "nodeSelector", json_incref(selector));
	json_decref(selector);
	keep_pod(foreign, template, shared);
	put_shared(foreign, pool, shared);
	foreign_pool_put(foreign, pool);
}
