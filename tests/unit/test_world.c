/* SPDX-License-Identifier: Apache-2.0 */
/* Every entry of the catalogue, and an unknown name: checked, planned and
 * rendered for each provider where it exists. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/provider/extension.h"
#include "schema/catalogue/catalogue_get.h"
#include "schema/problem/problem.h"
#include "schema/write/yaml_write.h"
#include "tests/support/known.h"

struct outcome {
	size_t errors, warnings;
	size_t needed; /* "needed: " in the output of render */
	char first[512];
	struct buf text;
};

static void tell(void *arg, bool needed, const char *path, const char *why)
{
	struct outcome *out = arg;

	if (needed && !out->needed++)
		snprintf(out->first, sizeof(out->first), "%s: %s",
			 path ? path : "", why);
}

/* Returns the provider's body, or else the properties of the desired
 * resources. */
static int request(const struct provider *provider, struct job *job,
		   const struct catalogue *all, struct outcome *out,
		   struct error *err)
{
	const struct render_env how = { .catalogue = all,
					.write_yaml = yaml_write,
					.tell = tell,
					.arg = out };
	const struct provider_env env = { .catalogue = all };
	struct resources *desired;
	size_t i;
	int ret;

	if (job_digest(job, err) < 0)
		return -1;
	if (provider->render)
		return provider->render->render(job, &how, &out->text, err);
	desired = resources_new();
	ret = provider->desire(job, &env, desired, err);
	for (i = 0; ret == 0 && i < desired->count; i++) {
		char *text =
			json_dumps(desired->items[i]->properties, JSON_COMPACT);

		buf_puts(&out->text, text);
		free(text);
	}
	resources_free(desired);
	return ret;
}

static void run(const char *provider, const char *input, struct outcome *out)
{
	const struct schema_options options = known_options();
	struct error err = { 0 };
	const struct catalogue *all = catalogue_get(&err);
	struct problems found = { 0 };
	struct jobs jobs = { 0 };
	char *text = mem_printf(
		"jobId: row\n"
		"trainingInput:\n"
		"  scaleTier: CUSTOM\n"
		"  region: us-central1\n%s"
		"jobrun: {provider: %s, project: proj-1, zone: %s, "
		"command: [python3, t.py]}\n",
		input, provider,
		strstr(input, "z9-") ? "moon-east1-a" : "us-central1-a");

	*out = (struct outcome){ 0 };
	assert_int_equal(schema_load_text("row", text, strlen(text), &options,
					  &jobs, &found, &err),
			 0);
	out->errors = problems_errors(&found);
	out->warnings = found.warnings;
	if (found.count)
		snprintf(out->first, sizeof(out->first), "%s",
			 found.items[0].message);
	if (!out->errors &&
	    request(provider_find(provider), jobs.items[0], all, out, &err) < 0)
		fail_msg("%s: %s\n%s", provider, err.text, text);
	free(text);
	problems_done(&found);
	jobs_done(&jobs);
}

/* Checks that the name is in the request, without an error, and that nothing is
 * needed. */
static void expect(const char *provider, const char *input, const char *name)
{
	struct outcome out;

	run(provider, input, &out);
	if (out.errors || out.needed)
		fail_msg("%s: %s\n%s", provider, out.first, input);
	if (name && !strstr(buf_text(&out.text), name))
		fail_msg("%s: no %s in %s\n%s", provider, name,
			 buf_text(&out.text), input);
	buf_done(&out.text);
}

#define IMAGE "  masterConfig: {imageUri: gcr.io/p/i:1}\n"

static char *with_machine(const char *type)
{
	return mem_printf("  masterType: %s\n" IMAGE, type);
}

/* A host of TPUs is known by them; one whose label is unknown is refused. */
static void expect_in_pods(const struct catalogue *all,
			   const struct machine *one, const char *input)
{
	/* Less what a node needs itself. */
	double cpus =
		floor(catalogue_allocatable(all, "cpu", one->vcpus) * 100) * 10;
	char *share = one->tpu_chips ? mem_printf("google.com/tpu: \"%u\"",
						  one->tpu_chips)
				     : mem_printf("cpu: %.0fm", cpus);
	struct outcome out;

	if (one->tpu_chips && !one->tpu_type) {
		run("kubernetes", input, &out);
		assert_true(out.needed);
		buf_done(&out.text);
	} else {
		expect("kubernetes", input, share);
	}
	free(share);
}

