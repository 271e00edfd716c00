/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/import/import.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/base/nearest.h"
#include "schema/write/yaml_write.h"

#define WORDS_MAX 8
#define FLAGS_MAX 96

static const struct import_command *const commands[] = {
	&import_training,
	&import_training_old,
	&import_custom_job,
	&import_tuning_job,
};

#define ACCOUNT "credentials come from where jobrun runs: see 'jobrun doctor'"

#define SAME "the job is the same without it"

/* The flags that every gcloud command takes. */
static const struct flag wide_flags[] = {
	{ "project", FLAG_TEXT, "jobrun.project", NULL, NULL },
	{ "account", FLAG_NOTE, NULL, ACCOUNT, NULL },
	{ "access-token-file", FLAG_NOTE, NULL, ACCOUNT, NULL },
	{ "billing-project", FLAG_NOTE, NULL, SAME, NULL },
	{ "configuration", FLAG_NOTE, NULL, ACCOUNT, NULL },
	{ "flags-file", FLAG_LOSS, NULL,
	  "the flags in it are not read: write them out", NULL },
	{ "flatten", FLAG_NOTE, NULL, SAME, NULL },
	{ "format", FLAG_NOTE, NULL, "apply and status have --format", NULL },
	{ "http-timeout", FLAG_NOTE, NULL, SAME, NULL },
	{ "impersonate-service-account", FLAG_NOTE, NULL, ACCOUNT, NULL },
	{ "log-http", FLAG_NOTE_SWITCH, NULL, SAME, NULL },
	{ "quiet", FLAG_NOTE_SWITCH, NULL, "jobrun apply --yes", NULL },
	{ "trace-token", FLAG_NOTE, NULL, SAME, NULL },
	{ "user-output-enabled", FLAG_NOTE_SWITCH, NULL, SAME, NULL },
	{ "verbosity", FLAG_NOTE, NULL, SAME, NULL },
	{ NULL, FLAG_TEXT, NULL, NULL, NULL },
};

/* Makes the text one line, as it becomes a comment. */
static void make_one_line(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = ' ';
}

/* Returns false if the text is there already. */
__attribute__((format(printf, 2, 0))) static bool
add_text(struct import *import, const char *format, va_list args)
{
	struct buf text = { 0 };
	bool new = true;
	json_t *note;
	char *line;
	size_t i;

	buf_vprintf(&text, format, args);
	line = buf_take(&text);
	make_one_line(line);
	json_array_foreach(import->notes, i, note) new =
		new &&strcmp(json_string_value(note), line) != 0;
	if (new)
		json_array_append_new(import->notes, json_text(line));
	free(line);
	return new;
}

void import_note(struct import *import, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_text(import, format, args);
	va_end(args);
}

void import_loss(struct import *import, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	import->lost += add_text(import, format, args);
	va_end(args);
}

static const struct flag *find_row(const struct flag *rows, const char *name)
{
	for (; rows && rows->name; rows++)
		if (!strcmp(rows->name, name))
			return rows;
	return NULL;
}

static const struct flag *find_flag(const struct import *import,
				    const char *name)
{
	const struct flag *row = NULL;

	if (import->command)
		row = find_row(import->command->flags, name);
	return row ? row : find_row(wide_flags, name);
}

static size_t add_names(const struct flag *rows, const char **names, size_t n)
{
	for (; rows && rows->name && n < FLAGS_MAX; rows++)
		names[n++] = rows->name;
	return n;
}

static int unknown_flag(const struct import *import, const char *name,
			struct error *err)
{
	const char *names[FLAGS_MAX];
	const char *near;
	size_t n = 0;

	if (import->command)
		n = add_names(import->command->flags, names, n);
	n = add_names(wide_flags, names, n);
	near = nearest_name(name, names, n);
	if (near)
		return error_set(err, ERROR_USAGE,
				 "gcloud has no flag '--%s' here; did you mean "
				 "'--%s'?",
				 name, near);
	return error_set(err, ERROR_USAGE, "gcloud has no flag '--%s' here",
			 name);
}

static int set_accelerator(struct import *import, const struct flag *flag,
			   const char *value, struct error *err)
{
	json_t *map = import_map(value, err), *out;
	const char *type, *count;

	if (!map)
		return -1;
	type = json_get_text(map, "type", NULL);
	count = json_get_text(map, "count", NULL);
	if (!type || !count) {
		json_decref(map);
		return error_set(err, ERROR_USAGE,
				 "needs type=TYPE,count=COUNT, not '%s'",
				 value);
	}
	out = json_object();
	json_put_text(out, "count", count);
	json_put(out, "type", import_enum(type));
	import_set(import->job, flag->path, out);
	json_decref(map);
	return 0;
}

