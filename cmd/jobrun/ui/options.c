/* SPDX-License-Identifier: Apache-2.0 */
/* Parses options described by tables, with getopt_long. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/jobrun/ui/command.h"
#include "core/base/alloc.h"
#include "core/base/text.h"
#include "core/base/units.h"
#include "core/base/nearest.h"
#include "providers/registry.h"

#define OPT_MAX 32
#define HELP_COLUMN 30
#define HELP_WIDTH 80
#define OPT_CHOICES_MAX 16
#define NUMBER_MAX 1000000000

/* Options that every command has. */
static const struct opt common[] = {
	{ 0, "color", OPT_CHOICE, 0, "auto|always|never",
	  "when to colour; auto (default): on a terminal" },
	{ 'h', "help", OPT_FLAG, 0, NULL, "show this help" },
	{ 0 },
};

/* Options of commands that make requests. */
static const struct opt remote[] = {
	{ 0, "trace-http", OPT_STRING, 0, "FILE",
	  "log HTTP requests to FILE as JSON, without secrets" },
	{ 0 },
};

static const struct opt none[] = { { 0 } };

char *option_value(const struct opt *row)
{
	const char *star =
		row->type == OPT_CHOICE ? strchr(row->value, '*') : NULL;
	const char *between = "";
	struct buf out = { 0 };
	size_t i;

	if (!star)
		return row->value ? mem_strdup(row->value) : NULL;
	buf_add(&out, row->value, (size_t)(star - row->value));
	for (i = 0; providers[i]; i++) {
		if (!providers[i]->render)
			continue;
		buf_printf(&out, "%s%s", between, providers[i]->name);
		between = "|";
	}
	/* Avoid an empty choice if there are no providers at all. */
	buf_puts(&out, star + 1 + (!*between && star[1]));
	return out.data;
}

static void print_options(const struct opt *options, struct buf *out)
{
	for (; options->name; options++) {
		char *value = option_value(options);
		struct buf left = { 0 };

		if (options->letter)
			buf_printf(&left, "  -%c, ", options->letter);
		else
			buf_puts(&left, "      ");
		buf_printf(&left, "--%s", options->name);
		if (value)
			buf_printf(&left, " %s", value);
		if (left.len > HELP_COLUMN - 2)
			buf_printf(out, "%s\n%*s%s\n", left.data, HELP_COLUMN,
				   "", options->help);
		else
			buf_printf(out, "%-*s%s\n", HELP_COLUMN, left.data,
				   options->help);
		buf_done(&left);
		free(value);
	}
}

/* Its words, none of them parted: "[--out FILE]" is one. */
static void print_usage(const struct command *command, struct buf *out)
{
	static const char head[] = "Usage: jobrun ";
	size_t indent = strlen(head) + strlen(command->name);
	size_t at = indent;
	const char *word = command->args;

	buf_printf(out, "%s%s", head, command->name);
	while (*word) {
		size_t len = strcspn(word, " ");

		while (*word == '[' && word[len] && !memchr(word, ']', len))
			len += 1 + strcspn(word + len + 1, " ");
		if (at + 1 + len > HELP_WIDTH) {
			buf_printf(out, "\n%*s", (int)indent, "");
			at = indent;
		}
		buf_printf(out, " %.*s", (int)len, word);
		at += 1 + len;
		word += len + (word[len] == ' ');
	}
	buf_puts(out, "\n");
}

void command_help(const struct command *command, struct buf *out)
{
	buf_printf(out, "jobrun %s: %s\n\n", command->name, command->summary);
	print_usage(command, out);
	if (command->help)
		buf_printf(out, "\n%s", command->help);
	buf_puts(out, "\nOptions:\n");
	if (command->options)
		print_options(command->options, out);
	if (command->lines)
		print_options(command->lines, out);
	if (command->more)
		print_options(command->more, out);
	if (command->shared)
		print_options(command->shared, out);
	if (command->remote)
		print_options(remote, out);
	print_options(common, out);
}

const struct opt *command_option(const struct command *command, size_t i)
{
	const struct opt *const lists[] = { command->options,
					    command->lines,
					    command->more,
					    command->shared,
					    command->remote ? remote : none,
					    common };
	size_t n;

	for (n = 0; n < COUNT(lists); n++) {
		const struct opt *row;

		for (row = lists[n] ? lists[n] : none; row->name; row++)
			if (!i--)
				return row;
	}
	return NULL;
}

const struct opt *command_find_option(const struct command *command,
				      const char *word)
{
	size_t len = strcspn(word, "=");
	const struct opt *row;

	for (size_t i = 0; (row = command_option(command, i)); i++)
		if (text_starts(word, "--")
			    ? strlen(row->name) == len - 2 &&
				      !strncmp(row->name, word + 2, len - 2)
			    : len == 2 && word[0] == '-' &&
				      row->letter == word[1])
			return row;
	return NULL;
}

