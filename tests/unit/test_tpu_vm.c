/* SPDX-License-Identifier: Apache-2.0 */
/* TPU VMs, without the VMs: the requests, and the handling of answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/process/process.h"
#include "core/provider/listing.h"
#include "core/store/store.h"
#include "providers/google/tpu/tpu.h"
#include "providers/google/tpu/tpu_startup.h"
#include "providers/tpuvm/tpuvm.h"
#include "schema/catalogue/catalogue_get.h"
#include "tests/support/known.h"
#include "tests/support/stand_in.h"

/* A job and its desired resources. */
struct scene {
	struct jobs jobs;
	struct resources *all;
	struct resource *node, *run;
};

/* Makes a job that lacks this many things to run. */
static void scene_init_without(struct scene *scene, const char *type, int count,
			       const char *block, size_t missing)
{
	char *text = mem_printf(
		"jobId: Pod_1\nlabels: {owner: vision}\ntrainingInput:\n"
		"  workerConfig: {acceleratorConfig: {type: %s, count: %d}}\n"
		"jobrun: {provider: tpu-vm, project: p-1, zone: "
		"europe-west4-a,\n  command: [a], tpu-vm: {%s}}\n",
		type, count, block);
	const struct schema_provider known = known_provider(&provider_tpu_vm);
	const struct schema_options options = { .providers = &known,
						.provider_count = 1 };
	char path[] = "/tmp/test_tpu_vm.XXXXXX.yaml";
	char *paths[] = { path };
	struct problems found = { 0 };
	struct provider_env env = { 0 };
	struct error err;
	int fd = mkstemps(path, 5);

	assert_true(fd >= 0);
	assert_true(write(fd, text, strlen(text)) > 0);
	close(fd);
	env.catalogue = catalogue_get(&err);
	*scene = (struct scene){ .all = resources_new() };
	assert_int_equal(
		schema_load(paths, 1, &options, &scene->jobs, &found, &err), 0);
	unlink(path);
	assert_int_equal(scene->jobs.count, 1);
	strcpy(scene->jobs.items[0]->digest.hex, "0123456789abcdef");
	assert_int_equal(provider_tpu_vm.desire(scene->jobs.items[0], &env,
						scene->all, &err),
			 0);
	assert_int_equal(scene->all->missing_count, missing);
	assert_int_equal(scene->all->count, 2);
	scene->run = scene->all->items[0];
	scene->node = scene->all->items[1];
	problems_done(&found);
	free(text);
}

static void scene_init(struct scene *scene, const char *type, int count,
		       const char *block)
{
	scene_init_without(scene, type, count, block, 0);
}

static void scene_done(struct scene *scene)
{
	resources_free(scene->all);
	jobs_done(&scene->jobs);
}

static void names_are_valid_and_differ(void **state)
{
	/* Names up to the length where a digest is added. */
	static const struct {
		const char *job, *name;
		bool digest;
	} cases[] = {
		{ "pod", "pod", false },
		{ "a-b", "a-b", false },
		{ "Pod", "pod", true },
		{ "pod_", "pod", true },
		{ "a_b", "a-b", true },
		{ "a123456789b123456789c123456789d123456789e",
		  "a123456789b123456789c123456789d123456789", true },
	};
	char name[TPU_NAME_MAX];
	size_t i, len;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		len = strlen(cases[i].name);
		tpu_name(cases[i].job, name);
		if (strncmp(name, cases[i].name, len) != 0 ||
		    strlen(name) != len + (cases[i].digest ? 9 : 0) ||
		    strspn(name, "abcdefghijklmnopqrstuvwxyz-0123456789") !=
			    strlen(name))
			fail_msg("'%s' is '%s'", cases[i].job, name);
	}
}

