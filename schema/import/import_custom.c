/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gcloud [alpha|beta] ai custom-jobs create.  Its flags are brought into the
 * form of the file of its --config, a CustomJobSpec, and that is translated:
 * the worker pools are the master, the workers, the parameter servers and
 * the evaluators.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/job/check.h"
#include "schema/import/import.h"
#include "core/base/nearest.h"

#define IN "trainingInput."

/* A key of --worker-pool-spec and where it is in a WorkerPoolSpec. */
static const struct {
	const char *key;
	const char *path;
} pool_keys[] = {
	{ "machine-type", "machineSpec.machineType" },
	{ "replica-count", "replicaCount" },
	{ "accelerator-type", "machineSpec.acceleratorType" },
	{ "accelerator-count", "machineSpec.acceleratorCount" },
	{ "tpu-topology", "machineSpec.tpuTopology" },
	{ "boot-disk-type", "diskSpec.bootDiskType" },
	{ "boot-disk-size-gb", "diskSpec.bootDiskSizeGb" },
	{ "container-image-uri", "containerSpec.imageUri" },
	{ "executor-image-uri", "pythonPackageSpec.executorImageUri" },
	{ "python-image-uri", "pythonPackageSpec.executorImageUri" },
	{ "python-module", "pythonPackageSpec.pythonModule" },
	/* No API has these: gcloud built an image of them. */
	{ "output-image-uri", "local.outputImageUri" },
	{ "local-package-path", "local.packagePath" },
	{ "script", "local.script" },
	{ "requirements", "local.requirements" },
	{ "extra-packages", "local.extraPackages" },
	{ "extra-dirs", "local.extraDirs" },
};

static const char *pool_path(const char *key, struct error *err)
{
	const char *names[COUNT(pool_keys)];
	const char *near;
	size_t i;

	for (i = 0; i < COUNT(pool_keys); i++) {
		if (!strcmp(pool_keys[i].key, key))
			return pool_keys[i].path;
		names[i] = pool_keys[i].key;
	}
	near = nearest_name(key, names, COUNT(names));
	error_set(err, ERROR_USAGE, "a worker pool has no '%s'%s%s%s", key,
		  near ? "; did you mean '" : "", near ? near : "",
		  near ? "'?" : "");
	return NULL;
}

static int pool_spec(struct import *import, const char *value,
		     struct error *err)
{
	json_t *map = import_map(value, err);
	json_t *pool = json_object();
	const char *key;
	json_t *item;
	int ret = map ? 0 : -1;

	json_object_foreach(map, key, item)
	{
		const char *path = pool_path(key, err);

		if (!path) {
			ret = -1;
			break;
		}
		import_set(pool, path, json_incref(item));
	}
	json_array_append_new(import->pools, pool);
	json_decref(map);
	return ret;
}

/* Not where a job has it, but for all pools: kept beside them. */
#define ALL "x-import."

static const struct flag flags[] = {
	{ "args", FLAG_LIST, ALL "args", NULL, NULL },
	{ "async", FLAG_NOTE_SWITCH, NULL, "jobrun apply --detach", NULL },
	{ "base-output-dir", FLAG_TEXT, ALL "output", NULL, NULL },
	{ "command", FLAG_LIST, ALL "command", NULL, NULL },
	{ "config", FLAG_CALL, NULL, NULL, import_config },
	{ "display-name", FLAG_TEXT, ALL "name", NULL, NULL },
	{ "enable-dashboard-access", FLAG_NOTE_SWITCH, NULL, NULL, NULL },
	{ "enable-web-access", FLAG_SWITCH, IN "enableWebAccess", NULL, NULL },
	{ "kms-key", FLAG_CALL, NULL, NULL, import_kms_key },
	{ "kms-keyring", FLAG_CALL, NULL, NULL, import_kms_keyring },
	{ "kms-location", FLAG_CALL, NULL, NULL, import_kms_location },
	{ "kms-project", FLAG_CALL, NULL, NULL, import_kms_project },
	{ "labels", FLAG_MAP, "labels", NULL, NULL },
	{ "network", FLAG_TEXT, IN "network", NULL, NULL },
	{ "persistent-resource-id", FLAG_NOTE, NULL, NULL, NULL },
	{ "python-package-uris", FLAG_LIST, ALL "packages", NULL, NULL },
	{ "region", FLAG_TEXT, IN "region", NULL, NULL },
	{ "service-account", FLAG_TEXT, IN "serviceAccount", NULL, NULL },
	{ "worker-pool-spec", FLAG_CALL, NULL, NULL, pool_spec },
	{ NULL, FLAG_TEXT, NULL, NULL, NULL },
};

