/* SPDX-License-Identifier: Apache-2.0 */
#include "core/spec/saver_config.h"

#include <string.h>

#include "core/base/json.h"

/* Takes the value. */
static char *line(json_t *value)
{
	char *text = json_canonical(value);
	char *out = mem_printf("%s\n", text);

	json_decref(value);
	free(text);
	return out;
}

static void put_text(json_t *to, const char *key, const char *text)
{
	if (text)
		json_put_text(to, key, text);
}

char *saver_config_write(const struct saver_config *config)
{
	json_t *out = json_object();

	json_put_int(out, "attempt", config->attempt);
	put_text(out, "directory", config->directory);
	put_text(out, "to", config->to);
	json_put_int(out, "keep", config->keep);
	put_text(out, "metric", config->metric);
	json_put(out, "maximize", json_boolean(config->maximize));
	json_put_int(out, "resume", config->resume);
	json_put_int(out, "quietS", config->quiet_s);
	put_text(out, "fetched", config->fetched);
	json_put(out, "isShared", json_boolean(config->is_shared));
	json_put(out, "fetchOnly", json_boolean(config->fetch_only));
	json_put(out, "isResumed", json_boolean(config->is_resumed));
	put_text(out, "events", config->events);
	put_text(out, "runFolder", config->run_folder);
	put_text(out, "heard", config->heard);
	return line(out);
}

char *saver_end_write(const struct saver_end *end)
{
	json_t *out = json_object(), *what = json_object();

	json_put_int(what, "endedMs", end->ended_ms);
	json_put(what, "well", json_boolean(end->well));
	json_put_int(what, "patienceS", end->patience_s);
	json_put(out, "end", what);
	return line(out);
}

int saver_config_read(const char *text, struct arena *mem,
		      struct saver_config *out, struct error *err)
{
	json_t *from = json_read(text, strlen(text), "its configuration", err);

	if (!from)
		return -1;
	*out = (struct saver_config){
		.attempt = (int)json_get_int(from, "attempt", 0),
		.directory = json_copy_text(from, "directory", mem),
		.to = json_copy_text(from, "to", mem),
		.keep = (long)json_get_int(from, "keep", 1),
		.metric = json_copy_text(from, "metric", mem),
		.maximize = json_is_true(json_object_get(from, "maximize")),
		.resume = (int)json_get_int(from, "resume", 0),
		.quiet_s = (long)json_get_int(from, "quietS", 0),
		.fetched = json_copy_text(from, "fetched", mem),
		.is_shared = json_is_true(json_object_get(from, "isShared")),
		.fetch_only = json_is_true(json_object_get(from, "fetchOnly")),
		.is_resumed = json_is_true(json_object_get(from, "isResumed")),
		.events = json_copy_text(from, "events", mem),
		.run_folder = json_copy_text(from, "runFolder", mem),
		.heard = json_copy_text(from, "heard", mem),
	};
	json_decref(from);
	if (!out->directory || !out->fetched)
		return error_set(err, ERROR_FAILED,
				 "its configuration is incomplete");
	return 0;
}

int saver_end_read(const char *text, struct saver_end *out, struct error *err)
{
	json_t *from = json_read(text, strlen(text), "what it is told", err);
	const json_t *end = json_object_get(from, "end");

	if (!from)
		return -1;
	*out = (struct saver_end){
		.ended_ms = json_get_int(end, "endedMs", 0),
		.well = json_is_true(json_object_get(end, "well")),
		.patience_s = (long)json_get_int(end, "patienceS", 0),
	};
	json_decref(from);
	return 0;
}