static void slices_are_asked_for_as_the_api_has_them(void **state)
{
	static const struct {
		const char *type;
		int count;
		const char *block, *want;
	} cases[] = {
		{ "TPU_V2", 8, "", "{'acceleratorType': 'v2-8'}" },
		{ "TPU_V3", 2048, "", "{'acceleratorType': 'v3-2048'}" },
		{ "TPU_V4", 32, "", "{'acceleratorType': 'v4-32'}" },
		{ "TPU_V4", 32, "topology: 2x2x4",
		  "{'acceleratorConfig': {'type': 'V4', 'topology': "
		  "'2x2x4'}}" },
		{ "TPU_V5_LITEPOD", 16, "",
		  "{'acceleratorType': 'v5litepod-16'}" },
		{ "TPU_V5P", 16, "topology: 2x2x2",
		  "{'acceleratorConfig': {'type': 'V5P', 'topology': "
		  "'2x2x2'}}" },
		{ "TPU_V6E", 16, "", "{'acceleratorType': 'v6e-16'}" },
		{ "TPU_V3", 32, "spot: true",
		  "{'schedulingConfig': {'spot': true}}" },
		{ "TPU_V3", 32, "preemptible: true",
		  "{'schedulingConfig': {'preemptible': true}}" },
		{ "TPU_V3", 32, "externalIps: false, subnetwork: s",
		  "{'networkConfig': {'subnetwork': 's', "
		  "'enableExternalIps': false}}" },
		{ "TPU_V3", 32, "disks: [d, projects/q/zones/z/disks/e:ro]",
		  "{'dataDisks': [{'sourceDisk': 'd', 'mode': 'READ_WRITE'}, "
		  "{'sourceDisk': 'projects/q/zones/z/disks/e', 'mode': "
		  "'READ_ONLY'}]}" },
		{ "TPU_V3", 32, "runtimeVersion: v2-alpha, tags: [a, b]",
		  "{'runtimeVersion': 'v2-alpha', 'tags': ['a', 'b']}" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		json_t *want, *value, *body;
		char *text = strdup(cases[i].want), *at;
		struct scene scene;
		const char *key;

		for (at = text; *at; at++)
			if (*at == '\'')
				*at = '"';
		want = json_loads(text, 0, NULL);
		assert_non_null(want);
		scene_init(&scene, cases[i].type, cases[i].count,
			   cases[i].block);
		body = json_object_get(scene.node->request, "body");
		json_object_foreach(
			want, key,
			value) if (!json_equal(json_object_get(body, key),
					       value))
			fail_msg("%s: %s", cases[i].want, json_dumps(body, 0));
		scene_done(&scene);
		json_decref(want);
		free(text);
	}
}

static void what_the_api_has_not_is_refused(void **state)
{
	struct scene scene;

	(void)state;
	scene_init_without(&scene, "TPU_7X", 16, "", 1);
	assert_string_equal(scene.all->missing[0],
			    "the Cloud TPU API has no TPU_7X");
	scene_done(&scene);
}

static void a_queue_is_asked_for_when_the_file_says_so(void **state)
{
	struct scene scene;
	json_t *body, *spec;

	(void)state;
	scene_init(&scene, "TPU_V5P", 16,
		   "spot: true, validFor: 6h, reservation: r");
	body = json_object_get(scene.node->request, "body");
	spec = json_array_get(
		json_object_get(json_object_get(body, "tpu"), "nodeSpec"), 0);
	assert_non_null(json_object_get(body, "spot"));
	assert_null(json_object_get(body, "guaranteed"));
	assert_string_equal(json_get_text(body, "reservationName", ""), "r");
	assert_null(json_object_get(body, "provisioningModel"));
	assert_string_equal(
		json_get_text(json_object_get(body, "queueingPolicy"),
			      "validUntilDuration", ""),
		"21600s");
	assert_string_equal(json_get_text(spec, "nodeId", ""),
			    scene.node->name);
	assert_string_equal(json_get_text(json_object_get(spec, "node"),
					  "acceleratorType", ""),
			    "v5p-16");
	scene_done(&scene);
}

/* The body that is wanted, without what it says of the node. */
static void queue_is(const char *block, const char *wanted)
{
	struct scene scene;
	json_t *body, *want;
	char *text;

	scene_init(&scene, "TPU_V5P", 16, block);
	body = json_deep_copy(json_object_get(scene.node->request, "body"));
	json_object_del(body, "tpu");
	want = json_loads(wanted, 0, NULL);
	assert_non_null(want);
	text = json_dumps(body, 0);
	if (!json_equal(body, want))
		fail_msg("%s: %s", block, text);
	free(text);
	json_decref(want);
	json_decref(body);
	scene_done(&scene);
}

static void when_and_how_it_is_to_be_had(void **state)
{
	(void)state;
	queue_is("flexStart: true, validFor: 2h",
		 "{\"provisioningModel\": \"FLEX_START\", \"runDuration\": "
		 "{\"maxRunDuration\": \"604800s\"}, \"queueingPolicy\": "
		 "{\"validUntilDuration\": \"7200s\"}}");
	queue_is("validAfter: '2026-12-01T08:00:00Z'",
		 "{\"guaranteed\": {}, \"queueingPolicy\": "
		 "{\"validAfterTime\": \"2026-12-01T08:00:00Z\"}}");
	queue_is("spot: true, validUntil: '2026-12-01T08:00:00+01:00'",
		 "{\"spot\": {}, \"queueingPolicy\": "
		 "{\"validUntilTime\": \"2026-12-01T08:00:00+01:00\"}}");
	queue_is("validAfter: '2026-12-01T08:00:00Z', validUntil: "
		 "'2026-12-02T08:00:00Z'",
		 "{\"guaranteed\": {}, \"queueingPolicy\": {\"validInterval\": "
		 "{\"startTime\": \"2026-12-01T08:00:00Z\", \"endTime\": "
		 "\"2026-12-02T08:00:00Z\"}}}");
}

static void what_excludes_the_rest_is_said(void **state)
{
	static const struct {
		const char *block, *missing;
	} cases[] = {
		{ "flexStart: true, spot: true",
		  "a flex-start TPU is neither spot nor reserved: remove "
		  "jobrun.tpu-vm.flexStart, or spot, preemptible and "
		  "reservation" },
		{ "validFor: 1h, validUntil: '2026-12-01T08:00:00Z'",
		  "the queue takes jobrun.tpu-vm.validFor, or validAfter and "
		  "validUntil: remove one of them" },
		{ "validAfter: '2026-12-01T08:00:00Z', validUntil: "
		  "'2026-12-01T09:00:00+02:00'",
		  "jobrun.tpu-vm.validUntil must be later than validAfter" },
	};
	struct scene scene;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		scene_init_without(&scene, "TPU_V5P", 16, cases[i].block, 1);
		assert_string_equal(scene.all->missing[0], cases[i].missing);
		scene_done(&scene);
	}
}

