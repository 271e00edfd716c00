/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/catalogue/catalogue_check.h"

#include <string.h>

#include "core/base/nearest.h"
#include "schema/catalogue/prices.h"

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"
#define NAMES_MAX 256

static bool consists_of(const char *text, const char *letters)
{
	return *text && !text[strspn(text, letters)];
}

/* Finds entries with the same name, which is the first member of every
 * entry. */
static int check_twins(const void *items, size_t count, size_t size,
		       const char *list, struct error *err)
{
	const char *at = items, *one, *other;
	size_t i, j;

	for (i = 0; i < count; i++)
		for (j = 0; j < i; j++) {
			memcpy(&one, at + i * size, sizeof(one));
			memcpy(&other, at + j * size, sizeof(other));
			if (!strcmp(one, other))
				return error_set(err, ERROR_INVALID,
						 "%s: '%s' appears twice", list,
						 one);
		}
	return 0;
}

static const struct accelerator *find_accelerator(const struct catalogue *all,
						  const struct catalogue *under,
						  const char *type)
{
	const struct accelerator *found = catalogue_accelerator(all, type);

	return found || !under ? found : catalogue_accelerator(under, type);
}

static int unknown_accelerator(const struct catalogue *all,
			       const struct catalogue *under,
			       const char *machine, const char *type,
			       struct error *err)
{
	const char *names[NAMES_MAX], *near;
	size_t i, n = 0;

	for (i = 0; i < all->accelerator_count && n < NAMES_MAX; i++)
		names[n++] = all->accelerators[i].type;
	for (i = 0; under && i < under->accelerator_count && n < NAMES_MAX; i++)
		names[n++] = under->accelerators[i].type;
	near = nearest_name(type, names, n);
	return error_set(err, ERROR_INVALID,
			 "machine '%s': no row of accelerators has '%s'%s%s%s",
			 machine, type, near ? "; did you mean '" : "",
			 near ? near : "", near ? "'?" : "");
}

static int check_machine(const struct catalogue *all,
			 const struct catalogue *under,
			 const struct machine *one, struct error *err)
{
	if (!consists_of(one->name, LOWER DIGITS "-_"))
		return error_set(err, ERROR_INVALID,
				 "machine '%s': use only lower-case letters, "
				 "digits, '-' and '_' in a name",
				 one->name);
	if (one->tpu_type && !one->tpu_chips)
		return error_set(err, ERROR_INVALID,
				 "machine '%s': tpuType needs tpuChips, the "
				 "number of its chips",
				 one->name);
	if ((!one->tpu_chips || one->vcpus || one->memory_gb != 0) &&
	    (!one->vcpus || !(one->memory_gb > 0)))
		return error_set(err, ERROR_INVALID,
				 "machine '%s': vcpus and memoryGb must be "
				 "more than 0",
				 one->name);
	if (!one->accelerator_type != !one->accelerator_count)
		return error_set(err, ERROR_INVALID,
				 "machine '%s': acceleratorType and "
				 "acceleratorCount go together",
				 one->name);
	if (one->accelerator_type &&
	    !find_accelerator(all, under, one->accelerator_type))
		return unknown_accelerator(all, under, one->name,
					   one->accelerator_type, err);
	return 0;
}

static int check_machines(const struct catalogue *all,
			  const struct catalogue *under, struct error *err)
{
	size_t i, j;

	for (i = 0; i < all->family_count; i++) {
		const struct machine_family *family = &all->families[i];

		if (check_twins(family->machines, family->machine_count,
				sizeof(*family->machines), "machines", err) < 0)
			return -1;
		for (j = 0; j < family->machine_count; j++)
			if (check_machine(all, under, &family->machines[j],
					  err) < 0)
				return -1;
	}
	return 0;
}

static int check_accelerators(const struct catalogue *all, struct error *err)
{
	size_t i, j, k;

	for (i = 0; i < all->accelerator_count; i++) {
		const struct accelerator *one = &all->accelerators[i];

		if (!consists_of(one->type, UPPER DIGITS "_"))
			return error_set(err, ERROR_INVALID,
					 "accelerator '%s': use only capitals, "
					 "digits and '_' in a type",
					 one->type);
		for (j = 0; j < one->fit_count; j++)
			for (k = 0; k < one->fits[j].count_count; k++)
				if (!one->fits[j].counts[k])
					return error_set(
						err, ERROR_INVALID,
						"accelerator '%s': a machine "
						"cannot have 0 of it",
						one->type);
	}
	return check_twins(all->accelerators, all->accelerator_count,
			   sizeof(*all->accelerators), "accelerators", err);
}

static int check_tpu(const struct tpu *tpu, struct error *err)
{
	size_t i;

	for (i = 0; i < tpu->slice_count; i++) {
		const struct slice *slice = &tpu->slices[i];

		if (!slice->count || !slice->hosts ||
		    slice->chips % slice->hosts || slice->cores % slice->chips)
			return error_set(err, ERROR_INVALID,
					 "slice '%s': %u cores, %u chips and "
					 "%u hosts do not divide",
					 slice->name, slice->cores,
					 slice->chips, slice->hosts);
	}
	for (i = 0; i < tpu->zone_count; i++)
		if (tpu->zones[i].min > tpu->zones[i].max)
			return error_set(err, ERROR_INVALID,
					 "TPU '%s': in zone '%s' min is more "
					 "than max",
					 tpu->type, tpu->zones[i].name);
	return check_twins(tpu->slices, tpu->slice_count, sizeof(*tpu->slices),
			   "slices", err);
}

static int check_regions(const struct catalogue *all, struct error *err)
{
	size_t i, j;

	for (i = 0; i < all->region_group_count; i++)
		for (j = 0; j < all->region_groups[i].region_count; j++) {
			const struct region *one =
				&all->region_groups[i].regions[j];

			if (!consists_of(one->name, LOWER DIGITS "-") ||
			    !consists_of(one->zones, LOWER))
				return error_set(err, ERROR_INVALID,
						 "region '%s': zones are the "
						 "letters of its zones, not "
						 "'%s'",
						 one->name, one->zones);
		}
	return 0;
}

int catalogue_check(const struct catalogue *all, const struct catalogue *under,
		    struct error *err)
{
	size_t i;

	if (check_machines(all, under, err) < 0 ||
	    check_accelerators(all, err) < 0 || check_regions(all, err) < 0)
		return -1;
	for (i = 0; i < all->tpu_count; i++)
		if (check_tpu(&all->tpus[i], err) < 0)
			return -1;
	if (!all->prices.currency != !all->prices.price_count)
		return error_set(err, ERROR_INVALID,
				 "currency and prices go together");
	return prices_check(&all->prices, err);
}