/* A job has these letters only; the rest of a display name can be any. */
static void set_name(struct import *import)
{
	const char *name =
		json_string_value(import_get(import->job, ALL "name"));
	char id[JOB_ID_MAX + 1];
	size_t n = 0;

	import->name = NULL;
	if (!isalpha((unsigned char)*name)) {
		memcpy(id, "job_", 4);
		n = 4;
	}
	for (; *name && n < JOB_ID_MAX; name++) {
		unsigned char c = (unsigned char)*name;

		if (isascii(c) && (isalnum(c) || c == '_'))
			id[n++] = (char)c;
		else if (c < 0x80 || c >= 0xc0) /* once a code point */
			id[n++] = '_';
	}
	id[n] = '\0';
	json_object_set_new(import->job, "jobId", json_text(id));
	name = json_string_value(import_get(import->job, ALL "name"));
	if (strcmp(id, name) != 0)
		import_note(import,
			    "--display-name=%s: a jobId has letters, "
			    "digits and underscores only",
			    name);
}

/* One worker pool on its way into the job. */
struct worker_pool {
	struct import *import;
	json_t *spec;
	size_t index;
	const char *role; /* "worker" */
};

static const char *const roles[] = { "master", "worker", "parameterServer",
				     "evaluator" };

/* Takes what was translated away: the rest is noted at the end. */
static json_t *take(json_t *map, const char *path)
{
	const char *dot = strchr(path, '.');
	json_t *value;

	while (dot) {
		char *word = mem_printf("%.*s", (int)(dot - path), path);

		map = json_object_get(map, word);
		free(word);
		path = dot + 1;
		dot = strchr(path, '.');
	}
	value = json_incref(json_object_get(map, path));
	json_object_del(map, path);
	return value;
}

static void put(struct worker_pool *pool, const char *name, json_t *value)
{
	char *path;

	if (!value)
		return;
	path = mem_printf(IN "%s%s", pool->role, name);
	import_set(pool->import->job, path, value);
	free(path);
}

/* Where the job has one for all replicas, the first pool's is it. */
static void put_common(struct worker_pool *pool, const char *path,
		       json_t *value)
{
	json_t *have = import_get(pool->import->job, path);

	if (!value)
		return;
	if (!pool->index && !have)
		import_set(pool->import->job, path, json_incref(value));
	else if (!have || !json_equal(have, value))
		import_note(pool->import,
			    "worker pool %zu has a %s of its own: all replicas "
			    "have the first pool's here",
			    pool->index, path);
	json_decref(value);
}

/* Files can have anything anywhere. */
static const char *text_of(const json_t *value)
{
	const char *text = json_string_value(value);

	return text ? text : "";
}

static json_t *upper(json_t *value)
{
	json_t *out = json_is_string(value)
			      ? import_enum(json_string_value(value))
			      : NULL;

	json_decref(value);
	return out;
}

static void put_machine(struct worker_pool *pool)
{
	json_t *type = upper(take(pool->spec, "machineSpec.acceleratorType"));
	json_t *count = take(pool->spec, "machineSpec.acceleratorCount");
	json_t *replicas = take(pool->spec, "replicaCount");

	put(pool, "Type", take(pool->spec, "machineSpec.machineType"));
	if (type) {
		put(pool, "Config.acceleratorConfig.count",
		    count ? json_incref(count) : json_text("1"));
		put(pool, "Config.acceleratorConfig.type", type);
	}
	json_decref(count);
	if (pool->index)
		put(pool, "Count",
		    replicas ? json_incref(replicas) : json_text("1"));
	else if (replicas && strcmp(text_of(replicas), "1") != 0)
		import_note(pool->import,
			    "replica-count=%s of the first worker pool: there "
			    "is one master; put the others into workerCount",
			    text_of(replicas));
	json_decref(replicas);
	put(pool, "Config.diskConfig.bootDiskType",
	    take(pool->spec, "diskSpec.bootDiskType"));
	put(pool, "Config.diskConfig.bootDiskSizeGb",
	    take(pool->spec, "diskSpec.bootDiskSizeGb"));
}

