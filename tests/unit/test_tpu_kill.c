/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `kill -9` of the process that creates and deletes the TPUs of a run, before or
 * after each of its requests: another process takes over and ends as if nothing
 * had happened.  The requests are enumerated: each child dies at the next one,
 * until one does not.  Requests that fail, and TPUs that are lost by themselves,
 * are tested, too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/loop.h"
#include "core/supervise/allocation.h"
#include "core/store/store.h"
#include "providers/tpunode/tpunode.h"
#include "providers/tpuvm/tpuvm.h"
#include "schema/catalogue/catalogue_get.h"
#include "tests/support/known.h"
#include "tests/support/sample.h"
#include "tests/support/stand_in.h"

const struct provider *const providers[] = { &provider_tpu_node,
					     &provider_tpu_vm, NULL };

/* The roles of a child. */
enum role {
	MAKES_AND_DELETES = 1,
	DELETES, /* the run is over */
};

struct fixture {
	struct stand_in server;
	const char *kept; /* as in allocation_text() */
	size_t all;       /* number of resources in it */
	const char *zone; /* where they are created */
	struct arena *mem;
};

static int fixture_setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	char url[96];

	stand_in_start(&f->server, 0);
	snprintf(url, sizeof(url), "%s/tpu/", f->server.base);
	setenv("CLOUDSDK_API_ENDPOINT_OVERRIDES_TPU", url, 1);
	snprintf(url, sizeof(url), "%s/compute/", f->server.base);
	setenv("CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE", url, 1);
	setenv("CLOUDSDK_CONFIG", stand_in_file(&f->server, "gcloud"), 1);
	setenv("GOOGLE_APPLICATION_CREDENTIALS",
	       stand_in_file(&f->server, "authorized_user.json"), 1);
	setenv("NO_GCE_CHECK", "true", 1);
	setenv("JOBRUN_STATE_DIR", stand_in_file(&f->server, "state"), 1);
	setenv("HOME", f->server.folder, 1);
	f->mem = arena_new();
	*state = f;
	return 0;
}

static int fixture_teardown(void **state)
{
	struct fixture *f = *state;

	stand_in_stop(&f->server);
	arena_free(f->mem);
	free(f);
	return 0;
}

static size_t made(const struct fixture *f)
{
	json_t *list = stand_in_ask(&f->server, "made");
	size_t count = json_array_size(list);

	json_decref(list);
	return count;
}

/* Whether everything except templates, which are global, is in the zone. */
static bool is_made_in(const struct fixture *f, const char *zone)
{
	json_t *list = stand_in_ask(&f->server, "made"), *one;
	bool out = true;
	size_t i;

	json_array_foreach(list, i, one)
	{
		const char *path = json_string_value(json_array_get(one, 1));

		out = out && (strstr(path, "/global/") || strstr(path, zone));
	}
	json_decref(list);
	return out;
}

