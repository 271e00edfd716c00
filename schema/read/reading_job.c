/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a job from its document. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/job/check.h"
#include "core/job/origin.h"
#include "core/job/traits.h"
#include "schema/read/fill.h"
#include "core/base/nearest.h"
#include "schema/tables/tables.h"
#include "schema/yaml/node.h"
#include "schema/read/reach.h"
#include "schema/read/reading.h"
#include "schema/rules/hints.h"
#include "schema/rules/rules.h"
#include "schema/yaml/scalar.h"

/* Makes a valid jobId similar to the text. */
static void make_job_id(const char *text, size_t len, char out[JOB_ID_MAX + 1])
{
	size_t n = 0, i;

	if (!len || !strchr("abcdefghijklmnopqrstuvwxyz"
			    "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
			    text[0])) {
		memcpy(out, "job_", 4);
		n = 4;
	}
	for (i = 0; i < len && n < JOB_ID_MAX; i++) {
		unsigned char c = (unsigned char)text[i];

		if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
		    (c >= 'A' && c <= 'Z'))
			out[n++] = (char)c;
		else if (c < 0x80 || c >= 0xc0) /* once a code point */
			out[n++] = '_';
	}
	out[n] = '\0';
}

/* "10 Gb" as "10GB", or as "10G" where that is how the field has it. */
static bool mend_size(const struct field *field, const char *text,
		      char out[SHORT_SIZE])
{
	static const char *const ends[] = { "B", "", "iB", "i" };
	char letter, rest[4] = "";
	struct error ignored;
	unsigned count;
	int end = 0;
	size_t i;

	if (sscanf(text, "%9u %c%n%3[A-Za-z]%n", &count, &letter, &end, rest,
		   &end) < 2 ||
	    text[end] || !strchr("kKmMgGtT", letter) ||
	    (*rest && strcasecmp(rest, "b") && strcasecmp(rest, "i") &&
	     strcasecmp(rest, "ib")))
		return false;
	letter = (char)(strchr("kK", letter) ? 'k' : letter & ~0x20);
	for (i = tolower(*rest) == 'i' ? 2 : 0; i < COUNT(ends); i++) {
		snprintf(out, SHORT_SIZE, "%u%c%s", count,
			 *ends[i] == 'i' && letter == 'k' ? 'K' : letter,
			 ends[i]);
		/* A field that takes any word is for no size. */
		if (field->check(out, &ignored) == 0)
			return field->check("x", &ignored) < 0;
	}
	return false;
}

static bool mend(const struct field *field, const char *text,
		 char out[SHORT_SIZE])
{
	char id[JOB_ID_MAX + 1];

	if (mend_size(field, text, out))
		return true;
	if (field->check != check_job_id)
		return false;
	make_job_id(text, strlen(text), id);
	text_short(id, out);
	/* A shortened name would be meaningless. */
	return strlen(text) < JOB_ID_MAX;
}

static const struct schema_provider *
find_provider(const struct schema_options *options, const char *name)
{
	size_t i;

	for (i = 0; i < options->provider_count; i++)
		if (!strcmp(options->providers[i].name, name))
			return &options->providers[i];
	return NULL;
}

/* Takes keys that are in no table: blocks of providers, and keys for
 * anchors. */
static bool other_key(struct fill *fill, const struct message *message,
		      const struct node *key, const struct node *value,
		      const struct path *path, void *data)
{
	struct jobrun_block *jobrun = data;
	struct job_block *block = NULL;
	size_t i;

	if (message == &message_job)
		return text_starts(key->text, "x-");
	if (message != &message_jobrun)
		return false;
	for (i = 0; i < jobrun->block_count; i++)
		if (!strcmp(jobrun->blocks[i].name, key->text))
			block = &jobrun->blocks[i];
	if (!block)
		return false;
	if (value->kind == NODE_MAP) {
		fill_message(fill, block->message, value, path, block->data);
		return true;
	}
	if (value->kind != NODE_BAD && !scalar_is_null(value))
		problem_add(fill->found, SEVERITY_ERROR, value, path, "type",
			    "\"%s\" must be a map of keys", key->text);
	return true;
}

static const char *const *other_names(const struct fill *fill,
				      const struct message *message)
{
	const struct reading *reading = fill->arg;

	return message == &message_jobrun ? reading->block_names : NULL;
}

/* Makes the blocks of all providers that have one, with their defaults. */
static void make_blocks(struct fill *fill, const struct schema_options *options,
			struct job *job)
{
	struct job_block *blocks = arena_alloc(
		job->mem, (options->provider_count + 1) * sizeof(*blocks));
	size_t i;

	for (i = 0; i < options->provider_count; i++) {
		const struct message *message = options->providers[i].block;
		struct job_block *block = &blocks[job->jobrun.block_count];

		if (!message)
			continue;
		block->name = options->providers[i].name;
		block->message = message;
		block->data = arena_alloc(job->mem, message->size);
		fill_message(fill, message, NULL, NULL, block->data);
		job->jobrun.block_count++;
	}
	job->jobrun.blocks = blocks;
}

static void add_unknown_provider(struct reading *reading, const struct job *job)
{
	struct path block = { .name = "jobrun" };
	struct path path = { .up = &block, .name = "provider" };
	const struct node *at = node_get(job->jobrun.head.node, "provider");
	const char *const *names = reading->provider_names;
	struct buf list = { 0 };
	char shown[SHORT_SIZE];
	const char *near;
	size_t n;

	for (n = 0; names[n]; n++)
		buf_printf(&list, "%s%s", n ? ", " : "", names[n]);
	near = hint_value("jobrun.provider", job->jobrun.provider);
	near = near ? near : nearest_name(job->jobrun.provider, names, n);
	problem_add(&reading->found, SEVERITY_ERROR, at, &path, "enum",
		    "\"provider\" \"%s\" is not one of %s",
		    text_short(job->jobrun.provider, shown), buf_text(&list));
	if (near)
		problem_hint(&reading->found, "did you mean %s?", near);
	buf_done(&list);
}

