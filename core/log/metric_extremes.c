/* SPDX-License-Identifier: Apache-2.0 */
#include "core/log/metric_extremes.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/log/metric_series.h"

#define PARTS_MAX (METRIC_EXTREMES_MAX / 2)

/* Reduces `count` pairs to the least and the greatest point, the earlier one
 * first. */
static void merge(const struct metric_point *pairs, size_t count,
		  struct metric_point out[2])
{
	size_t least = 0, greatest = 0;

	for (size_t i = 1; i < 2 * count; i++) {
		if (pairs[i].value < pairs[least].value)
			least = i;
		if (pairs[i].value > pairs[greatest].value)
			greatest = i;
	}
	out[0] = pairs[least < greatest ? least : greatest];
	out[1] = pairs[least < greatest ? greatest : least];
}

static void halve(struct metric_extremes *all)
{
	struct metric_point pair[2];

	for (size_t i = 0; i < all->count / 2; i++) {
		merge(&all->pairs[4 * i], 2, pair);
		all->pairs[2 * i] = pair[0];
		all->pairs[2 * i + 1] = pair[1];
	}
	all->count /= 2;
	all->per *= 2;
}

void metric_extremes_add(struct metric_extremes *all,
			 const struct metric_point *point)
{
	struct metric_point three[4], *last;
	size_t n = all->count;

	if (!isfinite(point->value))
		return;
	if (!all->per)
		all->per = 1;
	if (all->seen++ % all->per) {
		last = &all->pairs[2 * (n - 1)];
		three[0] = last[0];
		three[1] = last[1];
		three[2] = three[3] = *point;
		merge(three, 2, last);
		return;
	}
	if (n == PARTS_MAX) {
		halve(all);
		n = all->count;
	} else if ((n & (n - 1)) == 0) {
		all->pairs = mem_grow(all->pairs, n ? 4 * n : 2,
				      sizeof(*all->pairs));
	}
	all->pairs[2 * n] = all->pairs[2 * n + 1] = *point;
	all->count++;
}

void metric_extremes_done(struct metric_extremes *all)
{
	free(all->pairs);
	*all = (struct metric_extremes){ 0 };
}

static bool is_same(const struct metric_point *a, const struct metric_point *b)
{
	return a->time_ms == b->time_ms && a->step == b->step &&
	       a->value == b->value;
}

size_t metric_extremes_points(const struct metric_extremes *all, size_t limit,
			      struct metric_point *out)
{
	/* Short series are returned point by point. */
	size_t parts = all->per <= 1 && all->count <= limit ? all->count
		       : all->count <= limit / 2            ? all->count
							    : limit / 2;
	size_t n = 0;

	for (size_t i = 0; i < parts; i++) {
		size_t from = i * all->count / parts;
		size_t to = (i + 1) * all->count / parts;
		struct metric_point pair[2];

		merge(&all->pairs[2 * from], to - from, pair);
		out[n++] = pair[0];
		if (!is_same(&pair[0], &pair[1]))
			out[n++] = pair[1];
	}
	return n;
}
