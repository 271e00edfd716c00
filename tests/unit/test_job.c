/* SPDX-License-Identifier: Apache-2.0 */
#include "core/job/job.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"

/* A few rows of the real tables, enough to show what the digest contains. */
static const struct field jobrun_fields[] = {
	{ .name = "source",
	  .type = FIELD_STRING,
	  .flags = FIELD_POSITION,
	  .offset = offsetof(struct jobrun_block, source) },
	{ .name = "command",
	  .type = FIELD_STRINGS,
	  .offset = offsetof(struct jobrun_block, command) },
	{ .name = "graceSeconds",
	  .type = FIELD_DURATION,
	  .fallback = "10s",
	  .fallback_1 = "10s",
	  .offset = offsetof(struct jobrun_block, grace_s) },
	{ .name = "provider",
	  .type = FIELD_STRING,
	  .fallback = "local",
	  .fallback_1 = "local",
	  .offset = offsetof(struct jobrun_block, provider) },
	{ .name = NULL },
};

static const struct message jobrun_message = {
	.name = "Jobrun",
	.size = sizeof(struct jobrun_block),
	.fields = jobrun_fields,
};

static const struct field job_fields[] = {
	{ .name = "jobId",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct job, job_id) },
	{ .name = "etag",
	  .type = FIELD_STRING,
	  .flags = FIELD_OUTPUT,
	  .offset = offsetof(struct job, etag) },
	{ .name = "packageUris",
	  .type = FIELD_STRINGS,
	  .offset = offsetof(struct job, training_input.package_uris) },
	{ .name = "jobrun",
	  .type = FIELD_MESSAGE,
	  .message = &jobrun_message,
	  .offset = offsetof(struct job, jobrun) },
	{ .name = NULL },
};

static const struct message job_message = {
	.name = "Job",
	.size = sizeof(struct job),
	.fields = job_fields,
};

#define ALL_SET UINT64_C(15)

struct place {
	char folder[64];
};

static int set_up(void **state)
{
	struct place *at = mem_alloc(sizeof(*at));

	strcpy(at->folder, "/tmp/jobrun-job-XXXXXX");
	if (!mkdtemp(at->folder))
		return -1;
	*state = at;
	return 0;
}

static int tear_down(void **state)
{
	struct place *at = *state;
	struct error err;
	int ret = folder_remove(at->folder, &err);

	free(at);
	return ret;
}

static struct job *new_job(const char *folder)
{
	struct arena *mem = arena_new();
	struct job *job = arena_alloc(mem, sizeof(*job));

	job->mem = mem;
	job->folder = arena_strdup(mem, folder);
	job->message = &job_message;
	job->head.set = ALL_SET;
	job->jobrun.head.set = 3; /* not graceSeconds */
	job->job_id = "resnet";
	job->jobrun.grace_s = 10;
	job->jobrun.provider = "local";
	return job;
}

static void set_strings(struct job *job, struct strings *list, const char *item)
{
	list->count = 1;
	list->items = arena_alloc(job->mem, sizeof(*list->items));
	list->items[0] = item;
}

static void put(struct place *at, const char *name, const char *text)
{
	char *path = path_join(at->folder, name);
	char *folder = path_folder(path);
	struct error err = { 0 };

	assert_int_equal(folder_make(folder, &err), 0);
	assert_int_equal(file_write(path, text, strlen(text), &err), 0);
	free(folder);
	free(path);
}

struct digests {
	struct digest one, two;
};

static struct digests digest_of(struct job *job)
{
	struct error err = { 0 };

	job_digest(job, &err);
	assert_string_equal(err.text, "");
	assert_int_equal(strlen(job->digest.hex), 64);
	assert_int_equal(strlen(job->digest2.hex), 64);
	assert_string_not_equal(job->digest.hex, job->digest2.hex);
	return (struct digests){ job->digest, job->digest2 };
}

/* Checks the digests, and frees the job. */
static void assert_digest(struct job *job, bool same, const struct digests *as)
{
	struct digests digests = digest_of(job);

	assert_int_equal(!strcmp(digests.one.hex, as->one.hex), same);
	assert_int_equal(!strcmp(digests.two.hex, as->two.hex), same);
	job_free(job);
}

