/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/page/trials_page.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/jobrun/page/chart.h"
#include "cmd/jobrun/page/html.h"
#include "cmd/jobrun/view/trials.h"
#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/base/units.h"

#define WIDE 2000
#define HIGH 1000
#define EDGE 40 /* margin above and below an axis */
#define RANKS 5 /* shades, from best to worst */

/* One of the parallel axes: a parameter, or as the last one the metric. */
struct parallel_axis {
	const struct parameter_spec *param; /* NULL: the metric */
	const char *name;
	double from, to; /* logarithms if `log` */
	bool log;
	const char **values; /* of a categorical axis, each once */
	size_t value_count;
};

struct parallel {
	const struct run_story *story;
	struct arena *mem;
	const struct trial_record **order; /* best first */
	size_t count;
	json_t **parameters; /* of each trial, in that order */
	struct parallel_axis *axes;
	size_t axis_count;
};

static int by_worth(const void *a, const void *b, void *arg)
{
	const struct trial_record *x = *(const struct trial_record *const *)a;
	const struct trial_record *y = *(const struct trial_record *const *)b;
	double sign = *(double *)arg;

	if (isnan(x->value) || isnan(y->value))
		return isnan(x->value) != isnan(y->value)
			       ? isnan(x->value) - isnan(y->value)
			       : x->number - y->number;
	if (x->value != y->value)
		return sign * x->value > sign * y->value ? -1 : 1;
	return x->number - y->number;
}

static const char *text_of(const struct parallel *all, size_t trial,
			   const struct parallel_axis *axis)
{
	return json_get_text(all->parameters[trial], axis->name, "");
}

/* Returns the position on an axis, NaN if the trial has none. */
static double number_of(const struct parallel *all, size_t trial,
			const struct parallel_axis *axis)
{
	const char *text;
	char *end;
	double value;

	if (!axis->param)
		return all->order[trial]->value;
	text = text_of(all, trial, axis);
	if (axis->values) {
		for (size_t i = 0; i < axis->value_count; i++)
			if (!strcmp(axis->values[i], text))
				return (double)i;
		return NAN;
	}
	value = strtod(text, &end);
	if (end == text || *end)
		return NAN;
	return axis->log ? log10(value) : value;
}

static void find_values(struct parallel *all, struct parallel_axis *axis)
{
	const struct strings *values = &axis->param->categorical_values;

	axis->values =
		arena_alloc(all->mem, (values->count + 1) * sizeof(char *));
	for (size_t i = 0; i < values->count; i++)
		axis->values[axis->value_count++] = values->items[i];
}

static void span_axis(struct parallel *all, struct parallel_axis *axis)
{
	bool any = false;

	for (size_t i = 0; i < all->count; i++) {
		double value = number_of(all, i, axis);

		if (!isfinite(value))
			continue;
		axis->from = any ? fmin(axis->from, value) : value;
		axis->to = any ? fmax(axis->to, value) : value;
		any = true;
	}
	if (axis->values) {
		axis->from = 0;
		axis->to = (double)axis->value_count - 1;
	}
	if (axis->to <= axis->from) {
		axis->from -= 1;
		axis->to += 1;
	}
}

static void find_axes(struct parallel *all)
{
	const struct hyperparameter_spec *spec = all->story->tuning;
	const struct parameter_spec *params = spec->params.items;

	all->axis_count = spec->params.count + 1;
	all->axes = arena_alloc(all->mem, all->axis_count * sizeof(*all->axes));
	for (size_t i = 0; i < all->axis_count; i++) {
		struct parallel_axis *axis = &all->axes[i];

		if (i < spec->params.count) {
			axis->param = &params[i];
			axis->name = params[i].parameter_name;
			axis->log = params[i].scale_type == SCALE_LOG;
			if (params[i].type == PARAMETER_CATEGORICAL)
				find_values(all, axis);
		} else {
			axis->name = spec->metric_tag;
		}
		span_axis(all, axis);
	}
}

static int to_y(const struct parallel_axis *axis, double value)
{
	return (int)lround(EDGE + (axis->to - value) / (axis->to - axis->from) *
					  (HIGH - 2 * EDGE));
}

static double to_x(const struct parallel *all, size_t axis)
{
	return (double)axis / (double)(all->axis_count - 1);
}

static void put_line(const struct parallel *all, size_t trial, struct buf *out)
{
	size_t rank = trial * RANKS / all->count;
	bool any = false;

	buf_printf(out,
		   "<polyline class=\"line r%zu%s\" data-trial=\"%d\" "
		   "points=\"",
		   rank, trial ? "" : " best", all->order[trial]->number);
	for (size_t i = 0; i < all->axis_count; i++) {
		double value = number_of(all, trial, &all->axes[i]);

		if (!isfinite(value))
			continue;
		buf_printf(out, "%s%ld,%d", any ? " " : "",
			   lround(to_x(all, i) * WIDE),
			   to_y(&all->axes[i], value));
		any = true;
	}
	buf_puts(out, "\"/>\n");
}

static void put_end(const struct parallel_axis *axis, bool top, struct buf *out)
{
	double value = top ? axis->to : axis->from;
	char text[32];

	if (axis->values) {
		html_text(
			out,
			axis->value_count
				? axis->values[top ? axis->value_count - 1 : 0]
				: "");
		return;
	}
	chart_number(axis->log ? pow(10, value) : value, text);
	buf_puts(out, text);
}