static void every_machine_type_is_rendered(void **state)
{
	struct error err;
	const struct catalogue *all = catalogue_get(&err);
	size_t i, k;

	(void)state;
	for (i = 0; i < all->family_count; i++)
		for (k = 0; k < all->families[i].machine_count; k++) {
			const struct machine *one =
				&all->families[i].machines[k];
			char *input = with_machine(one->name);
			char *cpus = mem_printf("%u", one->vcpus);

			expect("vertex-ai", input,
			       one->like ? one->like : one->name);
			expect_in_pods(all, one, input);
			expect("slurm", input, one->vcpus ? cpus : NULL);
			expect("local", input, NULL);
			free(cpus);
			free(input);
		}
}

/* The count is one that some machine can have, or one if no machine of Google's
 * has this accelerator, which is then for clusters only. */
static void every_accelerator_is_rendered(void **state)
{
	struct error err;
	const struct catalogue *all = catalogue_get(&err);
	size_t i;

	(void)state;
	for (i = 0; i < all->accelerator_count; i++) {
		const struct accelerator *one = &all->accelerators[i];
		const struct fit *fit = one->fit_count ? one->fits : NULL;
		const struct maker *maker = catalogue_maker(all, one->type);
		char model[64];
		char *input = mem_printf(
			"  masterType: %s\n"
			"  masterConfig: {imageUri: gcr.io/p/i:1, "
			"acceleratorConfig: {count: %u, type: %s}}\n",
			fit ? fit->machines[0] : "n1-standard-8",
			fit ? fit->counts[0] : 1, one->type);

		assert_non_null(maker);
		catalogue_model(all, one->type, model, sizeof(model));
		expect("slurm", input, model);
		expect("kubernetes", input, maker->resource);
		expect("local", input, NULL);
		if (fit)
			expect("vertex-ai", input, one->type);
		free(input);
	}
}

static char *with_slice(const struct tpu *tpu, const struct slice *slice)
{
	return mem_printf("  masterType: n1-standard-4\n"
			  "  workerType: cloud_tpu\n"
			  "  workerCount: 1\n"
			  "  workerConfig: {imageUri: gcr.io/p/i:1, "
			  "acceleratorConfig: {type: %s, count: %u}}\n" IMAGE,
			  tpu->type, slice->count);
}

static void every_slice_is_rendered(void **state)
{
	struct error err;
	const struct catalogue *all = catalogue_get(&err);
	size_t i, k;

	(void)state;
	for (i = 0; i < all->tpu_count; i++)
		for (k = 0; k < all->tpus[i].slice_count; k++) {
			const struct tpu *tpu = &all->tpus[i];
			char *input = with_slice(tpu, &tpu->slices[k]);

			if (tpu->gke_slice)
				expect("kubernetes", input, "google.com/tpu");
			if (tpu->vertex_machine)
				expect("vertex-ai", input, NULL);
			free(input);
		}
}

/* A name newer than the catalogue gives a warning, and goes into the request
 * unchanged. */
static void unknown_names_are_passed_on(void **state)
{
	static const struct {
		const char *provider, *machine, *accelerator;
	} rows[] = {
		{ "vertex-ai", "z9-mega-8g", "NVIDIA_X9_1TB" },
		{ "kubernetes", NULL, "nvidia-x9-1tb" },
		{ "slurm", NULL, "x9" },
		{ "local", NULL, NULL },
		{ "tpu-vm", NULL, NULL },
		{ "tpu-node", NULL, NULL },
	};
	struct outcome out;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(rows); i++) {
		bool tpu = !strncmp(rows[i].provider, "tpu", 3);

		run(rows[i].provider,
		    tpu ? "  masterType: z9-mega-8g\n"
			  "  workerType: cloud_tpu\n"
			  "  workerCount: 1\n"
			  "  workerConfig: {acceleratorConfig: {type: TPU_V3, "
			  "count: 8}}\n"
			: "  masterType: z9-mega-8g\n"
			  "  masterConfig: {imageUri: gcr.io/p/i:1, "
			  "acceleratorConfig: {type: NVIDIA_X9_1TB, count: "
			  "8}}\n",
		    &out);
		if (out.errors || !out.warnings)
			fail_msg("%s: %zu errors, %zu warnings: %s",
				 rows[i].provider, out.errors, out.warnings,
				 out.first);
		if (rows[i].machine)
			assert_non_null(
				strstr(buf_text(&out.text), rows[i].machine));
		if (rows[i].accelerator)
			assert_non_null(strstr(buf_text(&out.text),
					       rows[i].accelerator));
		buf_done(&out.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_machine_type_is_rendered),
		cmocka_unit_test(every_accelerator_is_rendered),
		cmocka_unit_test(every_slice_is_rendered),
		cmocka_unit_test(unknown_names_are_passed_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
