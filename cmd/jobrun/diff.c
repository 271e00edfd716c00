/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/jobrun/commands.h"
#include "cmd/jobrun/view/run_facts.h"
#include "core/base/json.h"
#include "core/base/show.h"
#include "core/base/text.h"
#include "core/plan/diff.h"
#include "core/plan/markdown.h"
#include "core/plan/show_value.h"

struct diff_opts {
	const char *format;
	const char *prices;
};

static const struct opt options[] = {
	{ 0, "format", OPT_CHOICE, offsetof(struct diff_opts, format),
	  "text|json|markdown", "the output format; text is the default" },
	{ 0, "prices", OPT_STRING, offsetof(struct diff_opts, prices), "FILE",
	  "a price list, to compare the cost of the runs" },
	{ 0 },
};

/* The titles of sections, in the order in which they are shown. */
static const struct {
	const char *prefix; /* of paths */
	const char *title;
} sections[] = {
	{ "outcome", "outcome" },
	{ "provider", "provider" },
	{ "settings.env", "environment" },
	{ "settings", "settings" },
	{ "files", "source files" },
	{ "source", "source" },
	{ "revision", "commit" },
	{ "machines", "machines" },
	{ "metrics", "metrics" },
	{ "time", "time" },
	{ "cost", "cost" },
};

struct comparing {
	struct app *app;
	const char *names[2];
	struct diff changes;
	struct buf text;
};

static size_t section_of(const char *path)
{
	size_t i;

	for (i = 0; i + 1 < COUNT(sections); i++) {
		size_t len = strlen(sections[i].prefix);

		if (text_starts(path, sections[i].prefix) &&
		    (!path[len] || strchr(".[", path[len])))
			break;
	}
	return i;
}

/* Returns the name without what the section's title says: `files["a.txt"]`
 * gives a.txt. */
static char *name_of(const struct change *change)
{
	const char *path = change->path, *end;

	path += strlen(sections[section_of(path)].prefix);
	end = text_starts(path, "[\"") ? strstr(path, "\"]") : NULL;
	if (end)
		return mem_printf("%.*s%s", (int)(end - path) - 2, path + 2,
				  end + 2);
	return mem_strdup(*path == '.' ? path + 1 : change->path);
}

static void put_side(const struct change *change, const json_t *value,
		     struct buf *out)
{
	bool file = !strcmp(sections[section_of(change->path)].prefix, "files");

	if (!value)
		buf_putc(out, '-');
	else if (json_is_real(value))
		buf_printf(out, "%.6g", json_real_value(value));
	else if (file) /* a few digits of its digest */
		buf_printf(out, "%.12s",
			   json_string_value(value) ? json_string_value(value)
						    : "");
	else
		show_value(out, value);
}

/* Writes the change such as " (+12.5 %)". */
static void put_percent(const struct change *change, struct buf *out)
{
	double before = json_number_value(change->before);
	double after = json_number_value(change->after);

	if (json_is_number(change->before) && json_is_number(change->after) &&
	    before != 0)
		buf_printf(out, " (%+.3g %%)",
			   (after - before) / fabs(before) * 100);
}

static size_t count_in(const struct comparing *all, size_t section)
{
	size_t n = 0;

	for (size_t i = 0; i < all->changes.count; i++)
		n += section_of(all->changes.items[i].path) == section;
	return n;
}

static void put_text(struct comparing *all)
{
	const char *bold = all->app->out_color ? "\033[1m" : "";
	const char *plain = all->app->out_color ? "\033[0m" : "";

	buf_printf(&all->text, "%s -> %s\n", all->names[0], all->names[1]);
	for (size_t k = 0; k < COUNT(sections); k++) {
		if (!count_in(all, k))
			continue;
		buf_printf(&all->text, "\n%s%s%s\n", bold, sections[k].title,
			   plain);
		for (size_t i = 0; i < all->changes.count; i++) {
			const struct change *one = &all->changes.items[i];
			char *name;

			if (section_of(one->path) != k)
				continue;
			buf_puts(&all->text, "  ");
			name = name_of(one);
			show_text(&all->text, name);
			free(name);
			buf_puts(&all->text, ": ");
			put_side(one, one->before, &all->text);
			buf_puts(&all->text, " -> ");
			put_side(one, one->after, &all->text);
			put_percent(one, &all->text);
			buf_putc(&all->text, '\n');
		}
	}
	if (!all->changes.count)
		buf_puts(&all->text, "no difference\n");
}

static void put_code(const struct change *change, const json_t *value,
		     struct buf *out)
{
	struct buf side = { 0 };

	put_side(change, value, &side);
	markdown_code(out, buf_text(&side));
	buf_done(&side);
}

