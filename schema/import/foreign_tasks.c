/* SPDX-License-Identifier: Apache-2.0 */
/* Reads task files of SkyPilot and dstack. */
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/base/units.h"
#include "schema/import/foreign.h"

/* Takes "H100:8", "8", {H100: 8} or {name: H100, count: 8}; returns false if
 * the value stays. */
static bool take_gpu(struct foreign *foreign, json_t *map, const char *key,
		     struct foreign_pool *pool)
{
	json_t *value = json_object_get(map, key);
	const char *text = json_string_value(value), *colon, *name;
	char *type = NULL, number[32] = "1";
	const char *known;

	if (text) {
		colon = strrchr(text, ':');
		type = mem_printf(
			"%.*s", colon ? (int)(colon - text) : (int)strlen(text),
			text);
		pool->accelerators = colon ? strtol(colon + 1, NULL, 10) : 1;
	} else if (json_get_text(value, "name", NULL)) {
		type = mem_strdup(json_get_text(value, "name", ""));
		foreign_text(json_object_get(value, "count"), number,
			     sizeof(number));
		pool->accelerators = strtol(number, NULL, 10);
	} else if (json_object_size(value) == 1) {
		name = json_object_iter_key(json_object_iter(value));
		type = mem_strdup(name);
		foreign_text(json_object_get(value, name), number,
			     sizeof(number));
		pool->accelerators = strtol(number, NULL, 10);
	}
	known = type ? foreign_accelerator(foreign, type) : NULL;
	free(type);
	if (!known || pool->accelerators < 1)
		return false;
	pool->accelerator = known;
	if (json_is_object(value) && json_object_get(value, "memory")) {
		json_object_del(value, "name");
		json_object_del(value, "count");
	} else {
		json_object_del(map, key);
	}
	return true;
}

/* Takes a minimum such as "8", "8+", "32GB" or "8..". */
static double take_least(json_t *map, const char *key, double plain)
{
	char text[64];
	json_t *value = foreign_take_key(map, key);
	double out = 0;

	if (foreign_text(value, text, sizeof(text)))
		out = foreign_gb(text, plain);
	json_decref(value);
	return out;
}

/* Takes variables from a map or a list of NAME=VALUE; those without a value
 * stay. */
static void take_env(struct foreign *foreign, const char *key)
{
	json_t *from = json_object_get(foreign->value, key), *item;
	json_t *env = json_object();
	char text[4096], *name;
	const char *word;
	size_t i;
	void *next;

	json_object_foreach_safe(from, next, word, item)
	{
		if (json_is_null(item)) {
			json_object_set_new(from, word,
					    json_text("given at its start"));
		} else if (foreign_text(item, text, sizeof(text))) {
			json_put_text(env, word, text);
			json_object_del(from, word);
		}
	}
	json_array_foreach(from, i, item)
	{
		const char *equals = strchr(
			json_is_string(item) ? json_string_value(item) : "",
			'=');

		if (!equals)
			continue;
		word = json_string_value(item);
		name = mem_printf("%.*s", (int)(equals - word), word);
		json_put_text(env, name, equals + 1);
		free(name);
		json_array_set_new(from, i, json_null());
	}
	if (json_object_size(env))
		import_set(foreign->import->job, "jobrun.env",
			   json_incref(env));
	json_decref(env);
}

/* Sets the number of nodes and the kind of each. */
static void put_nodes(struct foreign *foreign, json_t *nodes,
		      struct foreign_pool *pool)
{
	long count = nodes ? (long)json_integer_value(nodes) : 1;

	json_decref(nodes);
	pool->count = 1;
	foreign_pool_put(foreign, pool);
	if (count > 1) {
		pool->role = 1;
		pool->count = count - 1;
		foreign_pool_put(foreign, pool);
	}
}

static void put_image(struct foreign *foreign, json_t *image, long nodes)
{
	const char *text = json_string_value(image);

	if (text && text_starts(text, "docker:"))
		text += strlen("docker:");
	if (text) {
		foreign_pool_set(foreign, 0, "Config.imageUri",
				 json_text(text));
		if (nodes > 1)
			foreign_pool_set(foreign, 1, "Config.imageUri",
					 json_text(text));
	}
	json_decref(image);
}

/* Sets commands for a shell, in which the other program's variables have no
 * meaning. */
