/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/read/likeness.h"

#include <ctype.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/nearest.h"
#include "core/job/message.h"
#include "schema/tables/tables.h"
#include "schema/yaml/node.h"
#include "schema/yaml/source_text.h"

#define KEY_MAX 64
/* The number of letters to change, add or drop in a misspelt trainingInput.
 * "training" alone, a key of many configurations, differs more. */
#define SLIPS_MAX 3

/* The keys at the top level of one document. */
struct keys {
	unsigned ours;    /* jobId, jobrun, trainingInput or similar */
	unsigned fields;  /* fields that belong under trainingInput */
	unsigned foreign; /* keys that begin other programs' files */
};

/* Keys of Vertex AI, Kubernetes, Compose, Cloud Build, App Engine, workflows,
 * and others that also have a network, a region or args. */
static const char *const foreign_keys[] = {
	"apiVersion", "workerPoolSpecs", "trialJobSpec", "jobSpec",
	"services",   "steps",           "runtime",      "resources",
	"stages",     "tasks",           "swagger",      "openapi",
};

/* Compares without regard to case, dashes and underscores. */
static bool is_near_training(const char *key)
{
	char plain[KEY_MAX];
	size_t n = 0;

	for (; *key && n + 1 < sizeof(plain); key++)
		if (*key != '-' && *key != '_')
			plain[n++] = (char)tolower((unsigned char)*key);
	plain[n] = '\0';
	return text_distance(plain, "traininginput", SLIPS_MAX) <= SLIPS_MAX;
}

static void count_key(struct keys *keys, const char *key)
{
	size_t i;

	if (!strcmp(key, "jobId") || !strcmp(key, "job_id") ||
	    !strcmp(key, "jobrun") || is_near_training(key))
		keys->ours++;
	else if (message_field(&message_training_input, key))
		keys->fields++;
	for (i = 0; i < COUNT(foreign_keys); i++)
		if (!strcmp(key, foreign_keys[i]))
			keys->foreign++;
}

static bool are_of_a_job(const struct keys *keys)
{
	return keys->ours || (keys->fields > 1 && !keys->foreign);
}

bool likeness_of_document(const struct node *root)
{
	struct keys keys = { 0 };
	const struct item *item;

	for (item = root->items; item; item = item->next)
		if (item->key->text)
			count_key(&keys, item->key->text);
	return are_of_a_job(&keys);
}

/* Reads the key that a line begins with, quoted or not; returns false if the
 * line begins with something else. */
static bool key_of(const char *line, size_t len, char out[KEY_MAX])
{
	size_t from = len && (line[0] == '"' || line[0] == '\'');
	size_t n = from;

	while (n < len && (isalnum((unsigned char)line[n]) || line[n] == '_' ||
			   line[n] == '-'))
		n++;
	if (n == from || n - from >= KEY_MAX)
		return false;
	memcpy(out, line + from, n - from);
	out[n - from] = '\0';
	if (from && (n == len || line[n++] != line[0]))
		return false;
	while (n < len && line[n] == ' ')
		n++;
	return n < len && line[n] == ':' &&
	       (n + 1 == len || isspace((unsigned char)line[n + 1]));
}

static bool mentions(const struct source *source, const char *word)
{
	return memmem(source->text, source->len, word, strlen(word)) != NULL;
}

/* Whether the file begins with a map in braces, such as JSON; "{{" and "{%"
 * begin templates. */
static bool begins_in_braces(const struct source *source)
{
	const char *p = source->text, *end = p + source->len;

	while (p < end && isspace((unsigned char)*p))
		p++;
	return end - p > 1 && p[0] == '{' && p[1] != '{' && p[1] != '%';
}

enum likeness likeness_of_text(const struct source *source)
{
	const char *p = source->text, *end = p + source->len, *next;
	bool mentioned = mentions(source, "trainingInput") ||
			 mentions(source, "training_input");
	struct keys keys = { 0 };
	char key[KEY_MAX];

	for (; p < end; p = next) {
		next = memchr(p, '\n', (size_t)(end - p));
		next = next ? next + 1 : end;
		if (key_of(p, (size_t)(next - p), key))
			count_key(&keys, key);
		if (next < end && (size_t)(end - next) > 3 &&
		    memcmp(next, "---", 3) != 0)
			continue;
		if (are_of_a_job(&keys))
			return LIKENESS_JOB;
		keys = (struct keys){ 0 }; /* start the next document */
	}
	if (!mentioned)
		return begins_in_braces(source) && mentions(source, "jobId")
			       ? LIKENESS_POSSIBLE
			       : LIKENESS_NONE;
	return begins_in_braces(source) ? LIKENESS_JOB : LIKENESS_POSSIBLE;
}
