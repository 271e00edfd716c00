/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gcloud [alpha|beta] ai custom-jobs create.  The flags are brought into the
 * form of the --config file, a CustomJobSpec, which is then translated: the
 * worker pools become the master, the workers, the parameter servers and the
 * evaluators.
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
/* The block of Vertex AI, for what only its API can express. */
#define OWN "jobrun.vertex-ai."

/* The keys of --worker-pool-spec and their places in a WorkerPoolSpec. */
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
	/* The API lacks these keys: gcloud built an image from them. */
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

/* The prefix of values for all pools, kept beside them until the end. */
#define ALL "x-import."

static const struct flag flags[] = {
	{ "args", FLAG_LIST, ALL "args", NULL, NULL },
	{ "async", FLAG_NOTE_SWITCH, NULL, "jobrun apply --detach", NULL },
	{ "base-output-dir", FLAG_TEXT, OWN "outputDirectory", NULL, NULL },
	{ "command", FLAG_LIST, ALL "command", NULL, NULL },
	{ "config", FLAG_CALL, NULL, NULL, import_typed_config },
	{ "display-name", FLAG_TEXT, ALL "name", NULL, NULL },
	{ "enable-dashboard-access", FLAG_SWITCH, OWN "dashboardAccess", NULL,
	  NULL },
	{ "enable-web-access", FLAG_SWITCH, IN "enableWebAccess", NULL, NULL },
	{ "kms-key", FLAG_CALL, NULL, NULL, import_kms_key },
	{ "kms-keyring", FLAG_CALL, NULL, NULL, import_kms_keyring },
	{ "kms-location", FLAG_CALL, NULL, NULL, import_kms_location },
	{ "kms-project", FLAG_CALL, NULL, NULL, import_kms_project },
	{ "labels", FLAG_MAP, "labels", NULL, NULL },
	{ "network", FLAG_TEXT, IN "network", NULL, NULL },
	{ "persistent-resource-id", FLAG_TEXT, OWN "persistentResource", NULL,
	  NULL },
	{ "python-package-uris", FLAG_LIST, ALL "packages", NULL, NULL },
	{ "region", FLAG_TEXT, IN "region", NULL, NULL },
	{ "service-account", FLAG_TEXT, IN "serviceAccount", NULL, NULL },
	{ "worker-pool-spec", FLAG_CALL, NULL, NULL, pool_spec },
	{ NULL, FLAG_TEXT, NULL, NULL, NULL },
};

/* Sets the job's name: the display name without characters that a job's name
 * cannot have. */
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

/* A worker pool during its translation into the job. */
struct worker_pool {
	struct import *import;
	json_t *spec;
	size_t index;
	const char *role; /* "worker" */
	json_t *rest;     /* what only the API can express */
};

static const char *const roles[] = { "master", "worker", "parameterServer",
				     "evaluator" };

/* Takes a value out of the map, so that the rest can be noted at the end. */
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

/* Sets a value that the job has once for all replicas.  The first pool's
 * counts; a different one stays in the form of the API, at `own`. */
static void put_common(struct worker_pool *pool, const char *path,
		       const char *own, json_t *value)
{
	json_t *have = import_get(pool->import->job, path);

	if (!pool->index && !have) {
		if (value)
			import_set(pool->import->job, path, json_incref(value));
	} else if (have && !value) {
		import_set(pool->rest, own, json_array());
	} else if (value && (!have || !json_equal(have, value))) {
		if (own)
			import_set(pool->rest, own, json_incref(value));
		else
			import_loss(pool->import,
				    "worker pool %zu has a %s of its own; here "
				    "all replicas use the first pool's",
				    pool->index, path);
	}
	json_decref(value);
}

/* Returns the text of a value, which may have any type in a file. */
static const char *text_of(const json_t *value)
{
	const char *text = json_string_value(value);

	return text ? text : "";
}

/* Takes a number or a string; returns it as a string. */
static json_t *as_text(json_t *value)
{
	json_t *out;
	char *text;

	if (!value || json_is_string(value))
		return value;
	text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
	out = json_text(text ? text : "");
	free(text);
	json_decref(value);
	return out;
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
	json_t *replicas = as_text(take(pool->spec, "replicaCount"));

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
		import_set(pool->rest, "replicaCount", json_incref(replicas));
	json_decref(replicas);
	put(pool, "Config.diskConfig.bootDiskType",
	    take(pool->spec, "diskSpec.bootDiskType"));
	put(pool, "Config.diskConfig.bootDiskSizeGb",
	    take(pool->spec, "diskSpec.bootDiskSizeGb"));
}

