/* SPDX-License-Identifier: Apache-2.0 */
/* The digests of real jobs, with the tables of all providers: a field at its
 * default does not change the digest, any other value does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "providers/registry.h"
#include "schema/problem/problem.h"
#include "schema/schema.h"

/* One of each message that can be in a list or a map. */
static const char everything[] =
	"jobId: all\n"
	"trainingInput:\n"
	"  scaleTier: CUSTOM\n"
	"  masterType: n1-standard-4\n"
	"  hyperparameters:\n"
	"    goal: MAXIMIZE\n"
	"    params:\n"
	"    - {parameterName: lr, type: DOUBLE, minValue: 1, maxValue: 2}\n"
	"jobrun:\n"
	"  provider: fake\n"
	"  command: [python3, train.py]\n"
	"  secrets: {TOKEN: {env: TOKEN}}\n"
	"  data: {train: {urls: ['train-{0..3}.tar']}}\n"
	"  restart: {rules: [{action: fail}]}\n";

struct walk {
	struct job *job;
	struct digest digest; /* digest of the unchanged job */
	size_t seen;
	void (*see)(struct walk *walk, const struct message *message,
		    const struct field *field, char *data);
};

static struct digest digest_of(struct job *job)
{
	struct error err = { 0 };

	job_digest(job, &err);
	assert_string_equal(err.text, "");
	return job->digest2;
}

static uint64_t bit_of(const struct message *message, const struct field *field)
{
	return UINT64_C(1) << (field - message->fields);
}

static void walk_message(struct walk *walk, const struct message *message,
			 void *data);

static void walk_field(struct walk *walk, const struct message *message,
		       const struct field *field, char *data)
{
	struct messages *list = (void *)(data + field->offset);
	struct message_head *head = (void *)data;
	size_t i;

	switch (field->type) {
	case FIELD_MESSAGE:
		/* The head is set if any member is. */
		head->set |= bit_of(message, field);
		walk_message(walk, field->message, data + field->offset);
		break;
	case FIELD_MESSAGES:
	case FIELD_NAMED:
		for (i = 0; i < list->count; i++)
			walk_message(walk, field->message,
				     (char *)list->items +
					     i * field->message->size);
		break;
	default:
		break;
	}
	if (field->type != FIELD_MESSAGE)
		walk->see(walk, message, field, data);
}

static void walk_message(struct walk *walk, const struct message *message,
			 void *data)
{
	const struct field *field;

	for (field = message->fields; field->name; field++)
		if (!(field->flags & FIELD_OUTPUT) &&
		    !(field->message && field->flags & FIELD_POSITION))
			walk_field(walk, message, field, data);
}

static void walk_job(struct walk *walk)
{
	struct job *job = walk->job;
	size_t i;

	walk_message(walk, job->message, job);
	for (i = 0; i < job->jobrun.block_count; i++)
		walk_message(walk, job->jobrun.blocks[i].message,
			     job->jobrun.blocks[i].data);
}

static void load(const char *const *paths, size_t count, const char *text,
		 struct jobs *out)
{
	struct schema_provider known[16];
	struct schema_options options = { .providers = known };
	struct problems found = { 0 };
	struct error err = { 0 };
	int ret;

	for (; providers[options.provider_count]; options.provider_count++) {
		assert_true(options.provider_count < COUNT(known));
		known[options.provider_count] = (struct schema_provider){
			.name = providers[options.provider_count]->name,
			.block = providers[options.provider_count]->block,
		};
	}
	ret = text ? schema_load_text("job.yaml", text, strlen(text), &options,
				      out, &found, &err)
		   : schema_load((char *const *)paths, count, &options, out,
				 &found, &err);
	assert_int_equal(ret, 0);
	problems_done(&found);
}

/* ---- what is said ------------------------------------------------------ */

/* Sets another value than the present one.  A source must be a readable
 * directory, while a package need not exist. */
