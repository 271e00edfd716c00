/* SPDX-License-Identifier: Apache-2.0 */
/* The claim of an owner to a job. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/supervise/claim.h"
#include "core/supervise/claim_keeper.h"
#include "core/supervise/elsewhere.h"

#define URL "gs://b/s/jobrun-runs/job/owner.json"
#define ENDED "gs://b/s/jobrun-runs/job/ended.json"
#define HOUR_MS (3600 * 1000LL)

/* One object, which has had `version` versions. */
struct bucket {
	char text[2048];
	int version;
	int broken;   /* so many writes fail */
	int replaced; /* so many reads find another version than they saw */
	/* Claimed by another client between the next read and write. */
	const struct claim *faster;
};

static int put(void *arg, const char *url, const char *text,
	       const char *version, struct error *err)
{
	struct bucket *b = arg;
	char now[16] = "";

	assert_string_equal(url, URL);
	if (b->version)
		snprintf(now, sizeof(now), "%d", b->version);
	if (b->broken-- > 0 || strcmp(now, version) != 0)
		return error_set(err, ERROR_FAILED, "another object is there");
	snprintf(b->text, sizeof(b->text), "%s", text);
	b->version++;
	return 0;
}

static int get(void *arg, const char *url, struct arena *mem, const char **text,
	       const char **version, struct error *err)
{
	const struct claim *faster;
	struct bucket *b = arg;
	struct claim other;

	assert_string_equal(url, URL);
	if (b->replaced-- > 0)
		return error_set(err, ERROR_FAILED, "no such version");
	*text = b->version ? arena_strdup(mem, b->text) : NULL;
	*version = b->version ? arena_printf(mem, "%d", b->version) : "";
	faster = b->faster;
	b->faster = NULL;
	if (!faster)
		return 0;
	return claim_take(&(struct claim_objects){ get, put, b }, URL, faster,
			  mem, &other, err);
}

struct at {
	struct bucket bucket;
	struct claim_objects objects;
	struct arena *mem;
	struct error err;
	struct claim found;
	const char *version;
};

static void begin(struct at *at)
{
	*at = (struct at){ .mem = arena_new() };
	at->objects = (struct claim_objects){ get, put, &at->bucket };
}

static struct claim claim_of(const char *owner, long long lease_ms)
{
	struct claim out = { .owner = owner,
			     .since_ms = 5,
			     .until_ms = time_now_ms() + lease_ms };

	out.run = (struct run_status){ .state = RUN_RUNNING, .attempt = 2 };
	run_status_set_digests(&out.run, "d1", "d2");
	run_status_set_origin(&out.run, "dir:/home/me");
	return out;
}

static int take(struct at *at, const struct claim *own)
{
	return claim_take(&at->objects, URL, own, at->mem, &at->found,
			  &at->err);
}

static void assert_owner(struct at *at, const char *owner)
{
	assert_int_equal(claim_read(&at->objects, URL, at->mem, &at->found,
				    &at->version, &at->err),
			 0);
	assert_string_equal(at->found.owner, owner);
}

static void a_live_claim_is_left_alone(void **state)
{
	struct claim a = claim_of("aa me@a", HOUR_MS);
	struct claim b = claim_of("bb me@b", HOUR_MS);
	struct at at;

	(void)state;
	begin(&at);
	assert_int_equal(claim_read(&at.objects, URL, at.mem, &at.found,
				    &at.version, &at.err),
			 1);
	assert_int_equal(take(&at, &a), 0);
	assert_int_equal(take(&at, &b), 1);
	assert_string_equal(at.found.owner, "aa me@a");
	assert_int_equal(at.found.run.state, RUN_RUNNING);
	assert_int_equal(at.found.run.attempt, 2);
	assert_string_equal(at.found.run.digest.hex, "d1");
	assert_string_equal(at.found.run.digest2.hex, "d2");
	assert_string_equal(at.found.run.origin, "dir:/home/me");
	assert_true(claim_is_live(&at.found));
	/* Its owner renews it, whatever else it is called by then. */
	a.owner = "aa me@renamed";
	assert_int_equal(take(&at, &a), 0);
	assert_owner(&at, "aa me@renamed");
	assert_int_equal(at.bucket.version, 2);
	arena_free(at.mem);
}