/* Takes [{name, value}] as a map. */
static void put_env(struct worker_pool *pool, const char *own, json_t *list)
{
	json_t *map = json_object(), *item, *value;
	json_t *have = import_get(pool->import->job, "jobrun.env");
	size_t i;

	json_array_foreach(list, i, item)
	{
		value = json_object_get(item, "value");
		json_put(map, json_get_text(item, "name", ""),
			 value ? as_text(json_incref(value)) : json_text(""));
	}
	if (!pool->index && !have) {
		if (json_object_size(map))
			import_set(pool->import->job, "jobrun.env",
				   json_incref(map));
	} else if (!json_equal(have ? have : json_null(), map) &&
		   (have || list)) {
		import_set(pool->rest, own,
			   list ? json_incref(list) : json_array());
	}
	json_decref(map);
	json_decref(list);
}

/* Returns --args or --command of the command line, which are for every pool, or
 * else the pool's own. */
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
	put_env(pool, "containerSpec.env",
		take(pool->spec, "containerSpec.env"));
}

static void put_package(struct worker_pool *pool)
{
	put_common(pool, OWN "executorImage",
		   "pythonPackageSpec.executorImageUri",
		   take(pool->spec, "pythonPackageSpec.executorImageUri"));
	put_common(pool, IN "pythonModule", "pythonPackageSpec.pythonModule",
		   take(pool->spec, "pythonPackageSpec.pythonModule"));
	put_common(pool, IN "packageUris", "pythonPackageSpec.packageUris",
		   for_all(pool, "packages",
			   take(pool->spec, "pythonPackageSpec.packageUris")));
	put_common(pool, IN "args", "pythonPackageSpec.args",
		   for_all(pool, "args",
			   take(pool->spec, "pythonPackageSpec.args")));
	put_env(pool, "pythonPackageSpec.env",
		take(pool->spec, "pythonPackageSpec.env"));
}

/* Adds the parts of "a;b". */
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

/* Sets the program of a folder, which it takes, once for all pools; beside a
 * pool with an image of its own, whose program is another, for this one. */
static void put_program(struct worker_pool *pool, json_t *command)
{
	json_t *args = for_all(pool, "args", NULL), *one;
	bool alone = true;
	size_t i;

	json_array_foreach(pool->import->pools, i, one) alone =
		alone && !json_object_get(one, "containerSpec");
	command = for_all(pool, "command", command);
	if (alone) {
		put_common(pool, "jobrun.command", NULL, command);
		put_common(pool, IN "args", NULL, args);
	} else {
		put(pool, "Config.containerCommand", command);
		put(pool, "Config.containerArgs", args);
	}
}

/* Handles the folder from which gcloud built an image; here it is shipped as it
 * is. */
static void put_local(struct worker_pool *pool)
{
	json_t *setup =
		json_pack("[s,s,s,s]", "python3", "-m", "pip", "install");
	json_t *script = take(pool->spec, "local.script"), *command = NULL;
	json_t *image = take(pool->spec, "local.outputImageUri");
	json_t *base = take(pool->spec, "pythonPackageSpec.executorImageUri");
	json_t *module = take(pool->spec, "pythonPackageSpec.pythonModule");
	const char *name = text_of(script);

	/* The image is the base of the one that gcloud built. */
	put(pool, "Config.imageUri", base);
	json_object_del(pool->spec, "pythonPackageSpec");
	put_common(pool, "jobrun.source", NULL,
		   take(pool->spec, "local.packagePath"));
	if (module)
		command =
			json_pack("[s,s,s]", "python3", "-m", text_of(module));
	else if (script)
		command = json_pack("[s,s]",
				    text_ends(name, ".py") ? "python3" : "bash",
				    name);
	put_program(pool, command);
	add_parts(setup, take(pool->spec, "local.requirements"));
	add_parts(setup, take(pool->spec, "local.extraPackages"));
	if (json_array_size(setup) > 4)
		put_common(pool, "jobrun.setup", NULL, json_incref(setup));
	if (image)
		import_note(pool->import,
			    "output-image-uri=%s: jobrun builds no image",
			    text_of(image));
	json_decref(image);
	json_decref(module);
	json_decref(script);
	json_decref(setup);
}