static void put_shell(struct foreign *foreign, json_t *text, const char *field,
		      const char *own)
{
	const char *words = json_string_value(text);

	if (words) {
		import_set(foreign->import->job, field, foreign_shell(words));
		if (strstr(words, own))
			import_loss(foreign->import,
				    "%s: %s uses variables %s..., which are "
				    "not set: see jobrun-env(1) for others",
				    foreign->file, field, own);
	}
	json_decref(text);
}

static long node_count(const json_t *map, const char *key)
{
	long n = (long)json_integer_value(json_object_get(map, key));

	return n > 0 ? n : 1;
}

/* ---- SkyPilot ---------------------------------------------------------- */

static int take_sky(struct foreign *foreign, struct error *err)
{
	json_t *value = foreign->value;
	json_t *resources = json_object_get(value, "resources"), *image;
	struct foreign_pool pool = { 0 };
	long nodes = node_count(value, "num_nodes");

	(void)err;
	foreign_name(foreign, foreign_take(value, "name"));
	take_gpu(foreign, resources, "accelerators", &pool);
	pool.cpus = take_least(resources, "cpus", 1);
	pool.memory_gb = take_least(resources, "memory", 1);
	foreign_move(foreign, resources, "region", FOREIGN_IN "region");
	foreign_move(foreign, resources, "zone", "jobrun.zone");
	image = json_object_get(resources, "image_id");
	if (json_is_string(image) &&
	    text_starts(json_string_value(image), "docker:"))
		put_image(foreign, foreign_take(resources, "image_id"), nodes);
	foreign_move(foreign, value, "workdir", "jobrun.source");
	take_env(foreign, "envs");
	put_shell(foreign, foreign_take(value, "setup"), "jobrun.setup",
		  "SKYPILOT_");
	put_shell(foreign, foreign_take(value, "run"), "jobrun.command",
		  "SKYPILOT_");
	put_nodes(foreign, foreign_take(value, "num_nodes"), &pool);
	return 0;
}

static bool is_sky(const json_t *value)
{
	return json_object_get(value, "run") &&
	       (json_object_get(value, "resources") ||
		json_object_get(value, "num_nodes") ||
		json_object_get(value, "setup")) &&
	       !json_object_get(value, "apiVersion");
}

/* ---- dstack ------------------------------------------------------------ */

static json_t *joined(json_t *list)
{
	struct buf text = { 0 };
	json_t *item, *out;
	size_t i;

	json_array_foreach(list, i, item) if (json_is_string(item))
		buf_printf(&text, "%s%s", text.len ? "\n" : "set -e\n",
			   json_string_value(item));
	out = text.len ? json_text(buf_text(&text)) : NULL;
	buf_done(&text);
	json_decref(list);
	return out;
}

static void take_duration(struct foreign *foreign)
{
	json_t *value = json_object_get(foreign->value, "max_duration");
	struct error ignored;
	long seconds = 0;

	if (json_is_integer(value))
		seconds = (long)json_integer_value(value);
	else if (json_is_string(value) &&
		 duration_parse(json_string_value(value), &seconds, &ignored) <
			 0)
		return;
	if (seconds <= 0)
		return;
	import_set(foreign->import->job, FOREIGN_IN "scheduling.maxRunningTime",
		   json_sprintf("%lds", seconds));
	json_object_del(foreign->value, "max_duration");
}

static int take_dstack(struct foreign *foreign, struct error *err)
{
	json_t *value = foreign->value;
	json_t *resources = json_object_get(value, "resources");
	struct foreign_pool pool = { 0 };
	long nodes = node_count(value, "nodes");

	(void)err;
	json_object_del(value, "type");
	foreign_name(foreign, foreign_take(value, "name"));
	take_gpu(foreign, resources, "gpu", &pool);
	pool.cpus = take_least(resources, "cpu", 1);
	pool.memory_gb = take_least(resources, "memory", 1);
	put_image(foreign, foreign_take(value, "image"), nodes);
	take_env(foreign, "env");
	take_duration(foreign);
	put_shell(foreign, joined(foreign_take(value, "commands")),
		  "jobrun.command", "DSTACK_");
	put_nodes(foreign, foreign_take(value, "nodes"), &pool);
	return 0;
}

static bool is_dstack(const json_t *value)
{
	return !strcmp(json_get_text(value, "type", ""), "task") &&
	       json_object_get(value, "commands");
}

const struct foreign_form foreign_sky = {
	.name = "a SkyPilot task",
	.is = is_sky,
	.take = take_sky,
};

const struct foreign_form foreign_dstack = {
	.name = "a dstack task",
	.at_home = true,
	.is = is_dstack,
	.take = take_dstack,
};
