/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers the completion of shells: 'jobrun complete WORD...' gets the words of
 * a command line after "jobrun", the last one being typed, and prints what it
 * could become, one per line, each with a tab and a short description.  The
 * line ":files" or ":folders" stands for their names.
 *
 * No single command is known here: options come from their rows, and the kinds
 * of arguments from the words of the usage ("[--now] JOB").
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/jobrun/commands.h"
#include "core/base/alloc.h"
#include "core/base/text.h"
#include "core/job/traits.h"
#include "core/topology/topology.h"
#include "core/store/store.h"
#include "providers/registry.h"
#include "schema/describe/explain_list.h"

struct offer {
	const char *typed;  /* offered words begin with this */
	const char *before; /* part of the typed word: "--format=" */
	struct buf out;
};

static void add(struct offer *offer, const char *text, const char *about)
{
	if (!text_starts(text, offer->typed))
		return;
	buf_printf(&offer->out, "%s%s", offer->before, text);
	if (about)
		buf_printf(&offer->out, "\t%s", about);
	buf_putc(&offer->out, '\n');
}

static void add_commands(struct offer *offer)
{
	size_t i;

	for (i = 0; commands[i]; i++)
		if (!commands[i]->hidden)
			add(offer, commands[i]->name, commands[i]->summary);
	if (offer->typed[0] == '-') {
		add(offer, "--help", "show help");
		add(offer, "--version", "print the version");
	}
}

static void add_options(struct offer *offer, const struct command *command)
{
	const struct opt *row;
	char name[64];
	size_t i;

	for (i = 0; (row = command_option(command, i)); i++) {
		snprintf(name, sizeof(name), "--%s", row->name);
		add(offer, name, row->help);
	}
}

static void add_choices(struct offer *offer, const char *choices)
{
	char *copy = mem_strdup(choices);
	char *name, *rest = NULL;

	for (name = strtok_r(copy, "|", &rest); name;
	     name = strtok_r(NULL, "|", &rest))
		add(offer, name, NULL);
	free(copy);
}

/* Adds the jobs in the store; one that can't be read has none to offer. */
static void add_jobs(struct offer *offer)
{
	struct error ignored;
	struct store *store = store_open_to_read(&ignored);
	struct arena *mem = arena_new();
	struct run_list runs;
	size_t i;

	if (store && store_run_list(store, false, mem, &runs, &ignored) == 0)
		for (i = 0; i < runs.count; i++)
			add(offer, runs.items[i].job_id,
			    run_state_name(runs.items[i].state));
	arena_free(mem);
	store_close(store);
}

static void add_providers(struct offer *offer)
{
	size_t i;

	for (i = 0; providers[i]; i++)
		if (!(providers[i]->traits & TRAIT_HIDDEN))
			add(offer, providers[i]->name, providers[i]->summary);
}

static void add_task_types(struct offer *offer)
{
	int type;

	for (type = 0; type < TASK_TYPE_COUNT; type++)
		add(offer, task_type_name((enum task_type)type), NULL);
}

static void add_listings(struct offer *offer)
{
	const struct explain_list *listing;

	for (listing = listings; listing->name; listing++)
		add(offer, listing->name, NULL);
}

/* Adds the fields at the level of the typed path, with `end` after those
 * without fields below. */
static void add_fields(struct offer *offer, const char *end)
{
	const char *dot = strrchr(offer->typed, '.');
	struct field fields[OUTLINE_FIELDS_MAX];
	const struct message *below;
	struct outline all;
	struct outlined at;
	struct error ignored;
	size_t i, count;
	char *parent;

	parent = mem_printf("%.*s", dot ? (int)(dot - offer->typed) : 0,
			    offer->typed);
	outline_init(&all, providers);
	below = NULL;
	if (outline_find(&all, parent, &at, &ignored) == 0)
		below = at.field.name ? outline_below(&at.field) : at.parent;
	if (below) {
		count = outline_fields(&all, below, fields);
		for (i = 0; i < count; i++) {
			const char *doc = fields[i].doc ? fields[i].doc : "";
			char *path = mem_printf(
				"%s%s%s%s", parent, dot ? "." : "",
				fields[i].name,
				outline_below(&fields[i]) ? "." : end);
			char *about = mem_printf(
				"%.*s", (int)outline_sentence(doc), doc);

			add(offer, path, about);
			free(about);
			free(path);
		}
	}
	free(parent);
}

