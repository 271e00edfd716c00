/* SPDX-License-Identifier: Apache-2.0 */
/* The GPUs of this machine or of others, and the hidden command that asks their
 * drivers (core/device/look.h, core/supervise/host_devices.h). */
#include <stdlib.h>
#include <string.h>

#include "cmd/jobrun/commands.h"
#include "cmd/jobrun/ui/app.h"
#include "cmd/jobrun/view/rows.h"
#include "core/base/columns.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/units.h"
#include "core/device/device.h"
#include "core/device/device_json.h"
#include "core/device/device_queue.h"
#include "core/device/look.h"
#include "core/store/store.h"
#include "core/supervise/host_devices.h"
#include "core/supervise/hosts.h"

struct devices_opts {
	const char *format;
	const char *hosts;
	const char *output;
};

static const struct opt options[] = {
	{ 0, "format", OPT_CHOICE, offsetof(struct devices_opts, format),
	  "text|json", "the output format; text is the default" },
	{ 0, "hosts", OPT_STRING, offsetof(struct devices_opts, hosts),
	  "HOST,...", "those of these machines instead, over ssh" },
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

static json_t *row_of(const json_t *one)
{
	bool slice = json_is_true(json_object_get(one, "slice"));
	json_t *row = json_object();
	char *name = mem_printf("%s %lld%s", json_get_text(one, "vendor", ""),
				json_get_int(one, "index", 0),
				slice ? " (slice)" : "");

	if (json_get_text(one, "host", NULL))
		json_put_text(row, "host", json_get_text(one, "host", ""));
	json_put_text(row, "device", name);
	json_put_text(row, "model", json_get_text(one, "model", "-"));
	put_amount(row, "memory", json_object_get(one, "memoryBytes"), NULL);
	put_amount(row, "used", json_object_get(one, "memoryUsedBytes"), NULL);
	put_amount(row, "busy", json_object_get(one, "usePercent"), "%");
	put_amount(row, "heat", json_object_get(one, "temperatureC"), " C");
	json_put_text(row, "health", json_get_text(one, "trouble", "ok"));
	put_holders(row, json_object_get(one, "lease"),
		    json_object_get(one, "holders"));
	free(name);
	return row;
}

/* `none` is what is said if there are none, or NULL. */
static void put_text(const json_t *all, int width, const char *none,
		     struct buf *out)
{
	const json_t *list = json_object_get(all, "devices"), *one;
	json_t *rows = json_array();
	size_t i;

	json_array_foreach(list, i, one)
		json_array_append_new(rows, row_of(one));
	if (json_array_size(rows))
		wrap_table(rows, width, out);
	else if (none)
		buf_printf(out, "%s\n", none);
	json_decref(rows);
}

/* The devices of this machine as the document that is shown; NULL on failure.
 * Returns new. */
static json_t *look_here(struct app *app, struct arena *mem, struct error *err)
{
	struct devices *all = devices_look(mem, err);
	struct store *store;
	struct error ignored;
	json_t *out;

	if (!all)
		return NULL;
	store = store_open_to_read(&ignored);
	device_queue_show(store ? store_folder(store) : "/", all, mem);
	store_close(store);
	if (all->note)
		app_say(app, "%s", all->note);
	out = json_object();
	json_put_int(out, "formatVersion", 1);
	json_put_text(out, "source", all->source);
	json_put_text(out, "note", all->note);
	json_put(out, "devices", devices_json(all));
	return out;
}

/* ---- other machines ---- */

/* Splits "a,b"; the result lives in `mem`. */
static size_t split_hosts(const char *text, struct arena *mem,
			  const char ***out)
{
	char *rest = arena_strdup(mem, text), *one;
	size_t n = 0;

	*out = arena_alloc(mem, (strlen(text) + 2) * sizeof(**out));
	while ((one = strsep(&rest, ",")))
		if (*one)
			(*out)[n++] = one;
	return n;
}

static void add_host(const struct host_devices *host, json_t *hosts,
		     json_t *devices)
{
	json_t *own = host->all ? devices_json(host->all) : json_array(), *one;
	json_t *about = json_object();
	size_t i;

	json_put_text(about, "host", host->host);
	json_put_text(about, "source", host->all ? host->all->source : NULL);
	json_put_text(about, "note", host->all ? host->all->note : NULL);
	json_put_text(about, "error", host->why);
	json_array_append_new(hosts, about);
	json_array_foreach(own, i, one)
	{
		json_put_text(one, "host", host->host);
		json_array_append(devices, one);
	}
	json_decref(own);
}

static int make_folder_of(const char *path, struct error *err)
{
	char *folder = path_folder(path);
	int ret = folder_make(folder, err);

	free(folder);
	return ret;
}

/* The same of other machines.  Says which could not be asked, and sets `status`
 * to what the first of them deserves. */
static json_t *look_there(struct app *app, const char *list, struct arena *mem,
			  int *status, struct error *err)
{
	struct host_devices_call call = { 0 };
	const char **names;
	struct host_devices *told = NULL;
	struct store *store;
	json_t *out, *hosts, *devices;
	char *known;
	size_t i;

	call.count = split_hosts(list, mem, &names);
	call.hosts = names;
	if (!call.count) {
		error_set(err, ERROR_USAGE, "--hosts names no host");
		return NULL;
	}
	store = store_open(err);
	if (!store)
		return NULL;
	known = hosts_known_path(store_folder(store), "devices");
	call.known = known;
	if (make_folder_of(known, err) == 0)
		told = host_devices_look(&call, mem, err);
	free(known);
	store_close(store);
	if (!told)
		return NULL;
	out = json_object();
	hosts = json_array();
	devices = json_array();
	for (i = 0; i < call.count; i++) {
		struct error why;

		add_host(&told[i], hosts, devices);
		if (told[i].all && told[i].all->note)
			app_say(app, "host '%s': %s", told[i].host,
				told[i].all->note);
		if (told[i].all)
			continue;
		error_set(&why, told[i].code, "host '%s': %s", told[i].host,
			  told[i].why);
		*status = app_fail(app, &why);
	}
	json_put_int(out, "formatVersion", 1);
	json_put(out, "hosts", hosts);
	json_put(out, "devices", devices);
	return out;
}

static int run(struct app *app, int argc, char **argv)
{
	struct devices_opts opts = { .format = "text" };
	struct arena *mem = arena_new();
	struct buf out = { 0 };
	json_t *all = NULL;
	struct error err;
	int status = 0;

	if (options_parse(app, &cmd_devices, argc, argv, &opts, 0, 0, &status) <
	    0)
		goto out;
	if (opts.output)
		opts.format = opts.output;
	if (rows_check(opts.format, &err) == 0)
		all = opts.hosts
			      ? look_there(app, opts.hosts, mem, &status, &err)
			      : look_here(app, mem, &err);
	if (!all) {
		status = app_fail(app, &err);
		goto out;
	}
	if (rows_is_text(opts.format))
		put_text(all, app->width,
			 status       ? NULL
			 : opts.hosts ? "no GPUs on these hosts"
				      : "no GPUs on this machine",
			 &out);
	else if (rows_put(all, "devices", "uuid", opts.format, &out, &err) < 0)
		status = app_fail(app, &err);
	app_print(app, &out);
out:
	buf_done(&out);
	json_decref(all);
	arena_free(mem);
	return status;
}

/* [KNOWN DIRECTORY HOST...] */
static int run_look(struct app *app, int argc, char **argv)
{
	const struct host_devices_call call = {
		.known = argc > 2 ? argv[1] : NULL,
		.directory =
			argc > 2 && strcmp(argv[2], "-") != 0 ? argv[2] : NULL,
		.hosts = (const char *const *)argv + 3,
		.count = argc > 3 ? (size_t)argc - 3 : 0,
	};
	struct buf out = { 0 };
	struct error err;
	int status = 0;

	if ((call.count ? host_devices_tell(&call, &out, &err)
			: devices_tell(&out, &err)) == 0) {
		app_print(app, &out);
	} else {
		fprintf(stderr, "%s\n", err.text);
		status = 1;
	}
	buf_done(&out);
	return status;
}

const struct command cmd_devices = {
	.name = "devices",
	.group = GROUP_MACHINE,
	.args = "[--hosts HOST,...] [-o FORM]",
	.summary =
		"show the GPUs of this machine or of hosts, and who uses them",
	.help = "  jobrun devices\n"
		"  jobrun devices --hosts gpu1,gpu2\n",
	.options = options,
	.run = run,
};

const struct command cmd_look_devices = {
	.name = LOOK_COMMAND,
	.hidden = true,
	.run = run_look,
};