/* Makes the resources of a job's run in the form that its supervisor gets. */
static void plan_for(struct fixture *f, const struct provider *provider,
		     const char *zones, const char *more)
{
	const struct schema_provider known[] = {
		known_provider(&provider_tpu_node),
		known_provider(&provider_tpu_vm),
	};
	const struct schema_options options = {
		.providers = known,
		.provider_count = COUNT(known),
	};
	bool is_node = provider == &provider_tpu_node;
	char *text = mem_printf(
		"jobId: pod\ntrainingInput:\n"
		"  workerConfig: {acceleratorConfig: {type: TPU_V3, count: "
		"32}}\njobrun: {provider: %s, project: p-1, zone: "
		"europe-west4-a, command: [a], tpu-node: {runtimeVersion: "
		"pytorch-1.13, zones: [%s]%s}, tpu-vm: {zones: [%s]%s}}\n",
		provider->name, zones, is_node ? more : "", zones,
		is_node ? "" : more);
	const char *path = stand_in_file(&f->server, "job.yaml");
	char *paths[] = { mem_strdup(path) };
	struct problems found = { 0 };
	struct jobs jobs = { 0 };
	struct resources *wanted = resources_new();
	struct provider_env env = { 0 };
	struct error err;

	assert_int_equal(file_write(path, text, strlen(text), &err), 0);
	env.catalogue = catalogue_get(&err);
	if (schema_load(paths, 1, &options, &jobs, &found, &err) < 0)
		fail_msg("%s", err.text);
	strcpy(jobs.items[0]->digest.hex, "0123456789abcdef");
	assert_int_equal(provider->desire(jobs.items[0], &env, wanted, &err),
			 0);
	assert_int_equal(wanted->missing_count, 0);
	/* A place in the queue is there as well as its node. */
	f->all = wanted->count - 1 + !!strstr(more, "queued");
	f->kept = allocation_text(wanted->items[0], provider->name, 30, f->mem);
	assert_non_null(f->kept);
	resources_free(wanted);
	jobs_done(&jobs);
	problems_done(&found);
	free(paths[0]);
	free(text);
}

/* ---- what is killed ------------------------------------------------------ */

static void on_progress(void *arg, const char *text)
{
	(void)arg;
	(void)text;
}

/* Acts like a supervisor before an attempt and after the last. */
static int supervise(const struct fixture *f, enum role role, struct error *err)
{
	struct store *store = store_open(err);
	struct loop *loop = loop_new(err);
	json_t *kept = json_loads(f->kept, 0, NULL), *outputs = NULL;
	const struct allocation_deps deps = { .providers = providers,
					      .store = store,
					      .loop = loop,
					      .progress = on_progress };
	struct allocation *all = allocation_open(kept, &deps, err);
	bool new;
	int ret = all ? 0 : -1;

	if (ret == 0 && role == MAKES_AND_DELETES) {
		ret = allocation_ensure(all, &outputs, &new, err);
		if (ret == 0 &&
		    (json_array_size(json_object_get(outputs, "hosts")) != 4 ||
		     made(f) != f->all))
			ret = error_set(err, ERROR_FAILED,
					"%zu things are made, not %zu", made(f),
					f->all);
		if (ret == 0 && !is_made_in(f, f->zone))
			ret = error_set(err, ERROR_FAILED,
					"not all is made in %s", f->zone);
		json_decref(outputs);
	}
	if (ret == 0)
		ret = allocation_release(all, err);
	allocation_close(all);
	json_decref(kept);
	loop_free(loop);
	store_close(store);
	return ret;
}

