/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any lines as a command line of gcloud, and the text after an empty line as
 * the file of its --config: the result is a readable job file or the reason why
 * there is none.
 */
#include <assert.h>
#include <stdint.h>

#include "core/base/alloc.h"
#include "schema/import/import.h"
#include "schema/schema.h"
#include "tests/support/scratch.h"

#define WORDS_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The output of import is YAML, whether or not the job is valid. */
static void read_back(const struct buf *text)
{
	static const struct schema_provider providers[] = {
		{ .name = "local" },
		{ .name = "ai-platform" },
		{ .name = "vertex-ai" },
	};
	const struct schema_options options = {
		.providers = providers,
		.provider_count = COUNT(providers),
	};
	struct problems found = { 0 };
	struct error err;
	struct jobs jobs;

	assert(text->len && text->data[0] == '#');
	if (schema_load_text("a.yaml", text->data, text->len, &options, &jobs,
			     &found, &err) < 0)
		abort();
	assert(jobs.count || problems_errors(&found));
	problems_done(&found);
	jobs_done(&jobs);
}

/* Splits at newlines up to an empty line; returns the text after that, or NULL.
 * Only our file is read. */
static char *split(char *at, char **words, size_t *count)
{
	char *end;

	while (*at && *at != '\n' && *count < WORDS_MAX) {
		end = strchrnul(at, '\n');
		if (strncmp(at, "--con", 5) != 0 &&
		    strncmp(at, "--flags-f", 9) != 0)
			words[(*count)++] = at;
		at = end + (*end != '\0');
		*end = '\0';
	}
	return *at == '\n' ? at + 1 : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "local", "ai-platform",
					     "vertex-ai", NULL };
	static char gcloud[] = "gcloud";
	struct arena *mem = arena_new();
	char *lines = arena_strndup(mem, (const char *)data, size), *file;
	char *words[WORDS_MAX + 2] = { gcloud };
	struct problems found = { 0 };
	struct buf out = { 0 };
	struct error err = { 0 };
	size_t count = 1;

	file = split(lines, words, &count);
	if (file) {
		memmove(words + 2, words + 1, (count++ - 1) * sizeof(*words));
		words[1] = arena_printf(
			mem, "--config=%s",
			scratch_file("config.yaml", file, strlen(file)));
	}
	if (import_gcloud(words, count, names, &found, &out, &err) == 0)
		read_back(&out);
	else
		assert(err.text[0] || problems_errors(&found));
	problems_done(&found);
	buf_done(&out);
	arena_free(mem);
	return 0;
}