static void paths_start_at_the_file(void **state)
{
	static const struct {
		const char *folder, *name, *want;
	} cases[] = {
		{ "jobs", "src", "jobs/src" },
		{ "jobs/", "src", "jobs/src" },
		{ "/jobs", "../src", "/jobs/../src" },
		{ "jobs", "/src", "/src" },
		{ ".", "src", "src" },
		{ "", "src", "src" },
		{ "/", "src", "/src" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct job *job = new_job(cases[i].folder);

		assert_string_equal(job_path(job, cases[i].name),
				    cases[i].want);
		job_free(job);
	}
	job_free(NULL);
}

static void the_master_has_a_name(void **state)
{
	static const struct {
		const char *image, *version;
		bool use_chief;
		const char *want;
	} cases[] = {
		{ NULL, NULL, false, "master" },
		{ NULL, NULL, true, "master" }, /* custom containers only */
		{ NULL, "1.15", false, "master" },
		{ NULL, "2.0", false, "master" },
		{ NULL, "2.1", false, "chief" },
		{ NULL, "2.2", false, "chief" },
		{ NULL, "2.11", false, "chief" },
		{ NULL, "2.10", true, "chief" },
		{ NULL, "3.0", false, "chief" },
		{ NULL, "2", false, "master" },
		{ NULL, "latest", false, "master" },
		{ NULL, "", false, "master" },
		{ "gcr.io/p/i", NULL, false, "master" },
		{ "gcr.io/p/i", "2.2", false, "master" },
		{ "gcr.io/p/i", NULL, true, "chief" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct job *job = new_job(".");

		job->training_input.master_config.image_uri = cases[i].image;
		job->training_input.runtime_version = cases[i].version;
		job->training_input.use_chief_in_tf_config = cases[i].use_chief;
		assert_string_equal(job_master_name(job), cases[i].want);
		job_free(job);
	}
}

static void a_tpu_is_seen(void **state)
{
	static const struct {
		enum scale_tier tier;
		const char *worker, *accelerator;
		bool want;
	} cases[] = {
		{ SCALE_TIER_BASIC, NULL, NULL, false },
		{ SCALE_TIER_BASIC_GPU, NULL, NULL, false },
		{ SCALE_TIER_BASIC_TPU, NULL, NULL, true },
		{ SCALE_TIER_CUSTOM, "cloud_tpu", NULL, true },
		{ SCALE_TIER_CUSTOM, "cloud_tpu", "TPU_V3", true },
		{ SCALE_TIER_CUSTOM, NULL, "TPU_V2", true },
		{ SCALE_TIER_CUSTOM, "n1-standard-4", "NVIDIA_TESLA_T4",
		  false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct job *job = new_job(".");

		job->training_input.scale_tier = (int)cases[i].tier;
		job->training_input.worker_type = cases[i].worker;
		job->training_input.worker_config.accelerator_config.type =
			cases[i].accelerator;
		assert_int_equal(job_uses_tpu(job), cases[i].want);
		job_free(job);
	}
}

static void blocks_may_be_missing(void **state)
{
	struct job *job = new_job(".");
	struct job_block blocks[] = { { .name = "foo", .data = job } };

	(void)state;
	assert_null(job_block(job, "foo"));
	job->jobrun.blocks = blocks;
	job->jobrun.block_count = 1;
	assert_null(job_block(job, "bar"));
	assert_ptr_equal(job_block(job, "foo"), job);
	job_free(job);
}

static void the_digest_is_of_what_the_job_is(void **state)
{
	struct job *job = new_job(".");
	struct digests first = digest_of(job);

	(void)state;
	assert_string_equal(job->source_digest.hex, "");
	job_free(job);
	assert_digest(new_job("/elsewhere"), true, &first);

	job = new_job(".");
	job->job_id = "other";
	assert_digest(job, false, &first);
	job = new_job(".");
	job->etag = "of the service";
	assert_digest(job, true, &first);
	job = new_job(".");
	job->jobrun.head.set |= 4;
	job->jobrun.grace_s = 11;
	assert_digest(job, false, &first);
	job = new_job(".");
	job->jobrun.provider = "other"; /* set by an option */
	assert_digest(job, false, &first);
	/* A default written in the file gives the same job. */
	job = new_job(".");
	job->jobrun.head.set = ALL_SET;
	assert_digest(job, true, &first);
	job = new_job(".");
	set_strings(job, &job->jobrun.command, "true");
	assert_digest(job, false, &first);
}

/* A job with fields that the next release adds. */
struct later_job {
	struct job job;
	long extra;
	struct jobrun_block again;
};

static const struct field later_jobrun_fields[] = {
	{ .name = "source",
	  .type = FIELD_STRING,
	  .flags = FIELD_POSITION,
	  .offset = offsetof(struct jobrun_block, source) },
	{ .name = "command",
	  .type = FIELD_STRINGS,
	  .offset = offsetof(struct jobrun_block, command) },
	{ .name = "graceSeconds",
	  .type = FIELD_DURATION,
	  .fallback = "20s",
	  .fallback_1 = "10s",
	  .offset = offsetof(struct jobrun_block, grace_s) },
	{ .name = "provider",
	  .type = FIELD_STRING,
	  .fallback = "local",
	  .fallback_1 = "local",
	  .offset = offsetof(struct jobrun_block, provider) },
	{ .name = NULL },
};

static const struct message later_jobrun = {
	.name = "Jobrun",
	.size = sizeof(struct jobrun_block),
	.fields = later_jobrun_fields,
};

static struct job *later_job(const struct message *message)
{
	struct arena *mem = arena_new();
	struct later_job *later = arena_alloc(mem, sizeof(*later));
	struct job *job = new_job(".");

	later->job = *job;
	job_free(job);
	later->job.mem = mem;
	later->job.folder = ".";
	later->job.message = message;
	later->extra = 7;
	return &later->job;
}

static void a_new_field_changes_no_digest(void **state)
{
	struct field fields[COUNT(job_fields) + 2] = { { .name = NULL } };
	const struct message message = { .name = "Job",
					 .size = sizeof(struct later_job),
					 .fields = fields };
	struct job *job = new_job(".");
	struct digests first = digest_of(job);

	(void)state;
	job_free(job);
	memcpy(fields, job_fields, sizeof(job_fields));
	fields[4] = (struct field){
		.name = "niceness",
		.type = FIELD_INT,
		.fallback = "7",
		.offset = offsetof(struct later_job, extra),
	};
	/* The rows of this message are older than the field. */
	fields[5] = (struct field){
		.name = "again",
		.type = FIELD_MESSAGE,
		.message = &jobrun_message,
		.fallback_2 = "",
		.offset = offsetof(struct later_job, again),
	};
	assert_digest(later_job(&message), true, &first);

	job = later_job(&message);
	job->head.set |= 16;
	assert_string_equal(digest_of(job).two.hex, first.two.hex);
	job_free(job);
	job = later_job(&message);
	job->head.set |= 16;
	((struct later_job *)job)->extra = 8;
	assert_digest(job, false, &first);

	/* The default of a field may change. */
	fields[4].fallback = "9";
	fields[4].fallback_2 = "7";
	job = later_job(&message);
	((struct later_job *)job)->extra = 9;
	assert_digest(job, true, &first);
	job = later_job(&message);
	job->head.set |= 16;
	assert_string_equal(digest_of(job).two.hex, first.two.hex);
	job_free(job);
}

static void another_default_changes_no_digest(void **state)
{
	struct field fields[COUNT(job_fields)];
	const struct message message = { .name = "Job",
					 .size = sizeof(struct job),
					 .fields = fields };
	struct job *job = new_job(".");
	struct digests first = digest_of(job), said;

	(void)state;
	job_free(job);
	job = new_job(".");
	job->jobrun.head.set |= 4;
	job->jobrun.grace_s = 20;
	said = digest_of(job);
	job_free(job);

	memcpy(fields, job_fields, sizeof(job_fields));
	fields[3].message = &later_jobrun;
	job = later_job(&message);
	job->jobrun.grace_s = 20; /* this is the default now */
	assert_digest(job, true, &first);
	job = later_job(&message);
	job->jobrun.head.set |= 4;
	assert_digest(job, true, &first);
	job = later_job(&message);
	job->jobrun.head.set |= 4;
	job->jobrun.grace_s = 20;
	assert_digest(job, true, &said);
}

static void a_digest_is_compared_in_its_version(void **state)
{
	struct job *job = new_job(".");
	struct digests own = digest_of(job);
	char label[DIGEST_LABEL + 1];

	(void)state;
	assert_true(job_was_run(job, own.one.hex, NULL));
	assert_true(job_was_run(job, own.one.hex, ""));
	assert_true(job_was_run(job, "", own.two.hex));
	assert_true(job_was_run(job, own.two.hex, own.two.hex));
	assert_false(job_was_run(job, own.one.hex, own.one.hex));
	assert_false(job_was_run(job, own.two.hex, NULL));
	assert_false(job_was_run(job, NULL, NULL));
	assert_false(job_was_run(job, own.one.hex, "2"));
	/* Labels have shortened digests. */
	snprintf(label, sizeof(label), "%.63s", own.two.hex);
	assert_true(job_was_run(job, "", label));
	snprintf(label, sizeof(label), "%.63s", own.one.hex);
	assert_true(job_was_run(job, label, ""));
	job_free(job);
}

static void the_digest_is_of_the_source(void **state)
{
	struct place *at = *state;
	struct job *job = new_job(at->folder);
	struct digests without = digest_of(job), first;
	struct error err = { 0 };

	job_free(job);
	put(at, "src/train.py", "1");
	put(at, "src/lib/a.py", "22");
	put(at, "copy/train.py", "1");
	put(at, "copy/lib/a.py", "22");
	job = new_job(at->folder);
	job->jobrun.source = "src";
	first = digest_of(job);
	assert_int_equal(job->source_files, 2);
	assert_int_equal(job->source_bytes, 3);
	assert_int_equal(strlen(job->source_digest.hex), 64);
	job_free(job);
	assert_string_not_equal(first.one.hex, without.one.hex);
	assert_string_not_equal(first.two.hex, without.two.hex);

	/* The place of the source does not count, with this table at least. */
	job = new_job(at->folder);
	job->jobrun.source = "copy";
	assert_digest(job, true, &first);
	put(at, "copy/train.py", "2");
	job = new_job(at->folder);
	job->jobrun.source = "copy";
	assert_digest(job, false, &first);

	job = new_job("/nowhere");
	job->jobrun.source = "src";
	assert_int_equal(job_digest(job, &err), -1);
	assert_string_equal(err.text,
			    "jobrun.source: cannot read '/nowhere/src': No "
			    "such file or directory");
	assert_string_equal(job->digest.hex, "");
	job_free(job);
}

static void the_digest_is_of_local_packages(void **state)
{
	struct place *at = *state;
	struct job *job = new_job(at->folder);
	struct error err = { 0 };
	struct digests first;
	char want[256];

	put(at, "dist/t.tar.gz", "one");
	set_strings(job, &job->training_input.package_uris, "dist/t.tar.gz");
	first = digest_of(job);
	assert_string_equal(digest_of(job).two.hex, first.two.hex);
	put(at, "dist/t.tar.gz", "two");
	assert_string_not_equal(digest_of(job).two.hex, first.two.hex);
	job_free(job);

	/* Packages elsewhere are not read. */
	job = new_job(at->folder);
	set_strings(job, &job->training_input.package_uris,
		    "gs://bucket/t.tar.gz");
	digest_of(job);
	job_free(job);

	job = new_job(at->folder);
	set_strings(job, &job->training_input.package_uris, "gone.whl");
	assert_int_equal(job_digest(job, &err), -1);
	snprintf(want, sizeof(want),
		 "trainingInput.packageUris[0]: cannot open '%s/gone.whl': No "
		 "such file or directory",
		 at->folder);
	assert_string_equal(err.text, want);
	job_free(job);

	job = new_job(at->folder);
	set_strings(job, &job->training_input.package_uris, "dist");
	assert_int_equal(job_digest(job, &err), -1);
	snprintf(want, sizeof(want),
		 "trainingInput.packageUris[0]: '%s/dist' is a directory",
		 at->folder);
	assert_string_equal(err.text, want);
	job_free(job);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(paths_start_at_the_file),
		TEST(the_master_has_a_name),
		TEST(a_tpu_is_seen),
		TEST(blocks_may_be_missing),
		TEST(the_digest_is_of_what_the_job_is),
		TEST(a_new_field_changes_no_digest),
		TEST(another_default_changes_no_digest),
		TEST(a_digest_is_compared_in_its_version),
		TEST(the_digest_is_of_the_source),
		TEST(the_digest_is_of_local_packages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