static int set_bool(struct import *import, const struct flag *flag,
		    const char *value, struct error *err)
{
	bool yes = !strcasecmp(value, "true") || !strcasecmp(value, "yes") ||
		   !strcmp(value, "1");
	bool no = !strcasecmp(value, "false") || !strcasecmp(value, "no") ||
		  !strcmp(value, "0");

	if (!yes && !no)
		return error_set(err, ERROR_USAGE,
				 "takes true or false, not '%s'", value);
	import_set(import->job, flag->path, json_boolean(yes));
	return 0;
}

static void add_note(struct import *import, const struct flag *flag,
		     const char *value)
{
	import_note(import, "--%s%s%s: %s", flag->name, value ? "=" : "",
		    value ? value : "",
		    flag->note ? flag->note : "no counterpart here");
}

static int set_flag(struct import *import, const struct flag *flag,
		    const char *value, struct error *err)
{
	json_t *map;

	switch (flag->type) {
	case FLAG_TEXT:
	case FLAG_NUMBER:
		import_set(import->job, flag->path, json_text(value));
		return 0;
	case FLAG_BOOL:
		return set_bool(import, flag, value, err);
	case FLAG_SWITCH:
		import_set(import->job, flag->path, json_true());
		return 0;
	case FLAG_LIST:
		import_set(import->job, flag->path, import_list(value));
		return 0;
	case FLAG_MAP:
		map = import_map(value, err);
		if (!map)
			return -1;
		import_set(import->job, flag->path, map);
		return 0;
	case FLAG_ENUM:
		import_set(import->job, flag->path, import_enum(value));
		return 0;
	case FLAG_ACCELERATOR:
		return set_accelerator(import, flag, value, err);
	case FLAG_LOSS:
		import->lost++;
		/* fallthrough */
	case FLAG_NOTE:
	case FLAG_NOTE_SWITCH:
		add_note(import, flag, value);
		return 0;
	case FLAG_CALL:
		return flag->call(import, value, err);
	}
	return 0;
}

static bool takes_value(const struct flag *flag)
{
	return flag->type != FLAG_SWITCH && flag->type != FLAG_NOTE_SWITCH;
}

/* Takes "--flag=value", "--flag value", "--flag" or "--no-flag".  Returns how
 * many words it took, or -1. */
static int take_flag(struct import *import, char *const *words, size_t count,
		     struct error *err)
{
	const char *word = words[0] + 2, *equals = strchr(word, '=');
	char *name = equals ? mem_printf("%.*s", (int)(equals - word), word)
			    : mem_strdup(word);
	const struct flag *flag = find_flag(import, name);
	const char *value = equals ? equals + 1 : NULL;
	int ret = 1;

	if (!flag && !value && text_starts(name, "no-")) {
		flag = find_flag(import, name + 3);
		if (flag && flag->type == FLAG_SWITCH) {
			import_set(import->job, flag->path, json_false());
			goto out;
		}
		if (flag && flag->type == FLAG_NOTE_SWITCH)
			goto out;
		flag = NULL;
	}
	if (!flag) {
		ret = unknown_flag(import, name, err);
		goto out;
	}
	if (takes_value(flag) && !value) {
		if (count < 2 || text_starts(words[1], "--")) {
			ret = error_set(err, ERROR_USAGE,
					"'--%s' needs a value", name);
			goto out;
		}
		value = words[1];
		ret = 2;
	}
	if (set_flag(import, flag, value, err) < 0)
		ret = error_prefix(err, "--%s", name);
out:
	free(name);
	return ret;
}

/* Finds the command with these words, as far as they were read. */
static const struct import_command *find_command(const char *words)
{
	size_t i;

	if (text_starts(words, "alpha ") || text_starts(words, "beta "))
		words = strchr(words, ' ') + 1;
	for (i = 0; i < COUNT(commands); i++)
		if (!strcmp(commands[i]->words, words))
			return commands[i];
	return NULL;
}

static int take_word(struct import *import, const char *word,
		     struct buf *before, struct error *err)
{
	if (!import->command) {
		buf_printf(before, "%s%s", before->len ? " " : "", word);
		import->command = find_command(buf_text(before));
		return 0;
	}
	if (!import->command->name_word)
		return error_set(err, ERROR_USAGE,
				 "gcloud takes no argument '%s' here", word);
	if (import->name)
		return error_set(err, ERROR_USAGE,
				 "unexpected argument '%s' after '%s'; put the "
				 "program's own arguments after --",
				 word, import->name);
	import->name = word;
	return 0;
}

static int take_words(struct import *import, char *const *words, size_t count,
		      struct error *err)
{
	struct buf before = { 0 };
	size_t i = count && !strcmp(words[0], "gcloud");
	int ret = 0;