/* A shell can parse both parts. */
static void the_startup_script_is_a_script(void **state)
{
	char path[] = "/tmp/test_tpu_vm.XXXXXX";
	int fd = mkstemp(path);
	char *text = tpu_startup("apt-get install -y \"$WHAT\"");
	char *command = mem_printf("bash -n %s", path);

	(void)state;
	assert_true(write(fd, text, strlen(text)) > 0);
	close(fd);
	assert_int_equal(system(command), 0);
	assert_non_null(strstr(text, "\napt-get install -y \"$WHAT\"\n"));
	unlink(path);
	free(command);
	free(text);
}

/* ---- against the stand-in ----------------------------------------------- */

struct fixture {
	struct stand_in server;
	struct store *store;
	void *ctx;
};

static int fixture_setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	char url[96], folder[128];
	struct provider_env env = { 0 };
	struct error err;

	stand_in_start(&f->server, 0);
	snprintf(url, sizeof(url), "%s/tpu/", f->server.base);
	snprintf(folder, sizeof(folder), "%s/state", f->server.folder);
	setenv("CLOUDSDK_API_ENDPOINT_OVERRIDES_TPU", url, 1);
	setenv("CLOUDSDK_CONFIG", stand_in_file(&f->server, "gcloud"), 1);
	setenv("GOOGLE_APPLICATION_CREDENTIALS",
	       stand_in_file(&f->server, "authorized_user.json"), 1);
	setenv("NO_GCE_CHECK", "true", 1);
	setenv("JOBRUN_STATE_DIR", folder, 1);
	setenv("HOME", f->server.folder, 1);
	unsetenv("GOOGLE_CLOUD_PROJECT");
	f->store = store_open(&err);
	assert_non_null(f->store);
	env.store = f->store;
	env.catalogue = catalogue_get(&err);
	f->ctx = provider_tpu_vm.open(&env, &err);
	assert_non_null(f->ctx);
	*state = f;
	return 0;
}

