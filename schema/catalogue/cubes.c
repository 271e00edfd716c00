/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/catalogue/cubes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"

#define CUBES_MAX 4096
#define SIDE_MAX 64 /* in cubes; 256 chips */
#define SIDE_CHIPS 4
#define CUBE_CHIPS (SIDE_CHIPS * SIDE_CHIPS * SIDE_CHIPS)
#define HOST_CHIPS 4 /* 2x2x1 */

struct box {
	unsigned x, y, z; /* in cubes, ascending */
};

/* Finds the shape of a number of cubes whose longest side is shortest. */
static bool find_shape(unsigned cubes, struct box *out)
{
	unsigned x, y, z, least = SIDE_MAX + 1;

	for (x = 1; x * x * x <= cubes; x++) {
		for (y = x; cubes % x == 0 && x * y * y <= cubes; y++) {
			z = cubes / x / y;
			/* The last shape with this side has the longest other
			 * sides. */
			if (x * y * z != cubes || z > least || z > SIDE_MAX)
				continue;
			*out = (struct box){ x, y, z };
			least = z;
		}
	}
	return least <= SIDE_MAX;
}

static char *topology_of(const struct box *shape, bool in_hosts)
{
	unsigned x = shape->x * SIDE_CHIPS, y = shape->y * SIDE_CHIPS;
	unsigned z = shape->z * SIDE_CHIPS;

	return in_hosts ? mem_printf("%u,%u,%u", x / 2, y / 2, z)
			: mem_printf("%ux%ux%u", x, y, z);
}

void slices_of_cubes(struct tpu *tpu)
{
	const struct slice *first = tpu->slices;
	unsigned cubes = tpu->cubes < CUBES_MAX ? tpu->cubes : CUBES_MAX, n;
	struct slice *slices;
	struct box shape;

	if (!cubes || !first->chips)
		return;
	slices = mem_alloc((tpu->slice_count + cubes) * sizeof(*slices));
	memcpy(slices, first, tpu->slice_count * sizeof(*slices));
	free((void *)tpu->slices);
	tpu->slices = slices;
	for (n = 1; n <= cubes; n++) {
		struct slice *one = &slices[tpu->slice_count];

		if (!find_shape(n, &shape))
			continue;
		one->chips = n * CUBE_CHIPS;
		one->hosts = one->chips / HOST_CHIPS;
		one->cores = one->chips * (slices->cores / slices->chips);
		one->count = one->chips * slices->count / slices->chips;
		one->name =
			mem_printf("%.*s-%u", (int)strcspn(slices->name, "-"),
				   slices->name, one->count);
		one->topology =
			topology_of(&shape, strchr(slices->topology, ','));
		tpu->slice_count++;
	}
}
