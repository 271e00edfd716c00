/* SPDX-License-Identifier: Apache-2.0 */
/* Curves as text: dots of Braille, or letters where there is only ASCII. */
#ifndef JOBRUN_PLOT_VIEW_H
#define JOBRUN_PLOT_VIEW_H

#include <stdbool.h>

#include "core/base/buf.h"
#include "core/log/metric_series.h"

struct plot_curve {
	char *label;
	const struct metric_series *series; /* with its extremes */
	int64_t from_ms; /* when its run, attempt or trial began */
};

struct plot_view {
	const char *name; /* of the metric */
	const struct plot_curve *curves;
	size_t count;
	int width, height; /* of all, axes and legend too */
	bool utf8;
	bool color;
};

void plot_text(const struct plot_view *view, struct buf *out);

#endif