static int fixture_teardown(void **state)
{
	struct fixture *f = *state;

	provider_tpu_vm.close(f->ctx);
	store_close(f->store);
	stand_in_stop(&f->server);
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

static void tell(const struct fixture *f, const char *state)
{
	char *text = mem_printf("{'tpu': %s}", state);

	stand_in_tell(&f->server, "state", text);
	free(text);
}

/* Repeats a call like the executor, but without pauses. */
static int persist(struct fixture *f,
		   int (*call)(void *ctx, const struct resource *it,
			       struct error *err),
		   const struct resource *it, struct error *err)
{
	int tries = 0, ret;

	do {
		*err = (struct error){ 0 };
		ret = call(f->ctx, it, err);
	} while (ret < 0 && !err->final && ++tries < 5 &&
		 (err->code == ERROR_TRY_AGAIN ||
		  err->code == ERROR_UNREACHABLE));
	return ret;
}

/* Waits until the node is usable or lost. */
static int wait_for(struct fixture *f, const struct resource *it,
		    struct error *err)
{
	enum wait_state state = WAIT_PENDING;
	int tries = 0;

	while (state == WAIT_PENDING && tries++ < 50) {
		*err = (struct error){ 0 };
		state = WAIT_PENDING;
		if (kind_tpu_vm.wait(f->ctx, it, &state, err) < 0 &&
		    (err->final || err->code == ERROR_FAILED))
			return -1;
		if (state == WAIT_PENDING)
			time_pause(strstr(err->text, "no zone has") ? 200 : 20);
	}
	return state == WAIT_DONE ? 0 : -1;
}

static void look(struct fixture *f, struct resource *want,
		 struct resource *found)
{
	struct error err;

	*found = (struct resource){ .kind = want->kind, .name = want->name };
	if (want->kind->read(f->ctx, want, found, &err) < 0)
		fail_msg("%s", err.text);
	want->kind->adapt(want, found);
}

static void forget(struct resource *found)
{
	json_decref(found->properties);
	json_decref(found->outputs);
}

#define READY                                                                  \
	"'script': [{'state': 'CREATING'}, {'state': 'READY', "                \
	"'health': 'HEALTHY'}], 'hosts': 4"

static void what_becomes_of_a_node(void **state)
{
	static const struct {
		const char *told, *block, *why; /* NULL: it becomes usable */
		const char *zone;
	} cases[] = {
		{ "{'*': {" READY "}}", "", NULL, "europe-west4-a" },
		{ "{'*': {" READY ", 'operation_looks': 3}}", "", NULL,
		  "europe-west4-a" },
		/* The operation can't be found any more. */
		{ "{'*': {" READY ", 'lose': true}}", "", NULL,
		  "europe-west4-a" },
		/* The first zone has no capacity, the second has. */
		{ "{'*': {" READY "}, 'europe-west4-a': {'create': {'code': 8,"
		  " 'message': 'There is no more capacity'}}}",
		  "zones: [us-central1-a]", NULL, "us-central1-a" },
		{ "{'*': {" READY ", 'create': {'code': 8, 'message': "
		  "'There is no more capacity'}}}",
		  "zones: [us-central1-a]",
		  "none of 2 zones has capacity, last us-central1-a: There is "
		  "no "
		  "more capacity",
		  NULL },
		/* The zone has capacity again in the next round. */
		{ "{'*': {" READY ", 'create_times': 1, 'create': {'code': 8, "
		  "'message': 'There is no more capacity'}}}",
		  "waitForCapacity: 60s", NULL, "europe-west4-a" },
		{ "{'*': {" READY ", 'create': {'code': 3, 'message': "
		  "'The runtime is unknown'}}}",
		  "zones: [us-central1-a]", "The runtime is unknown", NULL },
		{ "{'*': {'script': [{'state': 'CREATING'}]}}",
		  "readyTimeout: 0s",
		  "not usable after 0s (CREATING): it may take longer with "
		  "jobrun.tpu-vm.readyTimeout",
		  NULL },
		{ "{'*': {'script': [{'state': 'CREATING'}, {'state': "
		  "'TERMINATED'}]}}",
		  "", "it is lost: TERMINATED", NULL },
		{ "{'*': {" READY "}}", "queued: true", NULL,
		  "europe-west4-a" },
		{ "{'*': {" READY ", 'queue': ['ACCEPTED', 'FAILED']}}",
		  "queued: true",
		  "the queue of europe-west4-a: There is no more capacity in "
		  "the zone",
		  NULL },
	};
	struct fixture *f = *state;
	struct error err;
	size_t i;

	for (i = 0; i < COUNT(cases); i++) {
		struct resource found;
		struct scene scene;
		int ret;

		tell(f, cases[i].told);
		scene_init(&scene, "TPU_V3", 32, cases[i].block);
		look(f, scene.node, &found);
		assert_false(found.exists);
		forget(&found);
		ret = persist(f, kind_tpu_vm.create, scene.node, &err);
		if (ret == 0)
			ret = wait_for(f, scene.node, &err);
		if (cases[i].why &&
		    (ret == 0 || !strstr(err.text, cases[i].why)))
			fail_msg("case %zu: '%s'", i, err.text);
		if (!cases[i].why && ret < 0)
			fail_msg("case %zu: '%s'", i, err.text);
		look(f, scene.node, &found);
		if (cases[i].zone) {
			assert_string_equal(
				json_get_text(found.outputs, "zone", ""),
				cases[i].zone);
			/* The zone is that of the file; another one would look
			 * like a change. */
			assert_string_equal(
				json_get_text(scene.node->properties, "zone",
					      ""),
				"europe-west4-a");
			assert_int_equal(json_array_size(json_object_get(
						 found.outputs, "hosts")),
					 4);
		}
		forget(&found);
		assert_int_equal(
			persist(f, kind_tpu_vm.delete, scene.node, &err), 0);
		if (made(f))
			fail_msg("case %zu leaves something", i);
		scene_done(&scene);
	}
}

/* What was made is compared with what was planned; tests/cli/tpu_vm.bats shows
 * what becomes of the run. */
static void other_hosts_and_chips_than_planned_are_refused(void **state)
{
	static const struct {
		const char *type;
		int count;
		const char *told, *block, *why; /* NULL: it is as planned */
	} cases[] = {
		{ "TPU_V6E", 8, "'hosts': 1, 'topology': '2x4'", "", NULL },
		{ "TPU_V6E", 8, "'hosts': 2, 'topology': '2x4'", "",
		  "it has 2 hosts with 8 chips instead of 1 with 8, which the "
		  "plan expects: nothing is started on it" },
		{ "TPU_V6E", 16, "'hosts': 4, 'topology': '2x2'", "",
		  "it has 4 hosts with 4 chips instead of 4 with 16" },
		{ "TPU_V3", 32, "'hosts': 1", "",
		  "it has 1 host with 16 chips instead of 4 with 16" },
		{ "TPU_V5P", 16, "'hosts': 2", "topology: 2x2x2", NULL },
		{ "TPU_V4", 16, "'hosts': 3", "slices: 2",
		  "it has 3 hosts with 8 chips instead of 2 with 8" },
	};
	struct fixture *f = *state;
	struct error err;
	size_t i;

	for (i = 0; i < COUNT(cases); i++) {
		char *told = mem_printf("{'*': {%s}}", cases[i].told);
		struct resource found;
		struct scene scene;
		const char *is;
		int ret;

		tell(f, told);
		scene_init(&scene, cases[i].type, cases[i].count,
			   cases[i].block);
		assert_int_equal(
			persist(f, kind_tpu_vm.create, scene.node, &err), 0);
		ret = wait_for(f, scene.node, &err);
		if (cases[i].why &&
		    (ret == 0 || !strstr(err.text, cases[i].why)))
			fail_msg("case %zu: '%s'", i, err.text);
		if (!cases[i].why && ret < 0)
			fail_msg("case %zu: '%s'", i, err.text);
		look(f, scene.node, &found);
		is = json_get_text(found.properties, "state", NULL);
		if (cases[i].why) {
			assert_non_null(is);
			assert_null(json_object_get(found.outputs, "hosts"));
		} else {
			assert_null(is);
			assert_non_null(
				json_object_get(found.outputs, "hosts"));
		}
		forget(&found);
		assert_int_equal(
			persist(f, kind_tpu_vm.delete, scene.node, &err), 0);
		assert_int_equal(made(f), 0);
		scene_done(&scene);
		free(told);
	}
}

static void a_topology_is_a_number_of_chips(void **state)
{
	(void)state;
	assert_int_equal(tpu_topology_chips("2x2x4"), 16);
	assert_int_equal(tpu_topology_chips("16x16"), 256);
	assert_int_equal(tpu_topology_chips("2x2x"), 0);
	assert_int_equal(tpu_topology_chips("0x2"), 0);
	assert_int_equal(tpu_topology_chips("-2x2"), 0);
	assert_int_equal(tpu_topology_chips(""), 0);
	assert_int_equal(tpu_topology_chips("1000x1000x1000x1000"), 0);
}

/* Each request in turn is lost or refused once: the node is created once, and
 * nothing is left behind. */
static void trouble_with_any_request_does_no_harm(void **state)
{
	/* The client repeats these by itself, so a few are enough. */
	static const struct {
		const char *what;
		int last;
	} troubles[] = {
		{ "'do': 'drop-answer'", 10 },
		{ "'do': 'status', 'status': 503", 3 },
		{ "'do': 'cut'", 3 },
	};
	struct fixture *f = *state;
	struct error err;
	size_t i;
	int nth;

	tell(f, "{'*': {" READY "}}");
	for (i = 0; i < COUNT(troubles); i++) {
		for (nth = 1; nth <= troubles[i].last; nth++) {
			char *fault =
				mem_printf("[{'path': '/tpu/', 'nth': %d, %s}]",
					   nth, troubles[i].what);
			struct scene scene;

			scene_init(&scene, "TPU_V3", 32, "");
			stand_in_tell(&f->server, "faults", fault);
			if (persist(f, kind_tpu_vm.create, scene.node, &err) <
				    0 ||
			    wait_for(f, scene.node, &err) < 0)
				fail_msg("%s: %s", fault, err.text);
			assert_int_equal(made(f), 1);
			if (persist(f, kind_tpu_vm.delete, scene.node, &err) <
			    0)
				fail_msg("%s: %s", fault, err.text);
			assert_int_equal(made(f), 0);
			stand_in_tell(&f->server, "faults", "[]");
			scene_done(&scene);
			free(fault);
		}
	}
}

static void what_is_lost_is_seen_and_made_anew(void **state)
{
	struct fixture *f = *state;
	struct resource found;
	struct scene scene;
	struct error err;
	char *told;

	tell(f, "{'*': {" READY "}}");
	scene_init(&scene, "TPU_V3", 32, "");
	assert_int_equal(persist(f, kind_tpu_vm.create, scene.node, &err), 0);
	assert_int_equal(wait_for(f, scene.node, &err), 0);
	/* A node that exists is adopted. */
	assert_int_equal(persist(f, kind_tpu_vm.create, scene.node, &err), 0);
	look(f, scene.node, &found);
	assert_true(found.exists);
	assert_null(json_object_get(found.properties, "state"));
	forget(&found);
	told = mem_printf("{'*': {" READY "}, 'europe-west4-a/%s': "
			  "{'preempt': true, 'exists': false}}",
			  scene.node->name);
	tell(f, told);
	free(told);
	look(f, scene.node, &found);
	assert_true(found.exists);
	assert_string_equal(json_get_text(found.properties, "state", ""),
			    "PREEMPTED");
	forget(&found);
	assert_int_equal(wait_for(f, scene.node, &err), -1);
	assert_string_equal(err.text, "it is lost: PREEMPTED");
	assert_int_equal(persist(f, kind_tpu_vm.create, scene.node, &err), 0);
	assert_int_equal(wait_for(f, scene.node, &err), 0);
	assert_int_equal(made(f), 1);
	assert_int_equal(persist(f, kind_tpu_vm.delete, scene.node, &err), 0);
	scene_done(&scene);
}

/* A node that another machine created is found, with its job's own name;
 * renewing it moves its expiry. */
static void nodes_are_found_by_their_labels(void **state)
{
	struct fixture *f = *state;
	struct listing all;
	struct scene scene;
	struct error err;
	int64_t before;

	tell(f, "{'*': {" READY "}}");
	scene_init(&scene, "TPU_V3", 32, "lease: 100s");
	assert_int_equal(persist(f, kind_tpu_vm.create, scene.node, &err), 0);
	listing_init(&all);
	assert_int_equal(kind_tpu_vm.list(f->ctx, "projects/p-1", &all, &err),
			 0);
	assert_int_equal(all.count, 1);
	assert_string_equal(all.items[0].labels.job_id, "Pod_1");
	assert_string_equal(all.items[0].name, scene.node->name);
	assert_string_equal(all.items[0].place,
			    "projects/p-1/locations/europe-west4-a");
	assert_true(all.items[0].labels.renewed);
	before = all.items[0].labels.expire_time_ms;
	assert_true(before > time_now_ms() && before <= time_now_ms() + 100000);
	listing_done(&all);
	json_put_text(scene.node->properties, "lease", "10m");
	assert_int_equal(kind_tpu_vm.renew(f->ctx, scene.node, &err), 0);
	listing_init(&all);
	assert_int_equal(kind_tpu_vm.list(f->ctx, "projects/p-1", &all, &err),
			 0);
	assert_true(all.items[0].labels.expire_time_ms > before + 400000);
	assert_string_equal(all.items[0].labels.job_id, "Pod_1");
	/* Only what is needed for deleting it is known. */
	{
		const struct resource stray = { .kind = &kind_tpu_vm,
						.name = all.items[0].name,
						.place = all.items[0].place };

		assert_int_equal(persist(f, kind_tpu_vm.delete, &stray, &err),
				 0);
	}
	assert_int_equal(made(f), 0);
	listing_done(&all);
	scene_done(&scene);
}

/* Two slices of one queued resource are lost if one of them is, and are found
 * and deleted together. */
static void slices_are_one_thing(void **state)
{
	struct fixture *f = *state;
	struct resource found;
	struct listing all;
	struct scene scene;
	struct error err;
	char *told;

	tell(f, "{'*': {" READY "}}");
	scene_init(&scene, "TPU_V3", 32, "slices: 2");
	assert_int_equal(persist(f, kind_tpu_vm.create, scene.node, &err), 0);
	assert_int_equal(wait_for(f, scene.node, &err), 0);
	look(f, scene.node, &found);
	assert_int_equal(
		json_array_size(json_object_get(found.outputs, "addresses")),
		8);
	assert_int_equal(json_get_int(found.properties, "slices", 0), 2);
	forget(&found);
	/* The lease is to be renewed at once. */
	json_put_text(scene.node->properties, "lease", "1s");
	assert_int_equal(kind_tpu_vm.renew(f->ctx, scene.node, &err), 0);
	told = mem_printf("/tpu/v2/projects/p-1/locations/europe-west4-a/"
			  "nodes/%s-1?updateMask=labels",
			  scene.node->name);
	assert_int_equal(stand_in_count(&f->server, told), 1);
	free(told);
	listing_init(&all);
	assert_int_equal(kind_tpu_vm.list(f->ctx, "projects/p-1", &all, &err),
			 0);
	assert_int_equal(all.count, 1);
	assert_string_equal(all.items[0].name, scene.node->name);
	told = mem_printf("{'*': {" READY "}, 'europe-west4-a/%s-1': "
			  "{'preempt': true, 'exists': false}}",
			  scene.node->name);
	tell(f, told);
	free(told);
	look(f, scene.node, &found);
	assert_string_equal(json_get_text(found.properties, "state", ""),
			    "PREEMPTED");
	forget(&found);
	{
		const struct resource stray = { .kind = &kind_tpu_vm,
						.name = all.items[0].name,
						.place = all.items[0].place };

		assert_int_equal(persist(f, kind_tpu_vm.delete, &stray, &err),
				 0);
	}
	assert_int_equal(made(f), 0);
	listing_done(&all);
	scene_done(&scene);
}

static void write_program(const char *folder, const char *name)
{
	char *path = mem_printf("%s/%s", folder, name);
	struct error err;

	assert_int_equal(file_write(path, "#!/bin/sh\n", 10, &err), 0);
	assert_int_equal(chmod(path, 0700), 0);
	free(path);
}

/* A script that a VM runs, as it is: it deletes the node when nobody has
 * renewed it, and not before. */
static void switch_deletes(struct fixture *f, char *script,
			   const char *attributes)
{
	const char *folder = f->server.folder;
	char *path = mem_printf("%s/switch.sh", folder);
	char *metadata =
		mem_printf("GCE_METADATA_HOST=127.0.0.1:%d", f->server.port);
	char *command = mem_printf("exec env JOBRUN_SWITCH_S=1 %s "
				   "PATH=%s:$PATH bash %s",
				   metadata, folder, path);
	size_t before = stand_in_count(&f->server, "/computeMeta");
	char *told;
	struct scene scene;
	struct error err;
	int i;

	tell(f, "{'*': {" READY "}}");
	write_program(folder, "poweroff");
	write_program(folder, "logger");
	/* The agent never goes: it waits for a client. */
	write_program(folder, "pgrep");
	assert_int_equal(file_write(path, script, strlen(script), &err), 0);
	scene_init(&scene, "TPU_V3", 32, "lease: 3s");
	assert_int_equal(persist(f, kind_tpu_vm.create, scene.node, &err), 0);
	told = mem_printf("{'metadata': {%s, "
			  /* One of several slices learns its own name there. */
			  "'instance/attributes/tpu-env': 'ZONE: x\\nNODE_ID: "
			  "\\'%s\\'', "
			  "'instance/attributes/jobrun-node': '%s/tpu/v2/"
			  "projects/p-1/locations/europe-west4-a/nodes/', "
			  "'instance/attributes/jobrun-remove': '%s/tpu/v2/"
			  "projects/p-1/locations/us-central1-a/nodes/%s "
			  "%s/tpu/v2/projects/p-1/locations/europe-west4-a/"
			  "nodes/%s'}}",
			  attributes, scene.node->name, f->server.base,
			  f->server.base, scene.node->name, f->server.base,
			  scene.node->name);
	stand_in_tell(&f->server, "state", told);
	/* A failed answer does not mean that there is no lease, and a failed
	 * request to delete the node is repeated. */
	stand_in_tell(&f->server, "faults",
		      "[{'do': 'status', 'method': 'GET', 'path': "
		      "'europe-west4-a/nodes/', 'count': 3, 'status': 503}, "
		      "{'do': 'status', 'method': 'DELETE', 'path': "
		      "'europe-west4-a/nodes/', 'count': 2, 'status': 503}]");
	assert_int_equal(system(command), 0);
	/* It has looked, and left it alone. */
	for (i = 0;
	     i < 100 && stand_in_count(&f->server, "/computeMeta") < before + 4;
	     i++)
		nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
	assert_int_equal(made(f), 1);
	for (i = 0; i < 600 && made(f); i++)
		nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
	assert_true(i < 600);
	assert_int_equal(kind_tpu_vm.delete(f->ctx, scene.node, &err), 0);
	stand_in_tell(&f->server, "faults", "[]");
	scene_done(&scene);
	/* On a VM it ends with that. */
	process_end_marked(metadata);
	free(told);
	free(metadata);
	free(command);
	free(path);
	free(script);
}

static void a_node_that_is_not_renewed_deletes_itself(void **state)
{
	switch_deletes(*state, tpu_startup(NULL),
		       "'instance/attributes/agent-worker-number': '0', "
		       "'instance/attributes/jobrun-limit': '0'");
}

static void vms_delete_a_tpu_that_is_not_renewed(void **state)
{
	switch_deletes(*state, tpu_startup_beside(NULL),
		       "'instance/attributes/jobrun-lease': '100000'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_valid_and_differ),
		cmocka_unit_test(slices_are_asked_for_as_the_api_has_them),
		cmocka_unit_test(what_the_api_has_not_is_refused),
		cmocka_unit_test(a_queue_is_asked_for_when_the_file_says_so),
		cmocka_unit_test(when_and_how_it_is_to_be_had),
		cmocka_unit_test(what_excludes_the_rest_is_said),
		cmocka_unit_test(the_startup_script_is_a_script),
		cmocka_unit_test(what_becomes_of_a_node),
		cmocka_unit_test(
			other_hosts_and_chips_than_planned_are_refused),
		cmocka_unit_test(a_topology_is_a_number_of_chips),
		cmocka_unit_test(trouble_with_any_request_does_no_harm),
		cmocka_unit_test(what_is_lost_is_seen_and_made_anew),
		cmocka_unit_test(nodes_are_found_by_their_labels),
		cmocka_unit_test(slices_are_one_thing),
		cmocka_unit_test(a_node_that_is_not_renewed_deletes_itself),
		cmocka_unit_test(vms_delete_a_tpu_that_is_not_renewed),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
