/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/page/chart.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/jobrun/page/html.h"
#include "core/base/alloc.h"

/* The size of the picture in its own units; it is scaled to the space
 * available. */
#define WIDE 2000
#define HIGH 1000
#define TICKS 6
#define COLORS 8
#define DASHES 4

struct span {
	double x0, x1, y0, y1;
	bool steps; /* x is the step, else seconds */
};

struct chart_drawing {
	const struct chart *chart;
	struct metric_point *points; /* of one curve at a time */
	struct span span;
	struct buf *out;
};

void chart_number(double value, char out[32])
{
	if (!isfinite(value))
		snprintf(out, 32, "-");
	else if (fabs(value) >= 100000 && fabs(value) < 1e15)
		snprintf(out, 32, "%.0f", value);
	else
		snprintf(out, 32, "%.5g", value);
}

/* Writes the classes for colour and dashes: "c3 d0". */
static void put_class(size_t style, struct buf *out)
{
	buf_printf(out, "c%zu d%zu", style % COLORS, style / COLORS % DASHES);
}

/* Finds the values of at most `max` ticks of an axis; returns how many. */
static size_t find_ticks(double from, double to, size_t max, double *out)
{
	double step, rest, first;
	size_t n = 0;

	if (!(to > from) || max < 2)
		return 0;
	step = pow(10, floor(log10((to - from) / (double)max)));
	rest = (to - from) / (double)max / step;
	step *= rest > 5 ? 10 : rest > 2 ? 5 : rest > 1 ? 2 : 1;
	first = ceil(from / step - 1e-9);
	while (n < max && (first + (double)n) * step <= to + step * 1e-9) {
		out[n] = (first + (double)n) * step;
		n++;
	}
	return n;
}

static double x_of(const struct chart_drawing *drawing,
		   const struct chart_curve *curve,
		   const struct metric_point *point)
{
	return drawing->span.steps
		       ? (double)point->step
		       : (double)(point->time_ms - curve->from_ms) / 1000;
}

static size_t read_curve(const struct chart_drawing *drawing,
			 const struct chart_curve *curve, size_t limit)
{
	return metric_extremes_points(&curve->series->extremes, limit,
				      drawing->points);
}

static bool all_have_steps(const struct chart_drawing *drawing)
{
	const struct chart *chart = drawing->chart;

	for (size_t i = 0; i < chart->count; i++) {
		size_t n = read_curve(drawing, &chart->curves[i], chart->drawn);

		for (size_t k = 0; k < n; k++)
			if (drawing->points[k].step < 0)
				return false;
	}
	return true;
}

static void find_span(struct chart_drawing *drawing)
{
	const struct chart *chart = drawing->chart;
	struct span *span = &drawing->span;
	bool any = false;

	*span = (struct span){ .steps = all_have_steps(drawing) };
	for (size_t i = 0; i < chart->count; i++) {
		const struct chart_curve *curve = &chart->curves[i];
		size_t n = read_curve(drawing, curve, chart->drawn);

		for (size_t k = 0; k < n; k++) {
			double x = x_of(drawing, curve, &drawing->points[k]);
			double y = drawing->points[k].value;

			span->x0 = any ? fmin(span->x0, x) : x;
			span->x1 = any ? fmax(span->x1, x) : x;
			span->y0 = any ? fmin(span->y0, y) : y;
			span->y1 = any ? fmax(span->y1, y) : y;
			any = true;
		}
	}
	if (span->x1 <= span->x0)
		span->x1 = span->x0 + 1;
	if (span->y1 <= span->y0) {
		span->y0 -= 1;
		span->y1 += 1;
	}
}

static int to_x(const struct span *span, double x)
{
	return (int)lround((x - span->x0) / (span->x1 - span->x0) * WIDE);
}

static int to_y(const struct span *span, double y)
{
	return (int)lround((span->y1 - y) / (span->y1 - span->y0) * HIGH);
}

static void put_curve(const struct chart_drawing *drawing,
		      const struct chart_curve *curve, struct buf *out)
{
	size_t n = read_curve(drawing, curve, drawing->chart->drawn);

	if (!n)
		return;
	buf_puts(out, "<polyline class=\"curve ");
	put_class(curve->style, out);
	buf_puts(out, "\" points=\"");
	for (size_t k = 0; k < n; k++)
		buf_printf(out, "%s%d,%d", k ? " " : "",
			   to_x(&drawing->span,
				x_of(drawing, curve, &drawing->points[k])),
			   to_y(&drawing->span, drawing->points[k].value));
	/* A single point is drawn as a dot. */
	if (n == 1)
		buf_printf(out, " %d,%d",
			   to_x(&drawing->span,
				x_of(drawing, curve, &drawing->points[0])) +
				   8,
			   to_y(&drawing->span, drawing->points[0].value));
	buf_puts(out, "\"/>\n");
}

/* Writes a time as "12:30" or "1:02:03". */
static void put_x(const struct span *span, double x, char out[32])
{
	long s = lround(x);

	if (span->steps || span->x1 - span->x0 < 10)
		chart_number(x, out);
	else if (s < 3600)
		snprintf(out, 32, "%ld:%02ld", s / 60, s % 60);
	else
		snprintf(out, 32, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60,
			 s % 60);
}