	while (ret == 0 && i < count) {
		if (!strcmp(words[i], "--"))
			break;
		if (!strcmp(words[i], "-q")) {
			i++;
		} else if (text_starts(words[i], "--")) {
			int taken =
				take_flag(import, words + i, count - i, err);
			if (taken < 0)
				ret = -1;
			else
				i += (size_t)taken;
		} else {
			ret = take_word(import, words[i++], &before, err);
		}
	}
	for (i++; ret == 0 && i < count; i++)
		json_array_append_new(import->user_args, json_text(words[i]));
	if (ret == 0 && !import->command)
		ret = error_set(err, ERROR_USAGE,
				"cannot import 'gcloud %s', only 'gcloud "
				"ai-platform jobs submit training', 'gcloud ai "
				"custom-jobs create' and 'gcloud ai "
				"hp-tuning-jobs create'",
				buf_text(&before));
	buf_done(&before);
	return ret;
}

static void put_comments(const struct import *import, struct buf *out)
{
	char *from = mem_printf("gcloud %s%s%s", import->command->words,
				import->name ? " " : "",
				import->name ? import->name : "");
	json_t *note;
	size_t i;

	make_one_line(from);
	buf_printf(out, "# From: %s\n", from);
	free(from);
	json_array_foreach(import->notes, i, note)
		buf_printf(out, "# %s\n", json_string_value(note));
}

/* Sets the provider if it is one of ours; otherwise the user must choose. */
static void set_provider(struct import *import)
{
	const char *provider = import->command->provider;
	const char *const *name;

	for (name = import->provider_names; provider && *name; name++)
		if (!strcmp(*name, provider)) {
			import_set(import->job, "jobrun.provider",
				   json_text(*name));
			return;
		}
	import_note(import,
		    "%sjobrun.provider sets where it runs; by default on this "
		    "machine",
		    provider ? ""
			     : "AI Platform Training was shut down in 2025; ");
}

static int import_kms(struct import *import, struct error *err)
{
	const char *project = import->kms_project;
	char *name;

	if (!import->kms_key)
		return import->kms_keyring || import->kms_location || project
			       ? error_set(err, ERROR_USAGE,
					   "'--kms-key' is missing")
			       : 0;
	if (strchr(import->kms_key, '/')) {
		name = mem_strdup(import->kms_key);
	} else {
		if (!project)
			project = json_string_value(
				import_get(import->job, "jobrun.project"));
		if (!project || !import->kms_keyring || !import->kms_location)
			return error_set(err, ERROR_USAGE,
					 "--kms-key: give its full name, or "
					 "also --kms-keyring, --kms-location "
					 "and --kms-project");
		name = mem_printf("projects/%s/locations/%s/keyRings/%s/"
				  "cryptoKeys/%s",
				  project, import->kms_location,
				  import->kms_keyring, import->kms_key);
	}
	import_set(import->job, "trainingInput.encryptionConfig.kmsKeyName",
		   json_text(name));
	free(name);
	return 0;
}

static int finish(struct import *import, struct buf *out, struct error *err)
{
	const struct import_command *command = import->command;
	json_t *typed;
	int ret;

	if (command->name_word && !import->name)
		return error_set(err, ERROR_USAGE, "'gcloud %s' needs %s",
				 command->words, command->name_word);
	if (json_array_size(import->user_args) && !command->user_args)
		return error_set(err, ERROR_USAGE,
				 "'gcloud %s' takes nothing after --: the "
				 "program's arguments are in --args",
				 command->words);
	if (import_kms(import, err) < 0 || command->finish(import, err) < 0)
		return -1;
	set_provider(import);
	typed = import_typed(import->job);
	put_comments(import, out);
	ret = yaml_write(typed, out, err);
	json_decref(typed);
	return ret;
}

int import_gcloud(char *const *words, size_t count,
		  const char *const *provider_names, struct problems *found,
		  struct buf *out, struct error *err)
{
	struct import import = {
		.job = json_object(),
		.pools = json_array(),
		.notes = json_array(),
		.user_args = json_array(),
		.provider_names = provider_names,
		.found = found,
	};
	int ret = take_words(&import, words, count, err);

	if (ret == 0 && finish(&import, out, err) < 0)
		ret = -1;
	if (ret == 0)
		ret = (int)import.lost;
	json_decref(import.job);
	json_decref(import.config);
	json_decref(import.pools);
	json_decref(import.notes);
	json_decref(import.user_args);
	return ret;
}

int import_config(struct import *import, const char *value, struct error *err)
{
	json_decref(import->config);
	import->config = import_read(value, import->found, err);
	return import->config ? 0 : -1;
}

int import_kms_key(struct import *import, const char *value, struct error *err)
{
	(void)err;
	import->kms_key = value;
	return 0;
}

int import_kms_keyring(struct import *import, const char *value,
		       struct error *err)
{
	(void)err;
	import->kms_keyring = value;
	return 0;
}

int import_kms_location(struct import *import, const char *value,
			struct error *err)
{
	(void)err;
	import->kms_location = value;
	return 0;
}

int import_kms_project(struct import *import, const char *value,
		       struct error *err)
{
	(void)err;
	import->kms_project = value;
	return 0;
}