/* [{name, value}] as a map. */
static void put_env(struct worker_pool *pool, json_t *list)
{
	json_t *map = json_object(), *item;
	size_t i;

	json_array_foreach(list, i, item) if (json_get_text(item, "name", NULL))
		json_object_set_new(
			map, json_get_text(item, "name", ""),
			json_text(json_get_text(item, "value", "")));
	if (json_object_size(map))
		put_common(pool, "jobrun.env", json_incref(map));
	json_decref(map);
	json_decref(list);
}

/* --args and --command of the command line are for every pool. */
static json_t *for_all(struct worker_pool *pool, const char *name, json_t *own)
{
	char *path = mem_printf(ALL "%s", name);
	json_t *value = import_get(pool->import->job, path);

	free(path);
	if (!value)
		return own;
	json_decref(own);
	return json_incref(value);
}

static void put_container(struct worker_pool *pool)
{
	put(pool, "Config.imageUri",
	    take(pool->spec, "containerSpec.imageUri"));
	put(pool, "Config.containerCommand",
	    for_all(pool, "command",
		    take(pool->spec, "containerSpec.command")));
	put(pool, "Config.containerArgs",
	    for_all(pool, "args", take(pool->spec, "containerSpec.args")));
	put_env(pool, take(pool->spec, "containerSpec.env"));
}

static void put_package(struct worker_pool *pool)
{
	put(pool, "Config.imageUri",
	    take(pool->spec, "pythonPackageSpec.executorImageUri"));
	put_common(pool, IN "pythonModule",
		   take(pool->spec, "pythonPackageSpec.pythonModule"));
	put_common(pool, IN "packageUris",
		   for_all(pool, "packages",
			   take(pool->spec, "pythonPackageSpec.packageUris")));
	put_common(pool, IN "args",
		   for_all(pool, "args",
			   take(pool->spec, "pythonPackageSpec.args")));
	put_env(pool, take(pool->spec, "pythonPackageSpec.env"));
}

/* "a;b" */
static void add_parts(json_t *list, json_t *value)
{
	const char *text = text_of(value);

	while (*text) {
		size_t len = strcspn(text, ";");
		char *part = mem_printf("%.*s", (int)len, text);

		if (len)
			json_array_append_new(list, json_text(part));
		free(part);
		text += len + (text[len] == ';');
	}
	json_decref(value);
}

/* gcloud built an image from this folder: here it is shipped as it is. */
static void put_local(struct worker_pool *pool)
{
	json_t *setup =
		json_pack("[s,s,s,s]", "python3", "-m", "pip", "install");
	json_t *script = take(pool->spec, "local.script");
	json_t *image = take(pool->spec, "local.outputImageUri");
	const char *name = text_of(script);

	put_common(pool, "jobrun.source",
		   take(pool->spec, "local.packagePath"));
	if (script)
		put_common(
			pool, "jobrun.command",
			json_pack("[s,s]",
				  text_ends(name, ".py") ? "python3" : "bash",
				  name));
	add_parts(setup, take(pool->spec, "local.requirements"));
	add_parts(setup, take(pool->spec, "local.extraPackages"));
	if (json_array_size(setup) > 4)
		put_common(pool, "jobrun.setup", json_incref(setup));
	if (image)
		import_note(pool->import,
			    "output-image-uri=%s: no image is built",
			    text_of(image));
	json_decref(image);
	json_decref(script);
	json_decref(setup);
}

/* All that is left: nobody knew it. */
static void note_rest(struct import *import, const char *where, json_t *rest)
{
	const char *key;
	json_t *value;

	json_object_foreach(rest, key, value)
	{
		char *text;

		if (json_is_object(value) && !json_object_size(value))
			continue;
		text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
		import_note(import, "%s%s=%s: nothing to say it with here",
			    where, key, text ? text : "");
		free(text);
	}
}