/* Moves what is left in a map to the request, without empty maps. */
static void keep_rest(json_t *rest, const json_t *left)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)left, key, value)
	{
		json_t *there = json_object_get(rest, key);

		if (!json_is_object(value)) {
			json_object_set(rest, key, value);
			continue;
		}
		if (!there) {
			there = json_object();
			json_object_set_new(rest, key, there);
		}
		keep_rest(there, value);
		if (!json_object_size(there))
			json_object_del(rest, key);
	}
}

static void note_local(struct import *import, size_t index, json_t *local)
{
	const char *key;
	json_t *value;

	json_object_foreach(local, key, value)
		import_loss(import,
			    "worker pool %zu: %s=%s: jobrun builds no "
			    "image",
			    index, key, text_of(value));
}

/* Puts a pool into the job; returns as a new value what the job cannot
 * express. */
static json_t *put_pool(struct import *import, json_t *spec, size_t index)
{
	struct worker_pool pool = { .import = import,
				    .spec = spec,
				    .index = index,
				    .rest = json_object() };

	if (!json_object_size(spec))
		return pool.rest;
	if (index >= COUNT(roles)) {
		json_decref(pool.rest);
		return json_incref(spec);
	}
	pool.role = roles[index];
	put_machine(&pool);
	if (json_object_get(spec, "local")) {
		put_local(&pool);
		note_local(import, index, json_object_get(spec, "local"));
		json_object_del(spec, "local");
	}
	if (json_object_get(spec, "pythonPackageSpec"))
		put_package(&pool);
	if (json_object_get(spec, "containerSpec"))
		put_container(&pool);
	keep_rest(pool.rest, spec);
	return pool.rest;
}

/* Takes the fields beside the pools of the file, which no flag sets; the rest
 * stays in the form of the API. */
static void put_spec(struct import *import, json_t *spec, json_t *rest)
{
	static const char *const same[][2] = {
		{ "serviceAccount", IN "serviceAccount" },
		{ "network", IN "network" },
		{ "enableWebAccess", IN "enableWebAccess" },
		{ "scheduling.timeout", IN "scheduling.maxRunningTime" },
		{ "scheduling.strategy", OWN "strategy" },
		{ "scheduling.maxWaitDuration", OWN "maxWait" },
		{ "scheduling.restartJobOnWorkerRestart",
		  OWN "restartOnWorkerRestart" },
		{ "scheduling.disableRetries", OWN "disableRetries" },
		{ "tensorboard", OWN "tensorboard" },
		{ "persistentResourceId", OWN "persistentResource" },
		{ "enableDashboardAccess", OWN "dashboardAccess" },
		{ "pscInterfaceConfig.networkAttachment",
		  OWN "networkAttachment" },
		{ "experiment", OWN "experiment" },
		{ "experimentRun", OWN "experimentRun" },
		{ "baseOutputDirectory.outputUriPrefix",
		  OWN "outputDirectory" },
	};
	size_t i;

	for (i = 0; i < COUNT(same); i++) {
		json_t *value = take(spec, same[i][0]);

		if (value && !import_get(import->job, same[i][1]))
			import_set(import->job, same[i][1], json_incref(value));
		json_decref(value);
	}
	keep_rest(rest, spec);
}

/* Takes the fields around the specification; gcloud read some of them beside
 * its fields, too. */
static void put_around(struct import *import, json_t *config)
{
	static const char *const same[][2] = {
		{ "encryptionSpec.kmsKeyName",
		  IN "encryptionConfig.kmsKeyName" },
		{ "labels", "labels" },
	};
	size_t i;

	json_object_del(config, "displayName");
	for (i = 0; i < COUNT(same); i++) {
		json_t *value = take(config, same[i][0]);

		if (value && !import_get(import->job, same[i][1]))
			import_set(import->job, same[i][1], json_incref(value));
		json_decref(value);
	}
}

