/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/commands.h"

#include <string.h>

#include "core/base/alloc.h"
#include "core/base/json.h"
#include "core/base/units.h"
#include "core/data/sdist.h"

struct package_opts {
	const char *module;
	const char *output;
	const char *format;
};

static const struct opt options[] = {
	{ 'o', "output", OPT_STRING, offsetof(struct package_opts, output),
	  "DIR", "where to put the archive (dist)" },
	{ 0, "module-name", OPT_STRING, offsetof(struct package_opts, module),
	  "MODULE", "fail if this module (trainer.task) is not in it" },
	{ 0, "format", OPT_CHOICE, offsetof(struct package_opts, format),
	  "text|json", "the output format; text is the default" },
	{ 0 },
};

static void print_json(struct app *app, const struct sdist *made)
{
	json_t *json = json_object();
	struct buf text = { 0 };

	json_put_int(json, "formatVersion", 1);
	json_put_text(json, "path", made->path);
	json_put_text(json, "root", made->root);
	json_put_text(json, "sha256", made->digest.hex);
	json_put_int(json, "size", (long long)made->size_bytes);
	json_put_int(json, "files", (long long)made->files);
	json_put_int(json, "unpackedSize", (long long)made->bytes);
	json_put(json, "generatedSetup", json_boolean(made->made_setup));
	json_print(json, &text);
	json_decref(json);
	app_print(app, &text);
	buf_done(&text);
}

static void print_text(struct app *app, const struct sdist *made)
{
	struct buf text = { 0 };
	char size[32], packed[32];

	size_format(made->bytes, size, sizeof(size));
	size_format(made->size_bytes, packed, sizeof(packed));
	app_say(app, "%zu file%s of '%s' (%s), packed to %s%s", made->files,
		made->files == 1 ? "" : "s", made->root, size, packed,
		made->made_setup ? ", with a setup.py made for them" : "");
	buf_printf(&text, "%s\n", made->path);
	app_print(app, &text);
	buf_done(&text);
}

static int run(struct app *app, int argc, char **argv)
{
	struct package_opts opts = { .output = "dist", .format = "text" };
	struct arena *mem = arena_new();
	struct sdist made;
	struct error err;
	int status = 0;
	int first;

	first = options_parse(app, &cmd_package, argc, argv, &opts, 1, 1,
			      &status);
	if (first < 0)
		goto out;
	if (sdist_make(argv[first], NULL, opts.module, opts.output, mem, &made,
		       &err) < 0) {
		status = app_fail(app, &err);
		goto out;
	}
	if (made.secrets)
		app_say(app,
			"warning: it may hold a secret: %s (exclude it with "
			".gitignore or .jobrunignore)",
			made.secrets);
	if (!strcmp(opts.format, "json"))
		print_json(app, &made);
	else
		print_text(app, &made);
out:
	arena_free(mem);
	return status;
}

const struct command cmd_package = {
	.name = "package",
	.group = GROUP_DATA,
	.args = "[-o DIR] [--module-name MODULE] DIR",
	.summary = "build the source package for packageUris",
	.help = "  jobrun package --module-name trainer.task trainer\n\n"
		"DIR is a Python package, or a folder with setup.py or\n"
		"pyproject.toml.  The archive is named by its content: equal "
		"content\n"
		"gives equal bytes.  Prints its path.\n",
	.options = options,
	.run = run,
};