static void a_silent_owner_or_an_ended_run_holds_nothing(void **state)
{
	struct claim a = claim_of("aa", -1);
	struct claim b = claim_of("bb", HOUR_MS);
	struct at at;

	(void)state;
	begin(&at);
	assert_int_equal(take(&at, &a), 0);
	assert_int_equal(take(&at, &b), 0);
	assert_owner(&at, "bb");
	b.until_ms = 0;
	b.run.state = RUN_FAILED;
	b.run.exit_code = 3;
	assert_int_equal(take(&at, &b), 0);
	assert_owner(&at, "bb");
	assert_false(claim_is_live(&at.found));
	assert_int_equal(at.found.run.exit_code, 3);
	a.until_ms = time_now_ms() + HOUR_MS;
	assert_int_equal(take(&at, &a), 0);
	assert_owner(&at, "aa");
	arena_free(at.mem);
}

static void of_two_at_once_one_succeeds(void **state)
{
	struct claim a = claim_of("aa", HOUR_MS);
	struct claim b = claim_of("bb", HOUR_MS);
	struct claim gone = claim_of("cc", -1);
	struct at at;

	(void)state;
	begin(&at);
	at.bucket.faster = &b;
	assert_int_equal(take(&at, &a), 1);
	assert_owner(&at, "bb");
	arena_free(at.mem);
	/* The same where both find a claim that is over. */
	begin(&at);
	assert_int_equal(take(&at, &gone), 0);
	at.bucket.faster = &b;
	assert_int_equal(take(&at, &a), 1);
	assert_owner(&at, "bb");
	assert_int_equal(at.bucket.version, 2);
	arena_free(at.mem);
}

static void a_write_that_fails_is_said(void **state)
{
	struct claim a = claim_of("aa", HOUR_MS);
	struct at at;

	(void)state;
	begin(&at);
	at.bucket.broken = 9;
	assert_int_equal(take(&at, &a), -1);
	assert_string_equal(at.err.text, "another object is there");
	assert_int_equal(at.bucket.version, 0);
	arena_free(at.mem);
}

static void an_object_that_is_replaced_is_read_again(void **state)
{
	struct claim a = claim_of("aa", HOUR_MS);
	struct at at;

	(void)state;
	begin(&at);
	at.bucket.replaced = 2;
	assert_int_equal(take(&at, &a), 0);
	at.bucket.replaced = 1;
	assert_owner(&at, "aa");
	at.bucket.replaced = 99;
	assert_int_equal(take(&at, &a), -1);
	assert_string_equal(at.err.text, "no such version");
	arena_free(at.mem);
}

static void what_is_no_claim_is_replaced(void **state)
{
	static const char *const texts[] = {
		"",
		"{",
		"[]",
		"{}",
		"{\"owner\": 1}",
		"{\"owner\": \"x\", \"state\": \"DANCING\"}"
	};
	struct claim a = claim_of("aa", HOUR_MS);
	struct at at;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(texts); i++) {
		begin(&at);
		at.bucket.version = 1;
		snprintf(at.bucket.text, sizeof(at.bucket.text), "%s",
			 texts[i]);
		assert_int_equal(claim_read(&at.objects, URL, at.mem, &at.found,
					    &at.version, &at.err),
				 1);
		assert_int_equal(take(&at, &a), 0);
		assert_owner(&at, "aa");
		arena_free(at.mem);
	}
}

static int remove_object(void *arg, const char *url, const char *version,
			 struct error *err)
{
	struct bucket *b = arg;

	if (strcmp(url, URL) != 0)
		return 0;
	if (atoi(version) != b->version)
		return error_set(err, ERROR_FAILED, "another object is there");
	b->version = 0;
	return 0;
}

