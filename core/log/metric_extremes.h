/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shape of a series in bounded memory: the least and the greatest point of
 * each of its equal parts, so that no peak is lost however long the series is.
 */
#ifndef JOBRUN_METRIC_EXTREMES_H
#define JOBRUN_METRIC_EXTREMES_H

#include <stddef.h>
#include <stdint.h>

#define METRIC_EXTREMES_MAX 10000 /* points */

struct metric_point;

struct metric_extremes {
	struct metric_point *pairs; /* for each part the earlier point first */
	size_t count;               /* of parts */
	uint64_t per;               /* points in a part */
	uint64_t seen;
};

/* Ignores values that are not finite. */
void metric_extremes_add(struct metric_extremes *all,
			 const struct metric_point *point);
void metric_extremes_done(struct metric_extremes *all);

/* Fills in at most `limit` points (2 or more) in the order of time; `out` has
 * room for them.  Returns their number. */
size_t metric_extremes_points(const struct metric_extremes *all, size_t limit,
			      struct metric_point *out);

#endif
