/* SPDX-License-Identifier: Apache-2.0 */
#include "core/catalogue.h"

#include <string.h>

const struct tier *catalogue_tier(const struct catalogue *all,
				  const char *name)
{
	size_t i;

	for (i = 0; i < all->tier_count; i++)
		if (!strcmp(all->tiers[i].name, name))
			return &all->tiers[i];
	return NULL;
}

const struct tpu *catalogue_tpu(const struct catalogue *all, const char *type)
{
	size_t i;

	for (i = 0; i < all->tpu_count; i++)
		if (!strcmp(all->tpus[i].type, type))
			return &all->tpus[i];
	return NULL;
}

const struct slice *tpu_slice(const struct tpu *tpu, unsigned count)
{
	size_t i;

	for (i = 0; i < tpu->slice_count; i++)
		if (tpu->slices[i].count == count)
			return &tpu->slices[i];
	return NULL;
}