/* Takes the pools of the file if the command line has none. */
static void take_pools(struct import *import, json_t *spec)
{
	json_t *pools = take(spec, "workerPoolSpecs");

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

static void put_pools(struct import *import, json_t *rest)
{
	json_t *left = json_array(), *pool, *own;
	bool any = false;
	size_t i;

	json_array_foreach(import->pools, i, pool)
	{
		own = put_pool(import, pool, i);
		any = any || json_object_size(own);
		json_array_append_new(left, own);
	}
	while (json_array_size(left) &&
	       !json_object_size(
		       json_array_get(left, json_array_size(left) - 1)))
		json_array_remove(left, json_array_size(left) - 1);
	if (any)
		json_object_set(rest, "workerPoolSpecs", left);
	json_decref(left);
}

/* Finishes with the member `name` of the file as the specification; a file for
 * custom jobs may also be just that. */
static int finish_as(struct import *import, const char *name, struct error *err)
{
	json_t *config = import->config, *spec, *rest, *own;

	if (!import_get(import->job, ALL "name"))
		return error_set(err, ERROR_USAGE,
				 "'gcloud %s' needs --display-name",
				 import->command->words);
	set_name(import);
	spec = json_object_get(config, name);
	spec = spec ? spec : config;
	if (spec)
		take_pools(import, spec);
	if (!json_array_size(import->pools))
		return error_set(err, ERROR_USAGE,
				 "'gcloud %s' needs --worker-pool-spec, or "
				 "--config with workerPoolSpecs",
				 import->command->words);
	import_set(import->job, IN "scaleTier", json_text("CUSTOM"));
	rest = json_object();
	own = json_object();
	put_pools(import, own);
	if (config) {
		put_around(import, config);
		import_study(import, config);
		put_spec(import, spec, own);
		if (spec != config) {
			json_object_del(config, name);
			keep_rest(rest, config);
		}
	}
	if (json_object_size(own))
		json_object_set(rest, name, own);
	if (json_object_size(rest))
		import_set(import->job, OWN "request", json_incref(rest));
	json_decref(own);
	json_decref(rest);
	json_object_del(import->job, "x-import");
	return 0;
}

static int finish(struct import *import, struct error *err)
{
	return finish_as(import, "jobSpec", err);
}

static int finish_tuning(struct import *import, struct error *err)
{
	return finish_as(import, "trialJobSpec", err);
}

const struct import_command import_custom_job = {
	.words = "ai custom-jobs create",
	.provider = "vertex-ai",
	.flags = flags,
	.finish = finish,
};

#define HP IN "hyperparameters."

static const struct flag tuning_flags[] = {
	{ "algorithm", FLAG_ENUM, HP "algorithm", NULL, NULL },
	{ "async", FLAG_NOTE_SWITCH, NULL, "jobrun apply --detach", NULL },
	{ "config", FLAG_CALL, NULL, NULL, import_typed_config },
	{ "display-name", FLAG_TEXT, ALL "name", NULL, NULL },
	{ "enable-dashboard-access", FLAG_SWITCH, OWN "dashboardAccess", NULL,
	  NULL },
	{ "enable-web-access", FLAG_SWITCH, IN "enableWebAccess", NULL, NULL },
	{ "kms-key", FLAG_CALL, NULL, NULL, import_kms_key },
	{ "kms-keyring", FLAG_CALL, NULL, NULL, import_kms_keyring },
	{ "kms-location", FLAG_CALL, NULL, NULL, import_kms_location },
	{ "kms-project", FLAG_CALL, NULL, NULL, import_kms_project },
	{ "labels", FLAG_MAP, "labels", NULL, NULL },
	{ "max-trial-count", FLAG_NUMBER, HP "maxTrials", NULL, NULL },
	{ "network", FLAG_TEXT, IN "network", NULL, NULL },
	{ "parallel-trial-count", FLAG_NUMBER, HP "maxParallelTrials", NULL,
	  NULL },
	{ "region", FLAG_TEXT, IN "region", NULL, NULL },
	{ "service-account", FLAG_TEXT, IN "serviceAccount", NULL, NULL },
	{ NULL, FLAG_TEXT, NULL, NULL, NULL },
};

const struct import_command import_tuning_job = {
	.words = "ai hp-tuning-jobs create",
	.provider = "vertex-ai",
	.flags = tuning_flags,
	.finish = finish_tuning,
};
