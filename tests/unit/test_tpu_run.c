/* SPDX-License-Identifier: Apache-2.0 */
/* What runs on TPUs have in common, whichever API creates these: what their
 * plans refuse, and their notes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/provider/provider.h"
#include "providers/tpunode/tpunode.h"
#include "providers/tpuvm/tpuvm.h"
#include "schema/catalogue/catalogue_get.h"
#include "tests/support/known.h"

static const struct provider *const makers[] = { &provider_tpu_node,
						 &provider_tpu_vm };

/* Returns the desired resources of a job with `more` in its file; new. */
static struct resources *wanted(const struct provider *provider,
				const char *more, struct jobs *jobs)
{
	const struct schema_provider known[] = {
		known_provider(&provider_tpu_node),
		known_provider(&provider_tpu_vm),
	};
	const struct schema_options options = {
		.providers = known,
		.provider_count = COUNT(known),
	};
	char *text = mem_printf(
		"jobId: pod\ntrainingInput:\n"
		"  workerConfig: {acceleratorConfig: {type: TPU_V3, count: "
		"32}}\njobrun:\n  provider: %s\n  project: p-1\n  zone: "
		"europe-west4-a\n  command: [a]\n"
		"%s%s\n",
		provider->name,
		strstr(more, "tpu-node:")
			? ""
			: "  tpu-node: {runtimeVersion: pytorch-1.13}\n",
		more);
	char path[] = "/tmp/test_tpu_run.XXXXXX.yaml";
	char *paths[] = { path };
	struct problems found = { 0 };
	struct provider_env env = { 0 };
	struct resources *out = resources_new();
	struct error err;
	int fd = mkstemps(path, 5);

	assert_true(fd >= 0);
	assert_true(write(fd, text, strlen(text)) > 0);
	close(fd);
	env.catalogue = catalogue_get(&err);
	if (schema_load(paths, 1, &options, jobs, &found, &err) < 0)
		fail_msg("%s", err.text);
	unlink(path);
	assert_int_equal(jobs->count, 1);
	assert_int_equal(provider->desire(jobs->items[0], &env, out, &err), 0);
	problems_done(&found);
	free(text);
	return out;
}

static bool says(const char *const *texts, size_t count, const char *what)
{
	size_t i = 0;

	while (i < count && !strstr(texts[i], what))
		i++;
	return i < count;
}

static void both_providers_refuse_and_say_the_same(void **state)
{
	static const struct {
		const char *more;
		const char *missing, *note; /* or NULL */
	} cases[] = {
		{ "", NULL, "jobrun.source is not set: jobrun copies" },
		{ "  checkpoints: {to: /c, metric: loss, goal: MINIMIZE}", NULL,
		  NULL },
		{ "  hosts: [a]", "the hosts are those of the TPU", NULL },
		{ "  tpu-vm: {iap: true}\n"
		  "  tpu-node: {runtimeVersion: pytorch-1.13, iap: true}",
		  NULL, "roles/iap.tunnelResourceAccessor" },
	};
	size_t i, j, count;

	(void)state;
	for (i = 0; i < COUNT(cases); i++)
		for (j = 0; j < COUNT(makers); j++) {
			const char *missing = cases[i].missing;
			const char *note = cases[i].note;
			struct jobs jobs = { 0 };
			struct resources *all =
				wanted(makers[j], cases[i].more, &jobs);

			count = all->missing_count;
			if ((missing ? 1 : 0) != count ||
			    (missing && !says(all->missing, count, missing)))
				fail_msg("case %zu of %s: %zu missing", i,
					 makers[j]->name, count);
			if (note && !says(all->notes, all->note_count, note))
				fail_msg("case %zu of %s: no note", i,
					 makers[j]->name);
			resources_free(all);
			jobs_done(&jobs);
		}
}

static const struct resource *find(const struct resources *all,
				   const char *kind)
{
	size_t i = 0;

	while (i < all->count && strcmp(all->items[i]->kind->name, kind) != 0)
		i++;
	assert_true(i < all->count);
	return all->items[i];
}