static void a_claim_taken_meanwhile_is_not_forgotten(void **state)
{
	struct claim ended = claim_of("aa", -1);
	struct claim live = claim_of("bb", HOUR_MS);
	struct supervised as = { .remove_object = remove_object };
	struct at at;

	(void)state;
	begin(&at);
	as.objects = at.objects;
	assert_int_equal(take(&at, &ended), 0);
	at.bucket.faster = &live;
	assert_int_equal(elsewhere_forget(&as, ENDED, at.mem, &at.err), 0);
	assert_owner(&at, "bb");
	/* So is one that was live before. */
	assert_int_equal(elsewhere_forget(&as, ENDED, at.mem, &at.err), 0);
	assert_owner(&at, "bb");
	live.until_ms = 1;
	assert_int_equal(take(&at, &live), 0);
	assert_int_equal(elsewhere_forget(&as, ENDED, at.mem, &at.err), 0);
	assert_int_equal(at.bucket.version, 0);
	arena_free(at.mem);
}

static void owners_are_told_apart_by_their_id(void **state)
{
	(void)state;
	assert_true(claim_is_same_owner("a1 me@x", "a1"));
	assert_false(claim_is_same_owner("a1 me@x", "a12 me@x"));
	assert_false(claim_is_same_owner("a1", NULL));
	assert_false(claim_is_same_owner(NULL, NULL));
}

/* Folders have no versions. */
static int put_in_folder(void *ctx, const char *url, int fd,
			 const struct object_put *how, struct arena *mem,
			 struct object *out, struct error *err)
{
	struct object_put plain = *how;

	plain.version = NULL;
	plain.replace = true;
	return object_scheme_folder.put(ctx, url, fd, &plain, mem, out, err);
}

static struct claim_keeper *keep(const char *url, const char *owner,
				 const struct run_record *run)
{
	static struct object_scheme scheme;
	static const struct object_scheme *const schemes[] = { &scheme, NULL };
	const struct claim_keeper_deps deps = {
		.schemes = schemes, .url = url, .owner = owner, .lease_s = 60
	};
	struct claim_keeper *out;
	struct error err;

	if (!scheme.put) {
		scheme = object_scheme_folder;
		scheme.put = put_in_folder;
	}
	out = claim_keeper_new(&deps, run, &err);
	assert_non_null(out);
	return out;
}

static void a_keeper_knows_that_another_has_the_job(void **state)
{
	struct run_record run = { .job_id = "job",
				  .digest = "d1",
				  .digest2 = "d2",
				  .attempt = 1,
				  .state = RUN_RUNNING };
	char folder[] = "/tmp/jobrun-test-XXXXXX", url[64];
	struct claim_keeper *first, *second;
	struct error err;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(url, sizeof(url), "%s/owner.json", folder);
	first = keep(url, "aa", &run);
	while (access(url, F_OK) < 0)
		usleep(1000);
	second = keep(url, "bb", &run);
	while (!claim_keeper_is_lost(second))
		usleep(1000);
	assert_false(claim_keeper_is_lost(first));
	assert_false(claim_keeper_is_lost(NULL));
	claim_keeper_end(second, NULL);
	claim_keeper_end(first, NULL);
	assert_int_equal(folder_remove(folder, &err), 0);
}

static void it_is_beside_the_ends(void **state)
{
	struct arena *mem = arena_new();

	(void)state;
	assert_string_equal(
		claim_url("gs://b/s/jobrun-runs/job/0123.json", mem), URL);
	assert_null(claim_url(NULL, mem));
	arena_free(mem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_live_claim_is_left_alone),
		cmocka_unit_test(a_silent_owner_or_an_ended_run_holds_nothing),
		cmocka_unit_test(of_two_at_once_one_succeeds),
		cmocka_unit_test(a_write_that_fails_is_said),
		cmocka_unit_test(an_object_that_is_replaced_is_read_again),
		cmocka_unit_test(what_is_no_claim_is_replaced),
		cmocka_unit_test(a_claim_taken_meanwhile_is_not_forgotten),
		cmocka_unit_test(owners_are_told_apart_by_their_id),
		cmocka_unit_test(a_keeper_knows_that_another_has_the_job),
		cmocka_unit_test(it_is_beside_the_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
