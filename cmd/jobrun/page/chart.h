/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line chart: a picture that is complete without a script, a table of the
 * curves below it, and their points as data, from which the script redraws.
 */
#ifndef JOBRUN_CHART_H
#define JOBRUN_CHART_H

#include "core/base/buf.h"
#include "core/log/metric_series.h"

struct chart_curve {
	const char *label;
	const struct metric_series *series; /* with its extremes */
	int64_t from_ms; /* the start of its run, attempt or trial */
	/* curves with the same value share colour and dashes */
	size_t style;
};

struct chart {
	const char *name; /* of the metric */
	const char *id;   /* of the element, unique in the page */
	const struct metric_info *info;
	const struct chart_curve *curves;
	size_t count;
	size_t points; /* the most points of a curve in the data */
	size_t drawn;  /* the most points in the picture */
};

void chart_html(const struct chart *chart, struct buf *out);

/* A short number for people: five digits. */
void chart_number(double value, char out[32]);

#endif
