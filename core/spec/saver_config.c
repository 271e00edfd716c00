/* SPDX-License-Identifier: Apache-2.0 */
#include "core/spec/saver_config.h"

#include <string.h>

#include "core/base/json.h"
#include "core/job/message.h"

static const struct field config_fields[] = {
	{ FIELD_PLAIN(saver_config, "attempt", FIELD_INT, attempt) },
	{ FIELD_PLAIN(saver_config, "directory", FIELD_STRING, directory),
	  .flags = FIELD_REQUIRED },
	{ FIELD_PLAIN(saver_config, "to", FIELD_STRING, to),
	  .flags = FIELD_OPTIONAL },
	{ FIELD_PLAIN(saver_config, "keep", FIELD_INT, keep), .fallback = "1" },
	{ FIELD_PLAIN(saver_config, "metric", FIELD_STRING, metric),
	  .flags = FIELD_OPTIONAL },
	{ FIELD_PLAIN(saver_config, "maximize", FIELD_BOOL, maximize) },
	{ FIELD_PLAIN(saver_config, "resume", FIELD_INT, resume) },
	{ FIELD_PLAIN(saver_config, "quietS", FIELD_INT, quiet_s) },
	{ FIELD_PLAIN(saver_config, "fetched", FIELD_STRING, fetched),
	  .flags = FIELD_REQUIRED },
	{ FIELD_PLAIN(saver_config, "isShared", FIELD_BOOL, is_shared) },
	{ FIELD_PLAIN(saver_config, "fetchOnly", FIELD_BOOL, fetch_only) },
	{ FIELD_PLAIN(saver_config, "isResumed", FIELD_BOOL, is_resumed) },
	{ FIELD_PLAIN(saver_config, "events", FIELD_STRING, events),
	  .flags = FIELD_OPTIONAL },
	{ FIELD_PLAIN(saver_config, "runFolder", FIELD_STRING, run_folder),
	  .flags = FIELD_OPTIONAL },
	{ FIELD_PLAIN(saver_config, "heard", FIELD_STRING, heard),
	  .flags = FIELD_OPTIONAL },
	{ .name = NULL },
};

static const struct message config_message = {
	.name = "its configuration",
	.size = sizeof(struct saver_config),
	.fields = config_fields,
};

static const struct field end_fields[] = {
	{ FIELD_PLAIN(saver_end, "endedMs", FIELD_INT, ended_ms) },
	{ FIELD_PLAIN(saver_end, "well", FIELD_BOOL, well) },
	{ FIELD_PLAIN(saver_end, "patienceS", FIELD_INT, patience_s) },
	{ .name = NULL },
};

static const struct message end_message = {
	.name = "end",
	.size = sizeof(struct saver_end),
	.fields = end_fields,
};

/* The parent's other lines to the saver have no "end". */
static const struct field told_fields[] = {
	{ .name = "end", .type = FIELD_MESSAGE, .message = &end_message },
	{ .name = NULL },
};

static const struct message told_message = {
	.name = "what it is told",
	.size = sizeof(struct saver_end),
	.fields = told_fields,
};

/* Frees the value. */
static char *line(json_t *value)
{
	char *text = json_canonical(value);
	char *out = mem_printf("%s\n", text);

	json_decref(value);
	free(text);
	return out;
}

char *saver_config_write(const struct saver_config *config)
{
	return line(message_json(&config_message, config, MESSAGE_PLAIN));
}

char *saver_end_write(const struct saver_end *end)
{
	return line(message_json(&told_message, end, MESSAGE_PLAIN));
}

static int read_line(const struct message *message, const char *text,
		     struct arena *mem, void *out, struct error *err)
{
	json_t *from = json_read(text, strlen(text), message->name, err);
	int ret = -1;

	if (from)
		ret = message_read(message, from, mem, out, err);
	json_decref(from);
	return ret;
}

int saver_config_read(const char *text, struct arena *mem,
		      struct saver_config *out, struct error *err)
{
	*out = (struct saver_config){ 0 };
	return read_line(&config_message, text, mem, out, err);
}

int saver_end_read(const char *text, struct saver_end *out, struct error *err)
{
	*out = (struct saver_end){ 0 };
	return read_line(&told_message, text, NULL, out, err);
}
