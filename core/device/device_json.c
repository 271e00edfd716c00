/* SPDX-License-Identifier: Apache-2.0 */
#include "core/device/device_json.h"

#include "core/base/clock.h"
#include "core/base/json.h"

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

static json_t *lease_json(const struct device *one)
{
	json_t *out;
	char since[40];

	if (!one->run)
		return json_null();
	out = json_object();
	time_format(one->run_since_ms, since, sizeof(since));
	json_put_text(out, "run", one->run);
	json_put_text(out, "user", one->run_user);
	json_put_text(out, "sinceTime", since);
	return out;
}

static void put_known(json_t *out, const char *key, long long value, bool known)
{
	json_put(out, key, known ? json_integer(value) : json_null());
}

json_t *devices_json(const struct devices *all)
{
	json_t *list = json_array();
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
		json_put(each, "lease", lease_json(one));
		json_put(each, "holders", holders_json(one));
		json_array_append_new(list, each);
	}
	return list;
}