static void change(const struct field *field, void *member)
{
	static const char *text = "tests/cli/upgrade";
	static const char *uris[] = { "gs://b/p" };
	static struct pair pair = { "other", "value" };
	static double number = 0.25;
	static char item[4096];
	struct messages *list = member;

	switch (field->type) {
	case FIELD_STRING:
		*(const char **)member =
			field->flags & FIELD_JSON ? "{\"key\":1}" : text;
		break;
	case FIELD_INT:
	case FIELD_DURATION:
		++*(long *)member;
		break;
	case FIELD_DOUBLE:
		*(double *)member += 0.25;
		break;
	case FIELD_BOOL:
		*(bool *)member = !*(bool *)member;
		break;
	case FIELD_ENUM:
		++*(int *)member;
		if (!field->values[*(int *)member])
			*(int *)member = 0;
		break;
	case FIELD_STRINGS:
		*(struct strings *)member = (struct strings){ 1, uris };
		break;
	case FIELD_DOUBLES:
		*(struct doubles *)member = (struct doubles){ 1, &number };
		break;
	case FIELD_TREE:
		*(const char **)member = "{\"key\":1}";
		break;
	case FIELD_PAIRS:
		*(struct pairs *)member = (struct pairs){ 1, &pair };
		break;
	default:
		assert_true(field->message->size < sizeof(item));
		memcpy(item + sizeof(struct message_head), &text, sizeof(text));
		*list = (struct messages){ list->count != 1, item };
		break;
	}
}

static void see_change(struct walk *walk, const struct message *message,
		       const struct field *field, char *data)
{
	char *before = mem_alloc(message->size);
	bool same;

	memcpy(before, data, message->size);
	change(field, data + field->offset);
	((struct message_head *)(void *)data)->set |= bit_of(message, field);
	same = !strcmp(digest_of(walk->job).hex, walk->digest.hex);
	memcpy(data, before, message->size);
	free(before);
	if (same != !!(field->flags & FIELD_POSITION))
		fail_msg("%s.%s", message->name, field->name);
	walk->seen++;
}

static void what_a_file_says_counts(void **state)
{
	struct walk walk = { .see = see_change };
	struct jobs jobs;

	(void)state;
	load(NULL, 0, everything, &jobs);
	assert_int_equal(jobs.count, 1);
	walk.job = jobs.items[0];
	walk.digest = digest_of(walk.job);
	walk_job(&walk);
	assert_true(walk.seen > 200);
	assert_string_equal(digest_of(walk.job).hex, walk.digest.hex);
	jobs_done(&jobs);
}

/* ---- what goes without saying ------------------------------------------ */

static void see_default(struct walk *walk, const struct message *message,
			const struct field *field, char *data)
{
	struct message_head *head = (void *)data;

	if (!field->fallback || head->set & bit_of(message, field))
		return;
	head->set |= bit_of(message, field);
	walk->seen++;
}

static void a_default_can_be_said(void **state)
{
	static const char *const patterns[] = {
		"examples/*/*.yaml",
		"tests/cli/validate/valid/*.yaml",
		"tests/cli/upgrade/*.yaml",
	};
	struct walk walk = { .see = see_default };
	glob_t files = { 0 };
	struct jobs jobs;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(patterns); i++)
		glob(patterns[i], i ? GLOB_APPEND : 0, NULL, &files);
	load((const char *const *)files.gl_pathv, files.gl_pathc, NULL, &jobs);
	assert_true(jobs.count > 50);
	for (i = 0; i < jobs.count; i++) {
		walk.job = jobs.items[i];
		walk.job->jobrun.source = NULL; /* files are tested elsewhere */
		walk.job->training_input.package_uris.count = 0;
		walk.digest = digest_of(walk.job);
		walk_job(&walk);
		assert_string_equal(digest_of(walk.job).hex, walk.digest.hex);
	}
	assert_true(walk.seen > 30 * jobs.count);
	jobs_done(&jobs);
	globfree(&files);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_file_says_counts),
		cmocka_unit_test(a_default_can_be_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