static void put_markdown(struct comparing *all)
{
	buf_puts(&all->text, "**");
	markdown_code(&all->text, all->names[0]);
	buf_puts(&all->text, " → ");
	markdown_code(&all->text, all->names[1]);
	buf_puts(&all->text,
		 all->changes.count ? "**\n" : "**: no difference\n");
	for (size_t k = 0; k < COUNT(sections); k++) {
		if (!count_in(all, k))
			continue;
		buf_printf(&all->text, "\n**%s**\n", sections[k].title);
		for (size_t i = 0; i < all->changes.count; i++) {
			const struct change *one = &all->changes.items[i];
			char *name;

			if (section_of(one->path) != k)
				continue;
			buf_puts(&all->text, "- ");
			name = name_of(one);
			markdown_code(&all->text, name);
			free(name);
			buf_puts(&all->text, ": ");
			put_code(one, one->before, &all->text);
			buf_puts(&all->text, " → ");
			put_code(one, one->after, &all->text);
			put_percent(one, &all->text);
			buf_putc(&all->text, '\n');
		}
	}
}

static void put_json(struct comparing *all)
{
	json_t *out = json_object(), *list = json_array();

	json_put_int(out, "formatVersion", 1);
	json_put_text(out, "before", all->names[0]);
	json_put_text(out, "after", all->names[1]);
	json_put(out, "changes", list);
	for (size_t i = 0; i < all->changes.count; i++) {
		const struct change *one = &all->changes.items[i];
		json_t *item = json_object();
		char *name;

		json_put_text(item, "section",
			      sections[section_of(one->path)].title);
		name = name_of(one);
		json_put_text(item, "name", name);
		free(name);
		json_put(item, "before",
			 one->before ? json_incref(one->before) : json_null());
		json_put(item, "after",
			 one->after ? json_incref(one->after) : json_null());
		json_array_append_new(list, item);
	}
	json_print(out, &all->text);
	json_decref(out);
}

static int before_it(const struct run_story *story, struct arena *mem,
		     const char **out, struct error *err)
{
	if (story->trial || !story->before)
		return error_set(err, ERROR_USAGE,
				 "'%s' has no previous run; name a second one",
				 run_story_name(story, mem));
	*out = arena_printf(mem, "%s.%d", story->before->job_id,
			    story->before->attempt);
	return 0;
}

/* Reads both runs, the older first if only one is named. */
static int read_both(struct session *session, char **names, int count,
		     struct arena *mem, struct run_story stories[2],
		     struct error *err)
{
	const char *other = count > 1 ? names[1] : NULL;

	if (count > 1)
		return run_story_read(session, names[0], mem, &stories[0],
				      err) < 0 ||
				       run_story_read(session, other, mem,
						      &stories[1], err) < 0
			       ? -1
			       : 0;
	if (run_story_read(session, names[0], mem, &stories[1], err) < 0 ||
	    before_it(&stories[1], mem, &other, err) < 0)
		return -1;
	return run_story_read(session, other, mem, &stories[0], err);
}

static void compare(struct comparing *all, const struct diff_opts *opts,
		    json_t *const facts[2], struct arena *mem)
{
	/* The files show changes of the source in more detail. */
	if (json_object_get(facts[0], "files") &&
	    json_object_get(facts[1], "files"))
		for (int i = 0; i < 2; i++)
			json_object_del(facts[i], "source");
	diff_json(facts[0], facts[1], mem, &all->changes);
	if (!strcmp(opts->format, "json"))
		put_json(all);
	else if (!strcmp(opts->format, "markdown"))
		put_markdown(all);
	else
		put_text(all);
	app_print(all->app, &all->text);
}

static int run(struct app *app, int argc, char **argv)
{
	struct diff_opts opts = { .format = "text" };
	struct session session = { 0 };
	struct arena *mem = arena_new();
	struct run_story stories[2] = { 0 };
	json_t *facts[2] = { NULL, NULL };
	struct comparing all = { .app = app };
	struct error err;
	int status = 0;
	int first;

	first = options_parse(app, &cmd_diff, argc, argv, &opts, 1, 2, &status);
	if (first < 0)
		goto out;
	if (session_open(&session, app, 0, &err) < 0 ||
	    session_prices(&session, opts.prices, &err) < 0 ||
	    read_both(&session, argv + first, argc - first, mem, stories,
		      &err) < 0) {
		status = app_fail(app, &err);
		goto out;
	}
	for (int i = 0; i < 2; i++) {
		all.names[i] = run_story_name(&stories[i], mem);
		facts[i] = run_facts(&stories[i], session.prices);
	}
	compare(&all, &opts, facts, mem);
out:
	for (int i = 0; i < 2; i++) {
		json_decref(facts[i]);
		run_story_done(&stories[i]);
	}
	buf_done(&all.text);
	session_close(&session);
	arena_free(mem);
	return status;
}

const struct command cmd_diff = {
	.name = "diff",
	.group = GROUP_WATCH,
	.args = "[--format FORMAT] [--prices FILE] JOB [JOB]",
	.summary = "show what differs between two runs or trials",
	.help = "JOB.3 is attempt 3, JOB/7 trial 7; a single JOB is compared "
		"with its previous\n"
		"run.  Shows only differences.\n"
		"  jobrun diff resnet\n"
		"  jobrun diff resnet.3 resnet.5\n"
		"  jobrun diff tuned/3 tuned/7\n",
	.options = options,
	.remote = true,
	.run = run,
};
