/* SPDX-License-Identifier: Apache-2.0 */
/* Devices as JSON, for other programs and between processes. */
#include "core/device/device_internal.h"

#include <string.h>

#include "core/base/json.h"
#include "core/device/lease.h"

static json_t *holders_json(const struct device *one)
{
	json_t *out = json_array(), *each;
	size_t i;

	for (i = 0; i < one->holder_count; i++) {
		each = json_object();
		json_put_int(each, "pid", one->holders[i].pid);
		json_put_text(each, "user", one->holders[i].user);
		json_put_text(each, "program", one->holders[i].program);
		json_array_append_new(out, each);
	}
	return out;
}

static void put_known(json_t *out, const char *key, long long value, bool known)
{
	json_put(out, key, known ? json_integer(value) : json_null());
}

json_t *devices_json(const struct devices *all)
{
	json_t *out = json_object(), *list = json_array();
	struct arena *mem = arena_new();
	size_t i;

	for (i = 0; i < all->count; i++) {
		const struct device *one = &all->items[i];
		json_t *each = json_object();

		json_put_text(each, "vendor", one->vendor);
		json_put_int(each, "index", one->index);
		json_put(each, "slice", json_boolean(one->slice));
		json_put_text(each, "model", one->model);
		json_put_text(each, "uuid", one->uuid);
		json_put_text(each, "bus", one->bus);
		put_known(each, "memoryBytes", (long long)one->memory_bytes,
			  one->memory_bytes);
		put_known(each, "memoryUsedBytes",
			  (long long)one->memory_used_bytes, one->memory_bytes);
		put_known(each, "usePercent", one->use_percent,
			  one->use_percent >= 0);
		put_known(each, "temperatureC", one->temperature_c,
			  one->temperature_c >= 0);
		json_put_text(each, "trouble", one->trouble);
		json_put_text(each, "lease", lease_name(one, mem));
		json_put(each, "holders", holders_json(one));
		json_array_append_new(list, each);
	}
	json_put_int(out, "formatVersion", 1);
	json_put_text(out, "source", all->source);
	json_put(out, "devices", list);
	arena_free(mem);
	return out;
}

static bool is_whole_number(const json_t *object, const char *key)
{
	return json_is_integer(json_object_get(object, key));
}

static void read_one(const json_t *from, struct devices *out, struct arena *mem)
{
	const char *vendor = json_copy_text(from, "vendor", mem);
	const json_t *holder;
	struct device *one =
		vendor ? device_add(out, vendor,
				    (int)json_get_int(from, "index", 0))
		       : NULL;
	size_t i;

	if (!one)
		return;
	one->slice = json_is_true(json_object_get(from, "slice"));
	one->model = json_copy_text(from, "model", mem);
	one->uuid = json_copy_text(from, "uuid", mem);
	one->bus = json_copy_text(from, "bus", mem);
	one->trouble = json_copy_text(from, "trouble", mem);
	json_array_foreach(json_object_get(from, "holders"), i, holder)
	{
		if (i == DEVICE_HOLDERS_MAX || !is_whole_number(holder, "pid"))
			break;
		one->holders[one->holder_count++] = (struct device_holder){
			.pid = (pid_t)json_get_int(holder, "pid", 0),
			.user = json_copy_text(holder, "user", mem),
			.program = json_copy_text(holder, "program", mem),
		};
	}
}

struct devices *devices_from_json(const json_t *from, struct arena *mem)
{
	const json_t *list = json_object_get(from, "devices"), *one;
	struct devices *out;
	size_t i;

	if (!json_is_array(list))
		return NULL;
	out = arena_alloc(mem, sizeof(*out));
	out->source = json_copy_text(from, "source", mem);
	json_array_foreach(list, i, one) read_one(one, out, mem);
	return out;
}
