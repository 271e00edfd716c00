/* SPDX-License-Identifier: Apache-2.0 */
/* The GPUs of this machine, and the hidden command that asks their driver for
 * others (core/device/look.h). */
#include <stdlib.h>
#include <string.h>

#include "cmd/jobrun/commands.h"
#include "cmd/jobrun/ui/app.h"
#include "cmd/jobrun/view/rows.h"
#include "core/base/columns.h"
#include "core/base/json.h"
#include "core/base/units.h"
#include "core/device/device.h"
#include "core/device/device_queue.h"
#include "core/device/lease.h"
#include "core/device/look.h"

struct devices_opts {
	const char *format;
	const char *output;
};

static const struct opt options[] = {
	{ 0, "format", OPT_CHOICE, offsetof(struct devices_opts, format),
	  "text|json", "the output format; text is the default" },
	{ 'o', "output", OPT_STRING, offsetof(struct devices_opts, output),
	  "FORM", ROWS_FORMATS },
	{ 0 },
};

static void put_amount(json_t *row, const char *key, const json_t *value,
		       const char *unit)
{
	char text[64] = "-";

	if (json_is_integer(value) && unit)
		snprintf(text, sizeof(text), "%lld%s",
			 (long long)json_integer_value(value), unit);
	else if (json_is_integer(value))
		size_format((uint64_t)json_integer_value(value), text,
			    sizeof(text));
	json_put_text(row, key, text);
}

/* Writes "train.1 by ada, 4711 python3 by ada". */
static void put_holders(json_t *row, const json_t *lease, const json_t *holders)
{
	struct buf text = { 0 };
	const json_t *one;
	size_t i;

	if (json_is_object(lease))
		buf_printf(&text, "%s by %s", json_get_text(lease, "run", "?"),
			   json_get_text(lease, "user", "?"));
	json_array_foreach(holders, i, one)
	{
		buf_printf(&text, "%s%lld %s", text.len ? ", " : "",
			   json_get_int(one, "pid", 0),
			   json_get_text(one, "program", "?"));
		if (json_get_text(one, "user", NULL))
			buf_printf(&text, " by %s",
				   json_get_text(one, "user", ""));
	}
	json_put_text(row, "held by", text.len ? buf_text(&text) : "-");
	buf_done(&text);
}

static void put_text(const json_t *all, int width, struct buf *out)
{
	const json_t *list = json_object_get(all, "devices"), *one;
	json_t *rows = json_array();
	size_t i;

	json_array_foreach(list, i, one)
	{
		bool slice = json_is_true(json_object_get(one, "slice"));
		json_t *row = json_object();
		char *name = mem_printf(
			"%s %lld%s", json_get_text(one, "vendor", ""),
			json_get_int(one, "index", 0), slice ? " (slice)" : "");

		json_put_text(row, "device", name);
		json_put_text(row, "model", json_get_text(one, "model", "-"));
		put_amount(row, "memory", json_object_get(one, "memoryBytes"),
			   NULL);
		put_amount(row, "used", json_object_get(one, "memoryUsedBytes"),
			   NULL);
		put_amount(row, "busy", json_object_get(one, "usePercent"),
			   "%");
		put_amount(row, "heat", json_object_get(one, "temperatureC"),
			   " C");
		json_put_text(row, "health",
			      json_get_text(one, "trouble", "ok"));
		put_holders(row, json_object_get(one, "lease"),
			    json_object_get(one, "holders"));
		json_array_append_new(rows, row);
		free(name);
	}
	if (json_array_size(rows))
		wrap_table(rows, width, out);
	else
		buf_puts(out, "no GPUs on this machine\n");
	json_decref(rows);
}

static int run(struct app *app, int argc, char **argv)
{
	struct devices_opts opts = { .format = "text" };
	struct buf out = { 0 };
	json_t *all = NULL;
	struct error err;
	int status = 0;

	if (options_parse(app, &cmd_devices, argc, argv, &opts, 0, 0, &status) <
	    0)
		return status;
	if (opts.output)
		opts.format = opts.output;
	if (rows_check(opts.format, &err) < 0)
		return app_fail(app, &err);
	all = devices_look(&err);
	if (!all)
		return app_fail(app, &err);
	device_queue_show(lease_folder_shared(), all);
	if (rows_is_text(opts.format))
		put_text(all, app->width, &out);
	else if (rows_put(all, "devices", "uuid", opts.format, &out, &err) < 0)
		status = app_fail(app, &err);
	app_print(app, &out);
	buf_done(&out);
	json_decref(all);
	return status;
}

static int run_look(struct app *app, int argc, char **argv)
{
	struct arena *mem = arena_new();
	struct devices *all;
	struct buf out = { 0 };
	struct error err;
	json_t *value;
	int status = 0;

	(void)argc;
	(void)argv;
	all = devices_find("", mem, &err);
	if (all) {
		value = devices_json(all);
		json_print(value, &out);
		app_print(app, &out);
		json_decref(value);
	} else {
		fprintf(stderr, "%s\n", err.text);
		status = 1;
	}
	buf_done(&out);
	arena_free(mem);
	return status;
}

const struct command cmd_devices = {
	.name = "devices",
	.group = GROUP_MACHINE,
	.args = "[-o FORM]",
	.summary = "show the GPUs of this machine and the processes on them",
	.help = "  jobrun devices\n",
	.options = options,
	.run = run,
};

const struct command cmd_look_devices = {
	.name = LOOK_COMMAND,
	.hidden = true,
	.run = run_look,
};
