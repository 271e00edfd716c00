/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shape of a series in bounded memory: of each of its equal parts the least
 * and the greatest point, so that no peak is lost however long it is.
 */
#ifndef JOBRUN_METRIC_EXTREMES_H
#define JOBRUN_METRIC_EXTREMES_H

#include <stddef.h>
#include <stdint.h>

#define METRIC_EXTREMES_MAX 10000 /* points */

struct metric_point;

struct metric_extremes {
	struct metric_point *pairs; /* of each part the earlier one first */
	size_t count;               /* of parts */
	uint64_t per;               /* points in a part */
	uint64_t seen;
};

/* A value that is not finite is left out. */
void metric_extremes_add(struct metric_extremes *all,
			 const struct metric_point *point);
void metric_extremes_done(struct metric_extremes *all);

/* At most `limit` points (2 or more) in the order of their time; `out` has
 * room for them.  Returns how many. */
size_t metric_extremes_points(const struct metric_extremes *all, size_t limit,
			      struct metric_point *out);

#endif
