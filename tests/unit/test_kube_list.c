/* SPDX-License-Identifier: Apache-2.0 */
/* Many runs in a cluster, with its stand-in: found by their labels, and queried
 * together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/provider/listing.h"
#include "providers/kubernetes/kubernetes.h"
#include "providers/kubernetes/run.h"
#include "tests/support/kube_test.h"

/* Lists all objects with an empty store. */
static void list_all(struct kube_command *c, struct listing *out)
{
	const struct kind *const *kind;

	listing_init(out);
	for (kind = provider_kubernetes.kinds; *kind; kind++)
		kube_test_must(c, (*kind)->list(c->ctx, NULL, out, &c->err));
}

static void delete_all(struct kube_command *c, const struct listing *all)
{
	size_t i;

	for (i = 0; i < all->count; i++) {
		struct resource have = { .kind = all->items[i].kind,
					 .name = all->items[i].name,
					 .place = all->items[i].place };

		kube_test_must(c, have.kind->delete (c->ctx, &have, &c->err));
	}
}

static void what_was_made_is_found_without_the_store(void **state)
{
	struct kube_test *f = *state;
	struct resource run = { .kind = &kind_kube_run, .name = "net" };
	struct listing all;
	struct kube_command c;
	size_t i;

	stand_in_tell(&f->server, "state", "{'pods': [{'hold': true}]}");
	kube_test_open(&c, KUBE_TEST_FULL);
	kube_test_must(&c, kube_test_apply(&c, false));
	kube_test_close(&c);
	setenv("JOBRUN_STATE_DIR", stand_in_file(&f->server, "lost"), 1);
	kube_test_open(&c, KUBE_TEST_FULL);
	list_all(&c, &all);
	assert_int_equal(all.count, 3);
	for (i = 0; i < all.count; i++) {
		assert_string_equal(all.items[i].labels.job_id, "net");
		assert_string_equal(all.items[i].labels.digest,
				    c.jobs.items[0]->digest.hex);
	}
	assert_true(all.items[2].live);
	run.place = all.items[2].place;
	/* The run goes on, so it must be cancelled before it is deleted. */
	assert_int_equal(run.kind->delete (c.ctx, &run, &c.err), -1);
	assert_non_null(strstr(c.err.text, "jobrun cancel net"));
	kube_test_must(&c, run.kind->cancel(c.ctx, &run, true, &c.err));
	delete_all(&c, &all);
	listing_done(&all);
	assert_int_equal(kube_test_count(f, "JobSet"), 0);
	assert_int_equal(kube_test_count(f, "Secret"), 0);
	assert_int_equal(kube_test_count(f, "ConfigMap"), 0);
	kube_test_close(&c);
}

/* Records waiting runs of jobs j0, j1 and so on. */
static void remember(struct kube_command *c, int count)
{
	char id[32], *properties;
	int i;

	for (i = 0; i < count; i++) {
		struct run_record run = { .provider = "kubernetes",
					  .digest = "",
					  .exit_code = -1 };

		snprintf(id, sizeof(id), "job%d", i);
		properties = mem_printf("{\"kind\":\"JobSet\",\"name\":\"%s\","
					"\"place\":\"team@\",\"uid\":\"\"}",
					id);
		run.job_id = id;
		run.properties = properties;
		kube_test_must(c, store_run_add(c->env.store, &run, &c->err));
		free(properties);
	}
}

/* Refreshes all runs; returns the number of requests. */
static size_t ask_about_all(struct kube_test *f, struct kube_command *c,
			    size_t *same)
{
	size_t before = stand_in_count(&f->server, "/api"), i;
	struct run_record *runs[50];
	struct run_list all;
	bool fresh[50];

	assert_int_equal(
		store_run_list(c->env.store, false, f->mem, &all, &c->err), 0);
	assert_int_equal(all.count, 50);
	for (i = 0; i < all.count; i++)
		runs[i] = &all.items[i];
	kind_kube_run.refresh(c->ctx, runs, all.count, f->mem, fresh);
	for (i = 0, *same = 0; i < all.count; i++)
		*same += fresh[i];
	return stand_in_count(&f->server, "/api") - before;
}

static void many_are_asked_about_at_once(void **state)
{
	struct kube_test *f = *state;
	struct kube_command c;
	size_t same;

	stand_in_tell(&f->server, "many",
		      "{'count': 50, 'state': 'Suspended'}");
	kube_test_open(&c, KUBE_TEST_JOB);
	remember(&c, 50);
	assert_int_equal(ask_about_all(f, &c, &same), 1);
	assert_int_equal(same, 50);
	kube_test_close(&c);
	/* Without a queue runs wait for nodes. */
	stand_in_tell(&f->server, "many", "{'count': 50, 'state': 'Pending'}");
	stand_in_tell(&f->server, "make",
		      "{'kind': 'Pod', 'metadata': {'name': "
		      "'job7-node-0-1-fghij', 'labels': {'jobrun-job': "
		      "'job7'}}, 'spec': {}, 'status': {'phase': 'Running'}}");
	kube_test_open(&c, KUBE_TEST_JOB);
	assert_int_equal(ask_about_all(f, &c, &same), 2);
	assert_int_equal(same, 49);
	kube_test_close(&c);
	/* Runs that have ended or are gone are looked at. */
	stand_in_tell(&f->server, "make",
		      "{'kind': 'JobSet', 'metadata': {'name': 'job3', "
		      "'labels': {'jobrun-attempt': '1'}}, 'spec': "
		      "{'replicatedJobs': []}, 'status': {'terminalState': "
		      "'Failed'}}");
	kube_test_open(&c, KUBE_TEST_JOB);
	ask_about_all(f, &c, &same);
	assert_int_equal(same, 48);
	kube_test_close(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			what_was_made_is_found_without_the_store,
			kube_test_start, kube_test_stop),
		cmocka_unit_test_setup_teardown(many_are_asked_about_at_once,
						kube_test_start,
						kube_test_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
