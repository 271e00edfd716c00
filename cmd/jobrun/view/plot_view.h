/* SPDX-License-Identifier: Apache-2.0 */
/* Plots curves as text: dots of Braille, or letters where only ASCII is
 * available. */
#ifndef JOBRUN_PLOT_VIEW_H
#define JOBRUN_PLOT_VIEW_H

#include <stdbool.h>

#include "core/base/buf.h"
#include "core/log/metric_series.h"

struct plot_curve {
	char *label;
	const struct metric_series *series; /* with its extremes */
	int64_t from_ms; /* the start of its run, attempt or trial */
};

struct plot_view {
	const char *name; /* of the metric */
	const struct plot_curve *curves;
	size_t count;
	int width, height; /* of the whole plot, including axes and legend */
	bool utf8;
	bool color;
};

void plot_text(const struct plot_view *view, struct buf *out);

#endif