static void put_picture(const struct parallel *all, struct buf *out)
{
	buf_puts(out, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
		      "aria-label=\"Parallel coordinates of the trials\">\n"
		      "<div class=\"parallel\"><div class=\"tops\" "
		      "aria-hidden=\"true\">");
	for (size_t i = 0; i < all->axis_count; i++) {
		buf_printf(out, "<span style=\"left:%.2f%%\"><b>",
			   to_x(all, i) * 100);
		html_text(out, all->axes[i].name);
		buf_puts(out, "</b><br>");
		put_end(&all->axes[i], true, out);
		buf_puts(out, "</span>");
	}
	buf_printf(out,
		   "</div>\n<svg viewBox=\"0 0 %d %d\" "
		   "preserveAspectRatio=\"none\" role=\"img\" "
		   "aria-label=\"Each trial as a line over its "
		   "hyperparameters to its result; the table below has "
		   "the values\">\n",
		   WIDE, HIGH);
	for (size_t i = 0; i < all->axis_count; i++)
		buf_printf(out, "<path class=\"axis\" d=\"M%ld 0V%d\"/>",
			   lround(to_x(all, i) * WIDE), HIGH);
	buf_putc(out, '\n');
	for (size_t i = all->count; i-- > 0;)
		put_line(all, i, out);
	buf_puts(out, "</svg>\n<div class=\"bottoms\" aria-hidden=\"true\">");
	for (size_t i = 0; i < all->axis_count; i++) {
		buf_printf(out, "<span style=\"left:%.2f%%\">",
			   to_x(all, i) * 100);
		put_end(&all->axes[i], false, out);
		buf_puts(out, "</span>");
	}
	buf_puts(out, "</div></div></div>\n");
}

static void put_cell(const char *text, struct buf *out)
{
	double value;
	char shorter[32], *end;

	value = strtod(text, &end);
	buf_puts(out, "<td>");
	if (*text && !*end) {
		chart_number(value, shorter);
		html_text(out, shorter);
	} else {
		html_text(out, text);
	}
	buf_puts(out, "</td>");
}

static void put_row(const struct parallel *all, size_t at, struct buf *out)
{
	const struct trial_record *trial = all->order[at];
	char value[32], time[32] = "-";
	bool best =
		trial == trials_best(&all->story->trials, all->story->tuning);

	chart_number(trial->value, value);
	if (trial->start_time_ms)
		duration_format((long)(((trial->end_time_ms ? trial->end_time_ms
							    : time_now_ms()) -
					trial->start_time_ms) /
				       1000),
				time, sizeof(time));
	buf_printf(out,
		   "<tr data-trial=\"%d\"%s><th scope=\"row\">%d%s</th>"
		   "<td class=\"state %s\">%s%s</td><td>%s</td><td>",
		   trial->number, best ? " class=\"best\"" : "", trial->number,
		   best ? " (best)" : "", run_state_name(trial->state),
		   run_state_name(trial->state), trial->early ? " (early)" : "",
		   value);
	if (trial->step >= 0)
		buf_printf(out, "%" PRId64, trial->step);
	buf_printf(out, "</td><td>%s</td>", time);
	for (size_t i = 0; i + 1 < all->axis_count; i++)
		put_cell(text_of(all, at, &all->axes[i]), out);
	buf_puts(out, "<td>");
	if (trial->error && !trial->early)
		html_text(out, trial->error);
	buf_puts(out, "</td></tr>\n");
}

static void put_table(const struct parallel *all, struct buf *out)
{
	buf_puts(out, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
		      "aria-label=\"Table of the trials\">\n"
		      "<table class=\"numbers trials\"><thead><tr>"
		      "<th scope=\"col\">Trial</th><th scope=\"col\">State</th>"
		      "<th scope=\"col\">");
	html_text(out, all->story->tuning->metric_tag);
	buf_puts(out, "</th><th scope=\"col\">Step</th>"
		      "<th scope=\"col\">Time</th>");
	for (size_t i = 0; i + 1 < all->axis_count; i++) {
		buf_puts(out, "<th scope=\"col\">");
		html_text(out, all->axes[i].name);
		buf_puts(out, "</th>");
	}
	buf_puts(out, "<th scope=\"col\">Words</th></tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < all->count; i++)
		put_row(all, i, out);
	buf_puts(out, "</tbody></table></div>\n");
}

void trials_html(const struct run_story *story, const char *id, struct buf *out)
{
	double sign = story->tuning->goal == GOAL_MINIMIZE ? -1 : 1;
	struct parallel all = { .story = story,
				.mem = arena_new(),
				.count = story->trials.count };
	struct error ignored;

	all.order = arena_alloc(all.mem, all.count * sizeof(*all.order));
	all.parameters =
		arena_alloc(all.mem, all.count * sizeof(*all.parameters));
	for (size_t i = 0; i < all.count; i++)
		all.order[i] = &story->trials.items[i];
	qsort_r(all.order, all.count, sizeof(*all.order), by_worth, &sign);
	for (size_t i = 0; i < all.count; i++)
		all.parameters[i] = json_read(all.order[i]->parameters,
					      strlen(all.order[i]->parameters),
					      "store", &ignored);
	find_axes(&all);
	buf_printf(out,
		   "<section class=\"tuning\" id=\"%s-trials\">\n"
		   "<h4>Trials</h4>\n",
		   id);
	put_picture(&all, out);
	put_table(&all, out);
	buf_puts(out, "</section>\n");
	for (size_t i = 0; i < all.count; i++)
		json_decref(all.parameters[i]);
	arena_free(all.mem);
}