/* Returns whether the child ended by itself, with success. */
static bool run_child(const struct fixture *f, enum role role)
{
	struct error err = { 0 };
	char pid[32];
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (!child) {
		snprintf(pid, sizeof(pid), "%d\n", (int)getpid());
		if (file_write(stand_in_file(&f->server, "pid"), pid,
			       strlen(pid), &err) < 0 ||
		    supervise(f, role, &err) < 0) {
			fprintf(stderr, "%s\n", err.text);
			_exit(1);
		}
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		return false;
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		fail_msg("a child ended with status %d", status);
	return true;
}

static void is_settled(const struct fixture *f, int nth)
{
	struct intent_list open = { 0 };
	struct arena *mem = arena_new();
	struct error err;
	struct store *store = store_open(&err);

	assert_int_equal(store_intent_list(store, mem, &open, &err), 0);
	if (made(f) || open.count)
		fail_msg("killed at request %d: %zu things stay, %zu changes "
			 "are not finished",
			 nth, made(f), open.count);
	store_close(store);
	arena_free(mem);
}

/* A process that goes on with the run, and one that only ends it, both find
 * what there is.  To save time `make test` takes every second request, and ends
 * the run there after every third of them.  Returns how many requests there
 * are, or `last`. */
static int any_request_can_be_the_last(struct fixture *f, const char *path,
				       int first, int last)
{
	static const char *const moments[] = { "kill-after", "kill" };
	const enum role roles[] = { MAKES_AND_DELETES, DELETES };
	int step = sample_step(2), nth, i;
	bool ended = false;

	for (nth = first; !ended && nth <= last; nth += step) {
		for (i = 0; i < (step == 1 ? 4 : nth % 3 ? 1 : 2); i++) {
			char *fault = mem_printf(
				"[{'do': '%s', 'path': '%s', 'nth': %d, "
				"'pid-file': '%s'}]",
				moments[step == 1 ? i / 2 : i], path, nth,
				stand_in_file(&f->server, "pid"));

			stand_in_tell(&f->server, "faults", fault);
			ended = run_child(f, MAKES_AND_DELETES);
			stand_in_tell(&f->server, "faults", "[]");
			assert_true(run_child(f, roles[i % 2]));
			is_settled(f, nth);
			free(fault);
		}
	}
	return nth - step;
}

static int count_requests(const struct fixture *f)
{
	json_t *all = stand_in_ask(&f->server, "requests"), *one;
	int count = 0;
	size_t i;

	json_array_foreach(all, i, one)
	{
		const char *path = json_get_text(one, "path", "");

		count += strstr(path, "/tpu/") || strstr(path, "/compute/");
	}
	json_decref(all);
	return count;
}

/* Each request fails once, in each of the ways in which it may: the run ends as
 * if that had not happened.  `make test` takes a sample. */
static void any_request_can_fail(struct fixture *f,
				 const struct provider *provider,
				 const char *more)
{
	static const char *const ways[] = {
		"'do': 'status', 'status': 503",
		"'do': 'status', 'status': 429",
		"'do': 'drop-answer'",
		"'do': 'cut'",
	};
	int step = sample_step(12), before = count_requests(f), count, way, nth;

	stand_in_tell(
		&f->server, "state",
		"{'tpu': {'*': {'hosts': 4}}, 'compute': {'starting': 0}}");
	plan_for(f, provider, "", more);
	f->zone = "europe-west4-a";
	assert_true(run_child(f, MAKES_AND_DELETES));
	count = count_requests(f) - before;
	assert_true(count > 8);
	for (way = 0; way < (int)COUNT(ways); way++)
		for (nth = 1 + (step > 1 ? 3 * way : 0); nth <= count;
		     nth += step) {
			char *fault = mem_printf("[{%s, 'path': "
						 "'^/(tpu|compute)/', 'nth': "
						 "%d}]",
						 ways[way], nth);

			stand_in_tell(&f->server, "faults", fault);
			if (!run_child(f, MAKES_AND_DELETES))
				fail_msg("killed with %s", fault);
			is_settled(f, nth);
			free(fault);
		}
	stand_in_tell(&f->server, "faults", "[]");
}

static void in_one_zone(struct fixture *f, const struct provider *provider,
			const char *more, int at_least)
{
	stand_in_tell(
		&f->server, "state",
		"{'tpu': {'*': {'hosts': 4}}, 'compute': {'starting': 0}}");
	plan_for(f, provider, "", more);
	f->zone = "europe-west4-a";
	assert_true(any_request_can_be_the_last(f, "^/(tpu|compute)/", 1,
						INT_MAX) > at_least);
}

/* The first zone has no capacity, as its operation reports: a process that
 * takes over after a kill only sees the TPU disappear. */
static void in_the_second_zone(struct fixture *f,
			       const struct provider *provider)
{
	stand_in_tell(&f->server, "state",
		      "{'tpu': {'*': {'hosts': 4}, 'europe-west4-a': {'script':"
		      " [{'state': 'CREATING'}], 'create': {'code': 8, "
		      "'message': 'There is no more capacity'}}}, "
		      "'compute': {'starting': 0}}");
	plan_for(f, provider, "us-central1-a", "");
	f->zone = "us-central1-a";
	/* From the request in the first zone to the creation in the second. */
	any_request_can_be_the_last(f, "^/tpu/", 5, 9);
}

/* Images of a VM that runs each time, and is stopped as the file says. */
static void of_images_of_vms(void **state)
{
	struct fixture *f = *state;
	int nth;

	plan_for(f, &provider_tpu_node, "",
		 ", imageFrom: {vm: mine, stop: true}");
	f->zone = "europe-west4-a";
	assert_int_equal(f->all, 4);
	for (nth = 1; nth < 20; nth += sample_step(2)) {
		stand_in_tell(&f->server, "state",
			      "{'tpu': {'*': {'hosts': 4}}, 'compute': "
			      "{'starting': 0, 'vms': {'mine': {'status': "
			      "'RUNNING', 'disk': 'boot'}}}}");
		any_request_can_be_the_last(f, "^/compute/.*(images|/mine)",
					    nth, nth);
	}
}

/* Creates what does not exist, and checks that all is in the zone. */
static void ensure(struct allocation *all, const struct fixture *f)
{
	json_t *outputs;
	struct error err;
	bool new;

	if (allocation_ensure(all, &outputs, &new, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(new);
	assert_int_equal(json_array_size(json_object_get(outputs, "hosts")), 4);
	assert_int_equal(made(f), f->all);
	assert_true(is_made_in(f, f->zone));
	json_decref(outputs);
}

/* The VMs move together with the TPU. */
static void a_lost_tpu_may_come_back_in_another_zone(void **state)
{
	struct fixture *f = *state;
	struct error err;
	struct store *store = store_open(&err);
	struct loop *loop = loop_new(&err);
	const struct allocation_deps deps = { .providers = providers,
					      .store = store,
					      .loop = loop,
					      .progress = on_progress };
	struct allocation *all;
	json_t *kept;

	stand_in_tell(&f->server, "state",
		      "{'tpu': {'*': {'hosts': 4}, 'europe-west4-a': {'create':"
		      " {'code': 8, 'message': 'There is no more capacity'}}}, "
		      "'compute': {'starting': 0}}");
	plan_for(f, &provider_tpu_node, "us-central1-a", "");
	f->zone = "us-central1-a";
	kept = json_loads(f->kept, 0, NULL);
	all = allocation_open(kept, &deps, &err);
	assert_non_null(all);
	ensure(all, f);
	stand_in_tell(&f->server, "state",
		      "{'tpu': {'*': {'hosts': 4}, 'us-central1-a': {'create': "
		      "{'code': 8, 'message': 'There is no more capacity'}}, "
		      "'us-central1-a/pod': {'preempt': true, 'exists': "
		      "false}}, 'compute': {'starting': 0}}");
	f->zone = "europe-west4-a";
	ensure(all, f);
	assert_int_equal(allocation_release(all, &err), 0);
	assert_int_equal(made(f), 0);
	allocation_close(all);
	json_decref(kept);
	loop_free(loop);
	store_close(store);
}

static void of_tpu_nodes(void **state)
{
	in_one_zone(*state, &provider_tpu_node, "", 20);
}

static void of_tpu_nodes_in_zones(void **state)
{
	in_the_second_zone(*state, &provider_tpu_node);
}

static void of_tpu_vms(void **state)
{
	in_one_zone(*state, &provider_tpu_vm, "", 8);
}

static void of_tpu_vms_in_the_queue(void **state)
{
	in_one_zone(*state, &provider_tpu_vm, ", queued: true", 8);
}

/* The paths of the requests that are like `method` and `part`, each once. */
static size_t count_paths(const struct fixture *f, const char *method,
			  const char *part, size_t *requests)
{
	json_t *all = stand_in_ask(&f->server, "requests"), *one;
	json_t *seen = json_object();
	size_t i, count;

	*requests = 0;
	json_array_foreach(all, i, one)
	{
		const char *path = json_get_text(one, "path", "");

		if (strcmp(json_get_text(one, "method", ""), method) != 0 ||
		    !strstr(path, part))
			continue;
		++*requests;
		json_object_set_new(seen, path, json_true());
	}
	count = json_object_size(seen);
	json_decref(seen);
	json_decref(all);
	return count;
}

/* What was sent before the kill, and maybe heard, is sent again as the same
 * request; what the next run sends is another. */
static void who_goes_on_sends_the_same_requests(void **state)
{
	static const struct {
		const struct provider *provider;
		const char *more, *method, *part;
	} cases[] = {
		{ &provider_tpu_node, "", "POST", "/instanceTemplates?" },
		{ &provider_tpu_node, "", "POST", "/instanceGroupManagers?" },
		{ &provider_tpu_node, "", "DELETE", "/instanceTemplates/" },
		{ &provider_tpu_vm, ", queued: true", "POST",
		  "/queuedResources?" },
		{ &provider_tpu_vm, ", queued: true", "DELETE",
		  "/queuedResources/" },
	};
	struct fixture *f = *state;
	size_t i, before, requests, unique;

	stand_in_tell(
		&f->server, "state",
		"{'tpu': {'*': {'hosts': 4}}, 'compute': {'starting': 0}}");
	f->zone = "europe-west4-a";
	for (i = 0; i < COUNT(cases); i++) {
		size_t len = strcspn(cases[i].part, "?");
		char *fault = mem_printf(
			"[{'do': 'kill', 'method': '%s', 'path': '%.*s', "
			"'pid-file': '%s'}]",
			cases[i].method, (int)len, cases[i].part,
			stand_in_file(&f->server, "pid"));
		size_t was =
			count_paths(f, cases[i].method, cases[i].part, &before);

		plan_for(f, cases[i].provider, "", cases[i].more);
		stand_in_tell(&f->server, "faults", fault);
		assert_false(run_child(f, MAKES_AND_DELETES));
		stand_in_tell(&f->server, "faults", "[]");
		assert_true(run_child(f, *cases[i].method == 'D'
						 ? DELETES
						 : MAKES_AND_DELETES));
		unique = count_paths(f, cases[i].method, cases[i].part,
				     &requests);
		assert_int_equal(requests - before, 2);
		assert_int_equal(unique - was, 1);
		assert_true(run_child(f, MAKES_AND_DELETES));
		assert_int_equal(count_paths(f, cases[i].method, cases[i].part,
					     &requests) -
					 was,
				 2);
		is_settled(f, (int)i);
		free(fault);
	}
}

static void a_failed_request_of_tpu_nodes_changes_nothing(void **state)
{
	any_request_can_fail(*state, &provider_tpu_node, "");
}

static void a_failed_request_of_tpu_vms_changes_nothing(void **state)
{
	any_request_can_fail(*state, &provider_tpu_vm, "");
}

static void a_failed_request_of_the_queue_changes_nothing(void **state)
{
	any_request_can_fail(*state, &provider_tpu_vm, ", queued: true");
}

static void of_tpu_vms_in_zones(void **state)
{
	in_the_second_zone(*state, &provider_tpu_vm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lost_tpu_may_come_back_in_another_zone),
		cmocka_unit_test(of_tpu_nodes),
		cmocka_unit_test(of_tpu_nodes_in_zones),
		cmocka_unit_test(of_images_of_vms),
		cmocka_unit_test(of_tpu_vms),
		cmocka_unit_test(of_tpu_vms_in_zones),
		cmocka_unit_test(of_tpu_vms_in_the_queue),
		cmocka_unit_test(who_goes_on_sends_the_same_requests),
		cmocka_unit_test(a_failed_request_of_tpu_nodes_changes_nothing),
		cmocka_unit_test(a_failed_request_of_tpu_vms_changes_nothing),
		cmocka_unit_test(a_failed_request_of_the_queue_changes_nothing),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
