/* SPDX-License-Identifier: Apache-2.0 */
/* Which resources nobody needs, judged by their labels alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "core/apply/orphans.h"
#include "core/provider/listing.h"
#include "core/provider/provider.h"

#define NOW 1000000
#define YOUNG 1000

static const struct kind kind_thing = { .name = "thing" };
static const struct kind kind_run = { .name = "run", .flags = KIND_RUN };
static const struct kind *const kinds[] = { &kind_thing, &kind_run, NULL };

enum run_is {
	RUN_NONE,
	RUN_LIVE,
	RUN_OK,
	RUN_BAD,
};

static void what_nobody_needs(void **state)
{
	static const struct {
		enum run_is run;
		int cleanup;
		int64_t age_ms, expires_in_ms; /* 0: never */
		const char *why;
		bool renewed;
		int64_t killed_at_ms; /* 0: nothing was killed */
	} cases[] = {
		{ RUN_LIVE, CLEANUP_ALWAYS, 9999, 0, NULL, false, 0 },
		{ RUN_LIVE, CLEANUP_ALWAYS, 9999, -1, NULL, false, 0 },
		{ RUN_OK, CLEANUP_ALWAYS, 0, 0, "the run of its job has ended",
		  false, 0 },
		{ RUN_BAD, CLEANUP_ALWAYS, 0, 5, "the run of its job has ended",
		  false, 0 },
		{ RUN_OK, CLEANUP_ON_SUCCESS, 0, 0,
		  "the run of its job has ended", false, 0 },
		{ RUN_BAD, CLEANUP_ON_SUCCESS, 0, 0, NULL, false, 0 },
		{ RUN_OK, CLEANUP_NEVER, 0, 0, NULL, false, 0 },
		{ RUN_OK, CLEANUP_NEVER, 0, 5, NULL, false, 0 },
		{ RUN_OK, CLEANUP_NEVER, 0, -1, "it has expired", false, 0 },
		{ RUN_NONE, CLEANUP_ALWAYS, YOUNG - 1, 0, NULL, false, 0 },
		{ RUN_NONE, CLEANUP_ALWAYS, YOUNG, 0,
		  "no run of its job exists", false, 0 },
		{ RUN_NONE, CLEANUP_NEVER, YOUNG, 0, "no run of its job exists",
		  false, 0 },
		{ RUN_NONE, CLEANUP_ALWAYS, 1, -1, "it has expired", false, 0 },
		/* Another machine looks after it, or did. */
		{ RUN_NONE, CLEANUP_ALWAYS, 9999, 5, NULL, true, 0 },
		{ RUN_NONE, CLEANUP_ALWAYS, 9999, -1, "it has expired", true,
		  0 },
		{ RUN_OK, CLEANUP_ALWAYS, 0, 5, "the run of its job has ended",
		  true, 0 },
		/* Its creation began here. */
		{ RUN_NONE, CLEANUP_ALWAYS, 0, 5,
		  "the command that created it was killed before it started a "
		  "run",
		  true, NOW + 1 },
		{ RUN_NONE, CLEANUP_NEVER, 0, 5,
		  "the command that created it was killed before it started a "
		  "run",
		  true, NOW },
		{ RUN_LIVE, CLEANUP_ALWAYS, 0, 5, NULL, true, NOW },
		/* Somebody else created it again much later. */
		{ RUN_NONE, CLEANUP_ALWAYS, 0, 5, NULL, true,
		  NOW - ORPHAN_AFTER_MS - 1 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct listed thing = {
			.kind = &kind_thing,
			.name = "x",
			.labels = { .job_id = "b",
				    .cleanup = cases[i].cleanup,
				    .renewed = cases[i].renewed },
			.create_time_ms = NOW - cases[i].age_ms,
		};
		struct listed run = {
			.kind = &kind_run,
			.name = "b",
			.labels = { .job_id = "b" },
			.live = cases[i].run == RUN_LIVE,
			.succeeded = cases[i].run == RUN_OK,
		};
		struct listed other = run;
		struct intent_record begun[] = {
			{ .job_id = "a", .provider = "p", .time_ms = NOW },
			{ .job_id = "b", .provider = "q", .time_ms = NOW },
			{ .job_id = "b",
			  .provider = "p",
			  .time_ms = cases[i].killed_at_ms },
		};
		const struct intent_list open = {
			.items = begun,
			.count = cases[i].killed_at_ms ? 3 : 2,
		};
		const struct orphan_rules rules = { .now_ms = NOW,
						    .young_ms = YOUNG,
						    .provider = "p",
						    .open = &open };
		struct listing all;
		struct orphans found;

		if (cases[i].expires_in_ms)
			thing.labels.expire_time_ms =
				NOW + cases[i].expires_in_ms;
		listing_init(&all);
		if (cases[i].run != RUN_NONE)
			listing_add(&all, &run);
		other.labels.job_id = "a"; /* the owner does not matter */
		other.live = true;
		listing_add(&all, &other);
		listing_add(&all, &thing);
		listing_sort(&all, kinds);
		orphans_find(&all, &rules, &found);
		assert_int_equal(found.count, cases[i].why ? 1 : 0);
		if (cases[i].why)
			assert_string_equal(found.items[0].why, cases[i].why);
		orphans_done(&found);
		listing_done(&all);
	}
}

/* Two places list the same, and answers come in any order. */
static void a_listing_has_one_order(void **state)
{
	static const struct {
		const struct kind *kind;
		const char *name, *place;
	} said[] = { { &kind_run, "a", NULL },   { &kind_thing, "b", "p" },
		     { &kind_thing, "b", NULL }, { &kind_thing, "a", "q" },
		     { &kind_thing, "b", "p" },  { &kind_run, "a", NULL } };
	struct listing all;
	size_t i;

	(void)state;
	listing_init(&all);
	for (i = 0; i < COUNT(said); i++)
		listing_add(&all,
			    &(struct listed){ .kind = said[i].kind,
					      .name = said[i].name,
					      .place = said[i].place,
					      .labels = { .job_id = "j" } });
	listing_sort(&all, kinds);
	assert_int_equal(all.count, 4);
	assert_string_equal(all.items[0].name, "a");
	assert_null(all.items[1].place);
	assert_string_equal(all.items[2].place, "p");
	assert_ptr_equal(all.items[3].kind, &kind_run);
	listing_done(&all);
}

static void labels_say_when_it_is_of_no_use(void **state)
{
	struct job job = { .job_id = "j", .set = "s" };
	struct labels labels = labels_of(&job, NOW);

	(void)state;
	assert_string_equal(labels.set, "s");
	assert_int_equal(labels.expire_time_ms, 0);
	job.training_input.scheduling.max_running_time_s = 60;
	job.training_input.scheduling.max_wait_time_s = 10;
	labels = labels_of(&job, NOW);
	assert_int_equal(labels.expire_time_ms, NOW + (60 + 10 + 3600) * 1000);
	assert_int_equal(cleanup_parse(cleanup_name(CLEANUP_ON_SUCCESS)),
			 CLEANUP_ON_SUCCESS);
	assert_int_equal(cleanup_parse("x"), CLEANUP_ALWAYS);
	assert_int_equal(cleanup_parse(NULL), CLEANUP_ALWAYS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_nobody_needs),
		cmocka_unit_test(a_listing_has_one_order),
		cmocka_unit_test(labels_say_when_it_is_of_no_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
