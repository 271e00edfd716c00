/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "cmd/jobrun/commands.h"
#include "cmd/jobrun/ui/load.h"
#include "core/base/alloc.h"
#include "core/base/json.h"
#include "providers/registry.h"
#include "schema/catalogue/catalogue_get.h"
#include "schema/describe/explain.h"
#include "schema/describe/explain_list.h"
#include "schema/describe/explain_rule.h"
#include "core/base/columns.h"

struct explain_opts {
	bool recursive;
	const char *format;
	const char *catalogue;
};

static const struct opt options[] = {
	{ 'r', "recursive", OPT_FLAG, offsetof(struct explain_opts, recursive),
	  NULL, "show everything below the field, as an outline" },
	{ 0, "format", OPT_CHOICE, offsetof(struct explain_opts, format),
	  "text|json|man", "text (default); man: all fields, or a provider's" },
	{ 0, "catalogue", OPT_STRING, offsetof(struct explain_opts, catalogue),
	  "FILE", "hardware and prices that override jobrun's own" },
	{ 0 },
};

static int print_listing(const struct app *app,
			 const struct explain_list *listing,
			 const struct outline *all, bool json, struct buf *out,
			 struct error *err)
{
	const struct catalogue *catalogue = catalogue_get(err);
	json_t *rows, *whole;

	if (!catalogue)
		return -1;
	rows = listing->rows(all, catalogue);
	if (!json) {
		wrap_table(rows, app->width, out);
		if (listing->dated)
			buf_printf(out, "As of %s.\n", catalogue->date);
		json_decref(rows);
		return 0;
	}
	whole = json_object();
	json_put_int(whole, "formatVersion", 1);
	json_put_text(whole, "table", listing->name);
	if (listing->dated)
		json_put_text(whole, "date", catalogue->date);
	json_put(whole, "entries", rows);
	json_print(whole, out);
	json_decref(whole);
	return 0;
}

static int print_field(const struct app *app, const struct outline *all,
		       const char *path, const struct explain_opts *opts,
		       struct buf *out, struct error *err)
{
	struct explain_style style = {
		.width = app->width,
		.recursive = opts->recursive,
		.colour = app->out_color,
	};
	struct outlined at;
	json_t *value;

	if (outline_find(all, path, &at, err) < 0)
		return -1;
	if (!strcmp(opts->format, "text")) {
		explain_text(all, &at, &style, out);
		return 0;
	}
	value = explain_json(all, &at, opts->recursive);
	json_print(value, out);
	json_decref(value);
	return 0;
}

/* All fields, or what a provider makes of them. */
static int print_man(const struct outline *all, const char *path,
		     struct buf *out, struct error *err)
{
	size_t i;

	if (!*path) {
		explain_man(all, out);
		return 0;
	}
	for (i = 0; all->provider_names[i]; i++)
		if (!strcmp(all->provider_names[i], path)) {
			explain_provider_man(all, all->providers[i], out);
			return 0;
		}
	return error_set(err, ERROR_USAGE,
			 "--format man prints all fields, or what a provider "
			 "makes of them; '%s' is not a provider ('jobrun "
			 "explain providers' lists them)",
			 path);
}

static void print_rule(const struct app *app, const struct outline *all,
		       const struct rule *rule, bool json, struct buf *out)
{
	const struct explain_style style = { .width = app->width,
					     .colour = app->out_color };
	json_t *value;

	if (!json) {
		explain_rule_text(all, rule, &style, out);
		return;
	}
	value = explain_rule_json(all, rule);
	json_print(value, out);
	json_decref(value);
}

/* Returns the rule named as in a problem, or without the brackets; or NULL. */
static const struct rule *named_rule(const char *path, bool *brackets)
{
	size_t len = strlen(path);
	const struct rule *rule;
	char *name;

	*brackets = len > 2 && path[0] == '[' && path[len - 1] == ']';
	name = *brackets ? mem_printf("%.*s", (int)len - 2, path + 1)
			 : mem_strdup(path);
	rule = rule_find(name);
	*brackets = *brackets && rule;
	free(name);
	return rule;
}

/* Prints a field, and as text also the rule of that name, which is what a
 * summary of problems means. */
static int print_both(const struct app *app, const struct outline *all,
		      const char *path, const struct rule *rule,
		      const struct explain_opts *opts, struct buf *out,
		      struct error *err)
{
	if (print_field(app, all, path, opts, out, err) < 0)
		return -1;
	if (rule && !strcmp(opts->format, "text")) {
		buf_putc(out, '\n');
		print_rule(app, all, rule, false, out);
	}
	return 0;
}

static int explain(const struct app *app, const char *path,
		   const struct explain_opts *opts, struct buf *out,
		   struct error *err)
{
	bool man = !strcmp(opts->format, "man");
	bool json = !strcmp(opts->format, "json");
	const struct explain_list *listing = listing_find(path);
	bool brackets;
	const struct rule *rule = named_rule(path, &brackets);
	struct outlined at;
	struct outline all;

	outline_init(&all, providers);
	if (man)
		return print_man(&all, path, out, err);
	if (listing)
		return print_listing(app, listing, &all, json, out, err);
	if (!brackets && (!rule || outline_find(&all, path, &at, err) == 0))
		return print_both(app, &all, path, rule, opts, out, err);
	print_rule(app, &all, rule, json, out);
	return 0;
}

static int run(struct app *app, int argc, char **argv)
{
	struct explain_opts opts = { .format = "text" };
	struct buf text = { 0 };
	struct error err;
	int status = 0;
	int first;

	first = options_parse(app, &cmd_explain, argc, argv, &opts, 0, 1,
			      &status);
	if (first < 0)
		return status;
	load_catalogue(opts.catalogue);
	if (explain(app, first < argc ? argv[first] : "", &opts, &text, &err) <
	    0)
		status = app_fail(app, &err);
	else
		app_print(app, &text);
	buf_done(&text);
	return status;
}

const struct command cmd_explain = {
	.name = "explain",
	.group = GROUP_FILES,
	.args = "[-r] [FIELD.PATH|TABLE|RULE]",
	.summary = "explain a field of a job file, or a problem in one",
	.help = "  jobrun explain trainingInput.workerCount\n"
		"  jobrun explain -r hyperparameters    what is below it\n"
		"  jobrun explain scale-tiers           a table of facts\n"
		"  jobrun explain tpu-count             a problem, by the name "
		"in brackets\n"
		"Without an argument: the top level of a job file.  Tables are "
		"machine-types,\n"
		"accelerators, tpus, regions, zones, runtime-versions, "
		"scale-tiers, rules,\n"
		"providers.\n",
	.options = options,
	.run = run,
};