static void put_axes(const struct span *span, struct buf *out)
{
	double ticks[TICKS];
	char text[32];
	size_t n = find_ticks(span->y0, span->y1, TICKS, ticks);

	buf_puts(out, "<div class=\"ys\" aria-hidden=\"true\">");
	for (size_t i = 0; i < n; i++) {
		chart_number(ticks[i], text);
		buf_printf(out, "<span style=\"top:%.1f%%\">%s</span>",
			   to_y(span, ticks[i]) * 100.0 / HIGH, text);
	}
	buf_puts(out, "</div>\n<div class=\"xs\" aria-hidden=\"true\">");
	n = find_ticks(span->x0, span->x1, TICKS, ticks);
	for (size_t i = 0; i < n; i++) {
		put_x(span, ticks[i], text);
		buf_printf(out, "<span style=\"left:%.1f%%\">%s</span>",
			   to_x(span, ticks[i]) * 100.0 / WIDE, text);
	}
	buf_printf(out,
		   "</div>\n<div class=\"xname\" aria-hidden=\"true\">"
		   "%s</div>\n",
		   span->steps ? "step" : "time since the start");
}

static void put_grid(const struct span *span, struct buf *out)
{
	double ticks[TICKS];
	size_t n = find_ticks(span->y0, span->y1, TICKS, ticks);

	buf_puts(out, "<g class=\"grid\">");
	for (size_t i = 0; i < n; i++)
		buf_printf(out, "<path d=\"M0 %dH%d\"/>", to_y(span, ticks[i]),
			   WIDE);
	buf_puts(out, "</g>\n");
}

/* Writes for each point its step, its milliseconds since the start, and its
 * value; the first two as differences to the previous point. */
static void put_data(const struct chart_drawing *drawing, struct buf *out)
{
	const struct chart *chart = drawing->chart;

	buf_puts(out, "<script type=\"application/json\" class=\"data\">[");
	for (size_t i = 0; i < chart->count; i++) {
		const struct chart_curve *curve = &chart->curves[i];
		size_t n = read_curve(drawing, curve, chart->points);
		int64_t step = 0, time_ms = curve->from_ms;

		buf_printf(out, "%s\n[", i ? "," : "");
		for (size_t k = 0; k < n; k++) {
			const struct metric_point *at = &drawing->points[k];

			if (drawing->span.steps)
				buf_printf(out, "%s%" PRId64, k ? "," : "",
					   at->step - step);
			buf_printf(out, "%s%" PRId64 ",%.5g",
				   k || drawing->span.steps ? "," : "",
				   at->time_ms - time_ms, at->value);
			step = at->step;
			time_ms = at->time_ms;
		}
		buf_putc(out, ']');
	}
	buf_puts(out, "]</script>\n");
}

static void put_key(const struct chart *chart, const struct chart_curve *curve,
		    struct buf *out)
{
	const struct metric_series *series = curve->series;
	const struct metric_point *best = metric_best(chart->info, series);
	char text[32];

	buf_puts(out,
		 "<tr><th scope=\"row\"><svg class=\"key\" width=\"24\" "
		 "height=\"10\" aria-hidden=\"true\"><path class=\"curve ");
	put_class(curve->style, out);
	buf_puts(out, "\" d=\"M0 5H24\"/></svg> ");
	html_text(out, curve->label);
	chart_number(series->last.value, text);
	buf_printf(out, "</th><td>%s</td>", text);
	chart_number(best ? best->value : NAN, text);
	buf_printf(out, "<td>%s</td><td>%" PRIu64, text, series->count);
	if (series->broken)
		buf_printf(out, " (%" PRIu64 " not finite)", series->broken);
	buf_puts(out, "</td></tr>\n");
}

void chart_html(const struct chart *chart, struct buf *out)
{
	struct chart_drawing drawing = { .chart = chart };
	char from[32], to[32];

	drawing.points =
		mem_alloc((chart->points + 2) * sizeof(*drawing.points));
	find_span(&drawing);
	chart_number(drawing.span.y0, from);
	chart_number(drawing.span.y1, to);
	buf_printf(out,
		   "<section class=\"chart\" id=\"%s\" data-steps=\"%d\">"
		   "\n<h3>",
		   chart->id, drawing.span.steps);
	html_text(out, chart->name);
	buf_puts(out, "</h3>\n<div class=\"plot\">\n");
	put_axes(&drawing.span, out);
	buf_printf(out,
		   "<svg class=\"area\" viewBox=\"0 0 %d %d\" "
		   "preserveAspectRatio=\"none\" role=\"img\" "
		   "aria-label=\"",
		   WIDE, HIGH);
	html_text(out, chart->name);
	buf_printf(out,
		   ": %zu curve%s between %s and %s; the table below has "
		   "their values\">\n",
		   chart->count, chart->count == 1 ? "" : "s", from, to);
	put_grid(&drawing.span, out);
	for (size_t i = 0; i < chart->count; i++)
		put_curve(&drawing, &chart->curves[i], out);
	buf_puts(out, "</svg>\n</div>\n<div class=\"scroll keys\" "
		      "tabindex=\"0\" role=\"region\" aria-label=\"Curves of ");
	html_text(out, chart->name);
	buf_puts(out, "\">\n<table class=\"numbers\">\n<thead><tr>"
		      "<th scope=\"col\">Curve</th><th scope=\"col\">Last</th>"
		      "<th scope=\"col\">Best</th><th scope=\"col\">Points</th>"
		      "</tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < chart->count; i++)
		put_key(chart, &chart->curves[i], out);
	buf_puts(out, "</tbody></table></div>\n");
	put_data(&drawing, out);
	buf_puts(out, "</section>\n");
	free(drawing.points);
}
