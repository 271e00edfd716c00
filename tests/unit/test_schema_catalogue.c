/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in catalogue. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "schema/catalogue/catalogue_get.h"

static void catalogue_is_read(void **state)
{
	struct error err = { 0 };
	const struct catalogue *all = catalogue_get(&err);
	const struct tier *tier;
	const struct tpu *tpu;

	(void)state;
	assert_string_equal(err.text, "");
	assert_ptr_equal(all, catalogue_get(&err));
	tier = catalogue_tier(all, "STANDARD_1");
	assert_int_equal(tier->worker_count, 4);
	assert_int_equal(tier->parameter_server_count, 3);
	assert_null(catalogue_tier(all, "BASIC")->worker_type);
	assert_null(catalogue_tier(all, "CUSTOM"));
	tpu = catalogue_tpu(all, "TPU_V3");
	assert_string_equal(tpu_slice(tpu, 32)->name, "v3-32");
	assert_int_equal(tpu_slice(tpu, 32)->hosts, 4);
	assert_null(tpu_slice(tpu, 33));
}

/* Checks the source and its date: "AI Platform docs, machine types,
 * 2020-08". */
static void assert_source(const char *source)
{
	const char *year = strstr(source, ", 20");

	assert_non_null(year);
	assert_int_equal(strspn(year + 2, "0123456789"), 4);
}

static void entries_have_sources(void **state)
{
	struct error err = { 0 };
	const struct catalogue *all = catalogue_get(&err);
	size_t i;

	(void)state;
	for (i = 0; i < all->tier_count; i++)
		assert_source(all->tiers[i].source);
	for (i = 0; i < all->family_count; i++)
		assert_source(all->families[i].source);
	for (i = 0; i < all->accelerator_count; i++)
		assert_source(all->accelerators[i].source);
	for (i = 0; i < all->tpu_count; i++)
		assert_source(all->tpus[i].source);
	for (i = 0; i < all->region_group_count; i++)
		assert_source(all->region_groups[i].source);
	for (i = 0; i < all->runtime_count; i++)
		assert_source(all->runtimes[i].source);
	for (i = 0; i < all->container_count; i++)
		assert_source(all->containers[i].source);
}

static void slices_are_sound(void **state)
{
	struct error err = { 0 };
	const struct catalogue *all = catalogue_get(&err);
	size_t i, j;

	(void)state;
	for (i = 0; i < all->tpu_count; i++) {
		const struct tpu *tpu = &all->tpus[i];

		for (j = 0; j < tpu->slice_count; j++) {
			const struct slice *slice = &tpu->slices[j];

			assert_int_equal(slice->count % slice->hosts, 0);
			assert_true(slice->cores == slice->chips ||
				    slice->cores == 2 * slice->chips);
			assert_true(!j || slice->count > slice[-1].count);
		}
		for (j = 0; j < tpu->zone_count; j++) {
			const struct tpu_zone *zone = &tpu->zones[j];

			assert_non_null(catalogue_zone(all, zone->name));
			assert_non_null(tpu_slice(tpu, zone->min));
			assert_non_null(tpu_slice(tpu, zone->max));
		}
	}
}

static void assert_regions(const struct catalogue *all,
			   const char *const *names, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		assert_non_null(catalogue_region(all, names[i], NULL));
}

/* Every name is explained in the catalogue. */
static void names_are_known(void **state)
{
	struct error err = { 0 };
	const struct catalogue *all = catalogue_get(&err);
	size_t i, j, k;

	(void)state;
	for (i = 0; i < all->tier_count; i++) {
		const struct tier *tier = &all->tiers[i];

		assert_non_null(
			catalogue_machine(all, tier->master_type, NULL));
	}
	for (i = 0; i < all->family_count; i++) {
		const struct machine_family *family = &all->families[i];

		for (j = 0; j < family->machine_count; j++) {
			const struct machine *one = &family->machines[j];

			assert_ptr_equal(
				catalogue_machine(all, one->name, NULL), one);
			assert_int_equal(!one->like, !family->legacy);
			if (one->like)
				assert_non_null(catalogue_machine(
					all, one->like, NULL));
			if (one->accelerator_type)
				assert_non_null(catalogue_accelerator(
					all, one->accelerator_type));
		}
	}
	for (i = 0; i < all->accelerator_count; i++) {
		const struct accelerator *one = &all->accelerators[i];

		assert_regions(all, one->regions, one->region_count);
		for (j = 0; j < one->fit_count; j++)
			for (k = 0; k < one->fits[j].machine_count; k++)
				assert_non_null(catalogue_machine(
					all, one->fits[j].machines[k], NULL));
	}
	for (i = 0; i < all->tpu_count; i++)
		assert_regions(all, all->tpus[i].regions,
			       all->tpus[i].region_count);
}

static void look_ups(void **state)
{
	struct error err = { 0 };
	const struct catalogue *all = catalogue_get(&err);
	const struct machine_family *family;
	const struct fit *fit;
	bool training;

	(void)state;
	assert_non_null(catalogue_machine(all, "complex_model_m", &family));
	assert_true(family->legacy);
	assert_null(catalogue_machine(all, "n1-standard-5", NULL));
	fit = accelerator_fit(catalogue_accelerator(all, "NVIDIA_TESLA_K80"),
			      "n1-standard-32");
	assert_true(fit_has(fit, 4));
	assert_false(fit_has(fit, 2));
	assert_null(
		accelerator_fit(catalogue_accelerator(all, "NVIDIA_TESLA_K80"),
				"n1-standard-96"));
	assert_string_equal(catalogue_zone(all, "us-central1-a")->name,
			    "us-central1");
	assert_null(catalogue_zone(all, "us-central1"));
	assert_non_null(catalogue_region(all, "us-east5", &training));
	assert_false(training);
	assert_int_equal(catalogue_runtime(all, "2.1")->tpu, TPU_SUPPORT_YES);
	assert_null(catalogue_runtime(all, "2.0"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(catalogue_is_read),
		cmocka_unit_test(entries_have_sources),
		cmocka_unit_test(slices_are_sound),
		cmocka_unit_test(names_are_known),
		cmocka_unit_test(look_ups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