static void nodes_and_their_vms_are_as_the_file_says(void **state)
{
	static const struct {
		const char *block, *kind;
		const char *says; /* in the body, as JSON without spaces */
	} cases[] = {
		{ "reserved: true", "tpu-node",
		  "\"schedulingConfig\":{\"reserved\":true}" },
		{ "reserved: true, preemptible: true", "tpu-node",
		  "\"schedulingConfig\":{\"preemptible\":true,"
		  "\"reserved\":true}" },
		{ "tags: [a, b]", "instance-template",
		  "\"tags\":{\"items\":[\"a\",\"b\"]}" },
		{ "scopes: [s]", "instance-template", "\"scopes\":[\"s\"]" },
		{ "disks: ['d:ro']", "instance-template",
		  "{\"source\":\"d\",\"mode\":\"READ_ONLY\","
		  "\"autoDelete\":false}" },
		{ "metadata: {k: v}", "instance-template",
		  "{\"key\":\"k\",\"value\":\"v\"}" },
		/* The user's script runs besides jobrun's own. */
		{ "metadata: {startup-script: 'apt-get update'}",
		  "instance-template", "apt-get update\\nEND_OF" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		char *more = mem_printf("  tpu-node: {runtimeVersion: "
					"pytorch-1.13, %s}",
					cases[i].block);
		struct jobs jobs = { 0 };
		struct resources *all = wanted(&provider_tpu_node, more, &jobs);
		char *body = json_dumps(
			json_object_get(find(all, cases[i].kind)->request,
					"body"),
			JSON_COMPACT);

		if (all->missing_count || !strstr(body, cases[i].says))
			fail_msg("%s: %s", cases[i].block, body);
		free(body);
		resources_free(all);
		jobs_done(&jobs);
		free(more);
	}
}

static void a_disk_is_written_by_one_vm(void **state)
{
	struct jobs jobs = { 0 };
	struct resources *all = wanted(&provider_tpu_node,
				       "  tpu-node: {runtimeVersion: "
				       "pytorch-1.13, disks: [d]}",
				       &jobs);

	(void)state;
	assert_int_equal(all->missing_count, 1);
	assert_string_equal(all->missing[0],
			    "disk 'd' can be written to by one VM only, and "
			    "there are 4: write 'd:ro' in "
			    "jobrun.tpu-node.disks");
	resources_free(all);
	jobs_done(&jobs);
}

static void an_image_is_made_before_the_template_that_uses_it(void **state)
{
	static const struct {
		const char *from;    /* the block's fields */
		const char *kind;    /* NULL: not created */
		const char *says;    /* in the request, as JSON */
		const char *missing; /* or NULL */
		const char *note;
	} cases[] = {
		{ "image: a", NULL, NULL, NULL, NULL },
		{ "imageFrom: {vm: mine, family: torch-xla}", "disk-image",
		  "\"family\":\"torch-xla\"", NULL, "nothing stays" },
		{ "imageFrom: {vm: mine}", "disk-image",
		  "\"jobrun-cleanup\":\"always\"", NULL, "nothing stays" },
		{ "imageFrom: {vm: mine, keep: true}", "kept-disk-image",
		  "\"jobrun-cleanup\":\"never\"", NULL,
		  "the image stays, and costs, until 'jobrun delete pod'" },
		{ "imageFrom: {vm: mine, stop: true}", "disk-image",
		  "\"name\":\"pod\"", NULL,
		  "VM 'mine' is stopped if it runs, and not started again" },
		{ "imageFrom: {vm: mine}, imageProject: p", "disk-image",
		  "\"name\":\"pod\"",
		  "the VMs have one image: remove jobrun.tpu-node.image or "
		  "imageFrom",
		  NULL },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		char *more = mem_printf("  tpu-node: {runtimeVersion: "
					"pytorch-1.13, %s}",
					cases[i].from);
		struct jobs jobs = { 0 };
		struct resources *all = wanted(&provider_tpu_node, more, &jobs);
		const struct resource *template =
			find(all, "instance-template");
		char *image = NULL;

		assert_int_equal(template->need_count, !!cases[i].kind);
		if (cases[i].kind) {
			assert_string_equal(template->needs[0]->kind->name,
					    cases[i].kind);
			assert_string_equal(
				json_string_value(json_object_get(
					template->properties, "image")),
				"global/images/pod");
			image = json_dumps(template->needs[0]->request,
					   JSON_COMPACT);
			if (!strstr(image, cases[i].says))
				fail_msg("%s: %s", cases[i].from, image);
		}
		assert_int_equal(all->missing_count, !!cases[i].missing);
		if (cases[i].missing)
			assert_string_equal(all->missing[0], cases[i].missing);
		if (cases[i].note &&
		    !says(all->notes, all->note_count, cases[i].note))
			fail_msg("%s: no note", cases[i].from);
		free(image);
		resources_free(all);
		jobs_done(&jobs);
		free(more);
	}
}

static void the_server_of_xrt_is_in_the_plan(void **state)
{
	static const struct {
		const char *more;
		const char *command; /* as JSON; NULL: there is none */
		const char *missing; /* or NULL */
	} cases[] = {
		{ "", NULL, NULL },
		{ "  tpu-vm: {xrtServer: none}", NULL, NULL },
		{ "  tpu-vm: {xrtServer: start}",
		  "[\"python3\",\"-m\",\"torch_xla.core.xrt_run_server\","
		  "\"--port\",\"51011\"]",
		  NULL },
		{ "  tpu-vm: {xrtServer: restart}",
		  "[\"python3\",\"-m\",\"torch_xla.core.xrt_run_server\","
		  "\"--port\",\"51011\",\"--restart\"]",
		  NULL },
		{ "  tpu-vm: {xrtServer: start, slices: 2}",
		  "[\"python3\",\"-m\",\"torch_xla.core.xrt_run_server\","
		  "\"--port\",\"51011\"]",
		  "XRT knows one slice: remove jobrun.tpu-vm.slices or "
		  "xrtServer" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct jobs jobs = { 0 };
		struct resources *all =
			wanted(&provider_tpu_vm, cases[i].more, &jobs);
		const json_t *command = json_object_get(
			find(all, "run")->properties, "beforeEachStart");
		char *text = command ? json_dumps(command, JSON_COMPACT) : NULL;

		if (cases[i].command
			    ? !text || strcmp(text, cases[i].command) != 0
			    : !!text)
			fail_msg("%s: %s", cases[i].more, text ? text : "none");
		assert_int_equal(all->missing_count, !!cases[i].missing);
		if (cases[i].missing)
			assert_string_equal(all->missing[0], cases[i].missing);
		free(text);
		resources_free(all);
		jobs_done(&jobs);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_providers_refuse_and_say_the_same),
		cmocka_unit_test(nodes_and_their_vms_are_as_the_file_says),
		cmocka_unit_test(a_disk_is_written_by_one_vm),
		cmocka_unit_test(
			an_image_is_made_before_the_template_that_uses_it),
		cmocka_unit_test(the_server_of_xrt_is_in_the_plan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