/* Adds what a word in a usage or an option's value stands for. */
static void add_word(struct offer *offer, const char *word)
{
	if (!strcmp(word, "PATH") || !strcmp(word, "PLANFILE") ||
	    !strcmp(word, "FILE"))
		buf_puts(&offer->out, ":files\n");
	else if (!strcmp(word, "DIR"))
		buf_puts(&offer->out, ":folders\n");
	else if (!strcmp(word, "JOB"))
		add_jobs(offer);
	else if (!strcmp(word, "COMMAND"))
		add_commands(offer);
	else if (!strcmp(word, "FIELD.PATH"))
		add_fields(offer, "");
	else if (!strcmp(word, "PATH=VALUE") || !strcmp(word, "PATH=JSON"))
		add_fields(offer, "=");
	else if (!strcmp(word, "TABLE"))
		add_listings(offer);
	else if (!strcmp(word, "TYPE"))
		add_task_types(offer);
	else if (word[0] >= 'a' && word[0] <= 'z')
		add(offer, word, NULL);
}

static void add_value(struct offer *offer, const struct opt *row)
{
	char *value = option_value(row);

	if (row->type == OPT_CHOICE)
		add_choices(offer, value);
	else if (!strcmp(row->name, "provider"))
		add_providers(offer);
	else if (value)
		add_word(offer, value);
	free(value);
}

/* Adds the arguments in a usage such as "[--format FORMAT] [--watch] [JOB...]",
 * without those of options. */
static void add_arguments(struct offer *offer, const char *usage)
{
	const char *p = usage;
	char word[64];
	size_t len;

	while (*p) {
		if (text_starts(p, "[-")) {
			p += strcspn(p, "]");
			continue;
		}
		len = strcspn(p, " []|");
		snprintf(word, sizeof(word), "%.*s", (int)len, p);
		if (text_ends(word, "..."))
			word[strlen(word) - 3] = '\0';
		add_word(offer, word);
		p += len ? len : 1;
	}
}

static void add_for_command(struct offer *offer, const struct command *command,
			    char *const *words, size_t count)
{
	const struct opt *needs = NULL;
	const char *equals = strchr(offer->typed, '=');
	bool ended = false;
	char *name = NULL;
	size_t i;

	for (i = 0; i < count; i++) {
		if (needs) {
			needs = NULL;
		} else if (!ended && !strchr(words[i], '=')) {
			ended = !strcmp(words[i], "--");
			needs = command_find_option(command, words[i]);
			if (needs && needs->type == OPT_FLAG)
				needs = NULL;
		}
	}
	if (needs) {
		add_value(offer, needs);
	} else if (command->wraps && (ended || offer->typed[0] != '-')) {
		buf_puts(&offer->out, ":files\n"); /* of another program */
	} else if (ended || offer->typed[0] != '-') {
		add_arguments(offer, command->args);
	} else if (!equals) {
		add_options(offer, command);
	} else {
		needs = command_find_option(command, offer->typed);
		name = mem_printf("%.*s", (int)(equals + 1 - offer->typed),
				  offer->typed);
		offer->before = name;
		offer->typed = equals + 1;
		if (needs)
			add_value(offer, needs);
		offer->before = "";
		free(name);
	}
}

static int run(struct app *app, int argc, char **argv)
{
	struct offer offer = { .before = "" };
	const struct command *command;

	if (argc < 2)
		return 0;
	offer.typed = argv[argc - 1];
	command = argc > 2 ? command_find(argv[1]) : NULL;
	if (argc == 2)
		add_commands(&offer);
	else if (command)
		add_for_command(&offer, command, argv + 2, (size_t)argc - 3);
	app_print(app, &offer.out);
	buf_done(&offer.out);
	return 0;
}

const struct command cmd_complete = {
	.name = "complete",
	.args = "WORD...",
	.summary = "complete the last word; shells call this",
	.hidden = true,
	.run = run,
};
