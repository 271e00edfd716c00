/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/sparkline.h"

#include <math.h>

#include "core/base/alloc.h"

static const char *const levels[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };

#define LEVELS COUNT(levels)

void sparkline_format(const double *values, size_t count, struct buf *out)
{
	double least = INFINITY, greatest = -INFINITY;
	double span;
	size_t level;

	for (size_t i = 0; i < count; i++) {
		if (!isfinite(values[i]))
			continue;
		least = fmin(least, values[i]);
		greatest = fmax(greatest, values[i]);
	}
	/* Computed in halves, as the difference itself may be infinite. */
	span = greatest / 2 - least / 2;
	for (size_t i = 0; i < count; i++) {
		if (!isfinite(values[i])) {
			buf_putc(out, isnan(values[i]) ? ' ' : '!');
			continue;
		}
		level = LEVELS / 2 - 1;
		/* Ignore differences that are only rounding errors. */
		if (span > 1e-12 * fmax(fabs(least), fabs(greatest)))
			level = (size_t)((values[i] / 2 - least / 2) / span *
						 (double)(LEVELS - 1) +
					 0.5);
		buf_puts(out, levels[level < LEVELS ? level : LEVELS - 1]);
	}
}