static void put_pool(struct import *import, json_t *spec, size_t index)
{
	struct worker_pool pool = { .import = import,
				    .spec = spec,
				    .index = index };
	char where[64];

	if (!json_object_size(spec))
		return;
	if (index >= COUNT(roles)) {
		import_note(import,
			    "worker pool %zu: a job has no more than "
			    "%zu kinds of replicas",
			    index, COUNT(roles));
		return;
	}
	pool.role = roles[index];
	put_machine(&pool);
	if (json_object_get(spec, "local"))
		put_local(&pool);
	if (json_object_get(spec, "pythonPackageSpec"))
		put_package(&pool);
	if (json_object_get(spec, "containerSpec"))
		put_container(&pool);
	snprintf(where, sizeof(where), "worker pool %zu: ", index);
	note_rest(import, where, json_object_get(spec, "machineSpec"));
	json_object_del(spec, "machineSpec");
	note_rest(import, where, spec);
}

/* Takes the fields of the file beside its pools that no flag sets. */
static void put_spec(struct import *import, json_t *config)
{
	static const char *const same[][2] = {
		{ "serviceAccount", IN "serviceAccount" },
		{ "network", IN "network" },
		{ "enableWebAccess", IN "enableWebAccess" },
		{ "scheduling.timeout", IN "scheduling.maxRunningTime" },
		{ "encryptionSpec.kmsKeyName",
		  IN "encryptionConfig.kmsKeyName" },
		{ "labels", "labels" },
	};
	json_t *output;
	size_t i;

	for (i = 0; i < COUNT(same); i++) {
		json_t *value = take(config, same[i][0]);

		if (value && !import_get(import->job, same[i][1]))
			import_set(import->job, same[i][1], json_incref(value));
		json_decref(value);
	}
	output = take(config, "baseOutputDirectory.outputUriPrefix");
	if (output && !import_get(import->job, ALL "output"))
		import_set(import->job, ALL "output", json_incref(output));
	json_decref(output);
	note_rest(import, "", config);
}

/* The pools of the file, if the command line has none. */
static void take_pools(struct import *import)
{
	json_t *spec = import->config, *job = json_object_get(spec, "jobSpec");
	json_t *pools;

	/* A whole CustomJob has the spec in it. */
	if (json_is_object(job)) {
		import_merge(spec, job);
		json_object_del(spec, "jobSpec");
	}
	pools = take(spec, "workerPoolSpecs");
	if (json_array_size(import->pools)) {
		json_decref(pools);
		return;
	}
	if (json_is_array(pools)) {
		json_decref(import->pools);
		import->pools = pools;
	} else if (pools) {
		json_array_append_new(import->pools, pools);
	}
}

static int finish(struct import *import, struct error *err)
{
	const char *output;
	json_t *pool;
	size_t i;

	if (!import_get(import->job, ALL "name"))
		return error_set(err, ERROR_USAGE,
				 "'gcloud ai custom-jobs create' needs "
				 "--display-name");
	set_name(import);
	if (import->config)
		take_pools(import);
	if (!json_array_size(import->pools))
		return error_set(err, ERROR_USAGE,
				 "'gcloud ai custom-jobs create' needs "
				 "--worker-pool-spec, or --config with "
				 "workerPoolSpecs");
	import_set(import->job, IN "scaleTier", json_text("CUSTOM"));
	json_array_foreach(import->pools, i, pool) put_pool(import, pool, i);
	if (import->config)
		put_spec(import, import->config);
	output = json_string_value(import_get(import->job, ALL "output"));
	if (output)
		import_note(import,
			    "baseOutputDirectory=%s: the program was told by "
			    "AIP_MODEL_DIR and its like; set jobrun.env, or "
			    "trainingInput.jobDir if it takes --job-dir",
			    output);
	json_object_del(import->job, "x-import");
	return 0;
}

const struct import_command import_custom_job = {
	.words = "ai custom-jobs create",
	.provider = "vertex-ai",
	.flags = flags,
	.finish = finish,
};