struct table {
	struct option longs[OPT_MAX + 1];
	const struct opt *rows[OPT_MAX];
	size_t offsets[OPT_MAX]; /* offset of the struct of each row */
	char shorts[2 * OPT_MAX + 3];
	int count;
};

static void add_rows(struct table *table, const struct opt *options,
		     size_t offset)
{
	size_t n = strlen(table->shorts);

	for (; options->name && table->count < OPT_MAX; options++) {
		struct option *to = &table->longs[table->count];

		to->name = options->name;
		to->has_arg = options->type == OPT_FLAG ? no_argument
							: required_argument;
		to->val = 256 + table->count;
		table->offsets[table->count] = offset;
		table->rows[table->count++] = options;
		if (options->letter) {
			table->shorts[n++] = options->letter;
			if (to->has_arg)
				table->shorts[n++] = ':';
		}
	}
	table->shorts[n] = '\0';
}

static size_t offset_of(const struct table *table, const struct opt *row)
{
	int i = 0;

	while (table->rows[i] != row)
		i++;
	return table->offsets[i];
}

static const struct opt *find_row(const struct table *table, int found)
{
	int i;

	if (found >= 256 && found < 256 + table->count)
		return table->rows[found - 256];
	for (i = 0; i < table->count; i++)
		if (table->rows[i]->letter == found)
			return table->rows[i];
	return NULL;
}

static int unknown(const struct table *table, const char *word,
		   struct error *err)
{
	const char *names[OPT_MAX];
	const char *near = NULL;
	char name[64];
	int i;

	if (text_starts(word, "--")) {
		snprintf(name, sizeof(name), "%.*s",
			 (int)strcspn(word + 2, "="), word + 2);
		for (i = 0; i < table->count; i++)
			names[i] = table->rows[i]->name;
		near = nearest_name(name, names, (size_t)table->count);
	}
	if (near)
		return error_set(err, ERROR_USAGE,
				 "unknown option '%s'; did you mean '--%s'?",
				 word, near);
	return error_set(err, ERROR_USAGE, "unknown option '%s'", word);
}

static int add_value(struct opt_list *list, const struct opt *row,
		     const char *value, struct error *err)
{
	if (list->count == OPT_LIST_MAX)
		return error_set(err, ERROR_USAGE, "give --%s at most %d times",
				 row->name, OPT_LIST_MAX);
	list->items[list->count].opt = row;
	list->items[list->count++].value = value;
	return 0;
}

/* Writes the choices as "text, json or markdown". */
static void put_choices(const char *choices, struct buf *out)
{
	const char *p;

	for (p = choices; *p; p++) {
		if (*p != '|')
			buf_putc(out, *p);
		else
			buf_puts(out, strchr(p + 1, '|') ? ", " : " or ");
	}
}

static int check_choice(const struct opt *row, const char *value,
			struct error *err)
{
	const char *names[OPT_CHOICES_MAX];
	const char *near;
	struct buf list = { 0 };
	char *choices = option_value(row);
	char *copy = mem_strdup(choices);
	char *name, *rest = NULL;
	size_t count = 0;
	int ret = -1;

	for (name = strtok_r(copy, "|", &rest); name && count < COUNT(names);
	     name = strtok_r(NULL, "|", &rest)) {
		if (!strcmp(name, value))
			ret = 0;
		names[count++] = name;
	}
	if (ret < 0) {
		near = nearest_name(value, names, count);
		put_choices(choices, &list);
		error_set(err, ERROR_USAGE, "--%s takes %s, not '%s'%s%s%s",
			  row->name, buf_text(&list), value,
			  near ? "; did you mean '" : "", near ? near : "",
			  near ? "'?" : "");
	}
	buf_done(&list);
	free(copy);
	free(choices);
	return ret;
}

static int set_option(const struct opt *row, const char *value, void *opts,
		      struct error *err)
{
	void *to = (char *)opts + row->offset;

	switch (row->type) {
	case OPT_FLAG:
		*(bool *)to = true;
		return 0;
	case OPT_CHOICE:
		if (check_choice(row, value, err) < 0)
			return -1;
		*(const char **)to = value;
		return 0;
	case OPT_STRING:
		*(const char **)to = value;
		return 0;
	case OPT_NUMBER:
	case OPT_COUNT:
		if (number_parse(value, row->type == OPT_COUNT, NUMBER_MAX, to,
				 err) < 0)
			return error_prefix(err, "--%s", row->name);
		return 0;
	case OPT_DURATION:
		if (duration_parse(value, to, err) < 0)
			return error_prefix(err, "--%s", row->name);
		return 0;
	case OPT_SIZE:
		if (size_parse(value, to, err) < 0)
			return error_prefix(err, "--%s", row->name);
		return 0;
	case OPT_LIST:
		return add_value(to, row, value, err);
	}
	return 0;
}