static void set_provider(struct reading *reading, struct job *job)
{
	const struct schema_options *options = reading->options;

	if (!job->jobrun.provider)
		job->jobrun.provider = options->provider_count
					       ? options->providers[0].name
					       : "";
	else if (options->provider_count &&
		 !find_provider(options, job->jobrun.provider))
		add_unknown_provider(reading, job);
	if (options->provider)
		job->jobrun.provider =
			arena_strdup(job->mem, options->provider);
}

/* Notes blocks of other providers: a file may have them, but runs in one
 * place. */
static void note_unused_blocks(struct reading *reading, const struct job *job)
{
	const struct path block = { .name = "jobrun" };
	size_t i;

	if (!find_provider(reading->options, job->jobrun.provider))
		return;
	for (i = 0; i < job->jobrun.block_count; i++) {
		const char *name = job->jobrun.blocks[i].name;
		const struct path path = { .up = &block, .name = name };
		const struct item *item =
			job->jobrun.head.node
				? node_item(job->jobrun.head.node, name)
				: NULL;

		if (!item || scalar_is_null(item->value) ||
		    !strcmp(name, job->jobrun.provider))
			continue;
		problem_add(&reading->found, SEVERITY_NOTE, item->key, &path,
			    "unused-block",
			    "\"%s\" has no effect with provider %s", name,
			    job->jobrun.provider);
	}
}

/* Makes a name from the folder and the file, as many projects have a
 * config.yaml.  A job that an older version named by the file alone keeps that
 * name. */
static void make_name(const struct reading *reading, const struct job *job,
		      char id[JOB_ID_MAX + 1])
{
	const struct schema_options *options = reading->options;
	const char *base = path_base(reading->path);
	const char *end = strrchr(base, '.');
	int len = end && end > base ? (int)(end - base) : (int)strlen(base);
	char *folder, *both;

	make_job_id(base, (size_t)len, id);
	if (reading->loose ||
	    (options->is_known && options->is_known(options->arg, job, id)))
		return;
	folder = origin_folder_name(job->folder);
	both = mem_printf("%s%s%.*s", folder, *folder ? "_" : "", len, base);
	make_job_id(both, strlen(both), id);
	free(both);
	free(folder);
}

static void set_job_id(struct reading *reading, struct job *job)
{
	char id[JOB_ID_MAX + 1];

	if (job->job_id)
		return;
	if (reading->options->job_id)
		text_short(reading->options->job_id, id);
	else if (!strcmp(reading->path, "-"))
		memcpy(id, "job", 4);
	else
		make_name(reading, job, id);
	job->job_id = arena_strdup(job->mem, id);
}

static const char *folder_of(const struct job *job)
{
	const char *slash = strrchr(job->file, '/');

	if (!slash)
		return ".";
	return arena_strndup(job->mem, job->file,
			     slash == job->file ? 1
						: (size_t)(slash - job->file));
}

static void add_job(struct reading *reading, struct job *job)
{
	size_t n = reading->job_count;

	if (!(n & (n - 1))) /* 0 or a power of two */
		reading->jobs = mem_grow(reading->jobs, n ? n * 2 : 1,
					 sizeof(*reading->jobs));
	reading->jobs[n] = job;
	reading->job_count++;
}

/* Checks the rules, with the traits of the provider only if the file or an
 * option names it. */
static void check_rules(struct reading *reading, const struct job *job)
{
	const struct schema_options *options = reading->options;
	const struct schema_provider *provider =
		find_provider(options, job->jobrun.provider);
	unsigned traits = provider ? provider->traits : 0;
	bool asked = options->provider ||
		     message_has(&message_jobrun, &job->jobrun, "provider");

	rules_check(job, asked ? &traits : NULL, &reading->found);
	if (asked && provider && options->check_only &&
	    !(traits & TRAIT_AI_PLATFORM_RULES))
		rules_note_elsewhere(job, options->each_note, &reading->found);
}

static bool runs_here(const struct reading *reading, const struct job *job)
{
	const struct schema_provider *provider =
		find_provider(reading->options, job->jobrun.provider);

	return provider && provider->traits & TRAIT_THIS_MACHINE &&
	       !job->jobrun.hosts.count;
}

void reading_add_job(struct reading *reading, struct document *doc)
{
	struct job *job = arena_alloc(doc->mem, sizeof(*job));
	struct fill fill = {
		.mem = doc->mem,
		.found = &reading->found,
		.root = &message_job,
		.other_key = other_key,
		.other_names = other_names,
		.mend = mend,
		.origin = doc->origin,
		.arg = reading,
	};

	job->mem = doc->mem;
	job->message = &message_job;
	job->training_message = &message_training_input;
	job->file = doc->origin->name;
	job->folder = folder_of(job);
	make_blocks(&fill, reading->options, job);
	fill_message(&fill, &message_job, doc->root, NULL, job);
	set_provider(reading, job);
	set_job_id(reading, job);
	note_unused_blocks(reading, job);
	check_rules(reading, job);
	reach_check(reading, job, runs_here(reading, job));
	if (reading->found.errors != reading->errors)
		arena_free(doc->mem);
	else
		add_job(reading, job);
}
