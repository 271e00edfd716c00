/* SPDX-License-Identifier: Apache-2.0 */
/* The catalogue that is compiled in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "schema/catalogue.h"

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

static void entries_are_sound(void **state)
{
	struct error err = { 0 };
	const struct catalogue *all = catalogue_get(&err);
	size_t i, j;

	(void)state;
	for (i = 0; i < all->tier_count; i++)
		assert_non_null(strstr(all->tiers[i].source, ", 20"));
	for (i = 0; i < all->tpu_count; i++) {
		const struct tpu *tpu = &all->tpus[i];

		assert_non_null(strstr(tpu->source, ", 20"));
		for (j = 0; j < tpu->slice_count; j++) {
			const struct slice *slice = &tpu->slices[j];

			assert_int_equal(slice->count % slice->hosts, 0);
			assert_true(!j || slice->count > slice[-1].count);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(catalogue_is_read),
		cmocka_unit_test(entries_are_sound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