static int lacks_value(const struct opt *row, const char *word,
		       struct error *err)
{
	char *value = row ? option_value(row) : NULL;
	struct buf what = { 0 };

	if (row && row->type == OPT_CHOICE)
		put_choices(value, &what);
	else
		buf_puts(&what, value ? value : "a value");
	error_set(err, ERROR_USAGE, "option '--%s' needs %s",
		  row ? row->name : word, buf_text(&what));
	buf_done(&what);
	free(value);
	return -1;
}

static int parse(struct app *app, struct table *table, int argc, char **argv,
		 void *opts, bool *help, struct error *err)
{
	int found;

	optind = 0;
	opterr = 0;
	for (;;) {
		const struct opt *row;
		int at = optind ? optind : 1;

		found = getopt_long(argc, argv, table->shorts, table->longs,
				    NULL);
		if (found < 0)
			return 0;
		if (found == ':')
			return lacks_value(find_row(table, optopt),
					   argv[optind - 1], err);
		row = find_row(table, found);
		if (found == '?' || !row) {
			char letter[3] = { '-', (char)optopt, '\0' };

			row = optopt >= 256 ? find_row(table, optopt) : NULL;
			if (row)
				return error_set(err, ERROR_USAGE,
						 "option '--%s' takes no value",
						 row->name);
			/* The unknown letter may be in the middle of a word. */
			return unknown(table,
				       optopt ? letter
				       : optind > at || at >= argc
					       ? argv[optind - 1]
					       : argv[at],
				       err);
		}
		if (row == &common[0]) {
			if (check_choice(row, optarg, err) < 0)
				return -1;
			app_set_color(app, optarg);
		} else if (row == &remote[0]) {
			app->trace_http = optarg;
		} else if (row == &common[1]) {
			*help = true;
			return 0;
		} else if (set_option(row, optarg,
				      (char *)opts + offset_of(table, row),
				      err) < 0) {
			return -1;
		}
	}
}

static void say_see(const struct app *app, const struct command *command)
{
	app_say(app, "see 'jobrun help %s'", command->name);
}

int command_misused(const struct app *app, const struct command *command,
		    const char *text)
{
	struct error err;
	int status;

	error_set(&err, ERROR_USAGE, "%s: %s", command->name, text);
	status = app_fail(app, &err);
	app_say(app, "usage: jobrun %s %s", command->name, command->args);
	say_see(app, command);
	return status;
}

/* Names argument number `n` of those that a command must have, by its usage. */
static void argument_missing(const struct command *command, int n, char *out,
			     size_t size)
{
	const char *at = command->args;
	int depth = 0;

	for (size_t len; *at; at += len + (at[len] == ' ')) {
		bool plain = depth == 0 && *at != '[' && *at != '-';

		len = strcspn(at, " ");
		for (size_t i = 0; i < len; i++)
			depth += (at[i] == '[') - (at[i] == ']');
		if (!plain || n-- > 0)
			continue;
		snprintf(out, size, "missing argument %.*s%s", (int)len, at,
			 !strncmp(at, "PATH", 4)
				 ? "; for the current directory it is '.'"
				 : "");
		return;
	}
	snprintf(out, size, "missing argument");
}

int options_parse(struct app *app, const struct command *command, int argc,
		  char **argv, void *opts, int min, int max, int *status)
{
	struct table table = { .shorts = "" };
	struct buf text = { 0 };
	struct error err;
	bool help = false;
	char why[128];

	strcpy(table.shorts, command->wraps ? "+:" : ":");
	add_rows(&table, command->options ? command->options : none, 0);
	add_rows(&table, command->lines ? command->lines : none,
		 command->lines_offset);
	add_rows(&table, command->more ? command->more : none,
		 command->more_offset);
	add_rows(&table, command->shared ? command->shared : none,
		 command->shared_offset);
	add_rows(&table, command->remote ? remote : none, 0);
	add_rows(&table, common, 0);
	if (parse(app, &table, argc, argv, opts, &help, &err) < 0)
		goto wrong;
	if (help) {
		command_help(command, &text);
		app_print(app, &text);
		buf_done(&text);
		*status = 0;
		return -1;
	}
	if (argc - optind < min) {
		argument_missing(command, argc - optind, why, sizeof(why));
		*status = command_misused(app, command, why);
		return -1;
	}
	if (argc - optind > max) {
		error_set(&err, ERROR_USAGE, "unexpected argument '%s'",
			  argv[optind + max]);
		goto wrong;
	}
	return optind;
wrong:
	*status = app_fail(app, &err);
	say_see(app, command);
	return -1;
}
