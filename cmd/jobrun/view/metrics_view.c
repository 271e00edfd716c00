/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/view/metrics_view.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/base/sparkline.h"

#define CURVE_MAX 400
#define CURVE_MIN 8
#define TASKS_SHOWN 8 /* with more, only all together */
#define COLUMNS_BEFORE_CURVE 66
#define COLUMNS_IF_NARROW 38 /* without epoch, points and best */
#define LINE_CURVE 8

bool metrics_wanted(const struct metrics_view *view, const char *name)
{
	for (size_t i = 0; i < view->name_count; i++)
		if (!strcasecmp(view->names[i], name))
			return true;
	return !view->name_count;
}

/* Writes a number with five digits, enough to see changes, to fit into a
 * column. */
static void put_number(double value, char out[32])
{
	if (fabs(value) >= 100000 && fabs(value) < 1e15)
		snprintf(out, 32, "%.0f", value);
	else
		snprintf(out, 32, "%.5g", value);
}

static void put_whole(int64_t value, char out[32])
{
	if (value < 0)
		strcpy(out, "-");
	else
		snprintf(out, 32, "%" PRId64, value);
}

static void put_epoch(double epoch, char out[32])
{
	if (epoch < 0)
		strcpy(out, "-");
	else
		snprintf(out, 32, "%.4g", epoch);
}

struct row {
	const char *metric;
	const char *task;
	const struct metric_point *last; /* its place; NULL: none to show */
	uint64_t count;
	uint64_t broken;
	double value;
	double best;
	bool has_best;
	const double *curve;
	size_t curve_count;
	bool narrow; /* without epoch, points and best */
};

static void put_row(const struct row *row, int name_width, struct buf *out)
{
	char epoch[32] = "", step[32] = "", value[32], best[32] = "-";

	if (row->last) {
		put_epoch(row->last->epoch, epoch);
		put_whole(row->last->step, step);
	}
	put_number(row->value, value);
	if (row->has_best)
		put_number(row->best, best);
	if (row->narrow)
		buf_printf(out, "%-*s  %-12s %9s %10s  ", name_width,
			   row->metric, row->task, step, value);
	else
		buf_printf(out, "%-*s  %-12s %5s %9s %8" PRIu64 " %10s %10s  ",
			   name_width, row->metric, row->task, epoch, step,
			   row->count, value, best);
	sparkline_format(row->curve, row->curve_count, out);
	if (row->broken)
		buf_printf(out, "  (%" PRIu64 " not finite)", row->broken);
	buf_putc(out, '\n');
}

static size_t count_tasks(const struct metrics_view *view, size_t metric,
			  uint64_t *points, uint64_t *broken)
{
	size_t tasks = 0;

	*points = *broken = 0;
	for (size_t i = 0; i < view->source_count; i++) {
		const struct metric_series *series =
			metric_table_series(view->table, metric, i);

		if (!series)
			continue;
		tasks++;
		*points += series->count;
		*broken += series->broken;
	}
	return tasks;
}

static void put_metric(const struct metrics_view *view, size_t metric,
		       int name_width, size_t curve, bool narrow,
		       struct buf *out)
{
	const struct metric_info *info = metric_table_info(view->table, metric);
	double values[CURVE_MAX];
	struct row row = { .metric = info->name,
			   .curve = values,
			   .narrow = narrow };
	char task[64];
	size_t tasks = count_tasks(view, metric, &row.count, &row.broken);

	if (tasks > 1) {
		metric_table_total(view->table, metric, values, curve);
		snprintf(task, sizeof(task), "%zu: %s", tasks,
			 info->adds ? "sum" : "mean");
		row.task = task;
		row.value = values[curve - 1];
		row.curve_count = curve;
		put_row(&row, name_width, out);
		row.metric = "";
		if (tasks > TASKS_SHOWN && !view->all_tasks)
			return;
	}
	for (size_t i = 0; i < view->source_count; i++) {
		const struct metric_series *series =
			metric_table_series(view->table, metric, i);
		const struct metric_point *best;

		if (!series)
			continue;
		best = metric_best(info, series);
		snprintf(task, sizeof(task), "%s %d", series->source->type,
			 series->source->index);
		row.task = task;
		row.last = &series->last;
		row.count = series->count;
		row.broken = series->broken;
		row.value = series->last.value;
		row.has_best = best;
		row.best = best ? best->value : 0;
		row.curve_count = metric_series_means(series, values, curve);
		put_row(&row, name_width, out);
		row.metric = "";
	}
}

void metrics_text(const struct metrics_view *view, const struct app *app,
		  struct buf *out)
{
	size_t count = metric_table_count(view->table);
	int name_width = (int)strlen("METRIC");
	bool narrow;
	int curve;

	buf_printf(out, "%s, attempt %d: %s\n\n", view->run->job_id,
		   view->run->attempt, run_state_name(view->run->state));
	for (size_t i = 0; i < count; i++) {
		const char *name = metric_table_info(view->table, i)->name;

		if (metrics_wanted(view, name) &&
		    (int)strlen(name) > name_width)
			name_width = (int)strlen(name);
	}
	narrow = app->width < COLUMNS_BEFORE_CURVE + name_width + CURVE_MIN;
	curve = app->width - name_width -
		(narrow ? COLUMNS_IF_NARROW : COLUMNS_BEFORE_CURVE);
	if (curve > CURVE_MAX)
		curve = CURVE_MAX;
	if (curve < CURVE_MIN)
		curve = CURVE_MIN;
	buf_printf(out,
		   narrow ? "%-*s  TASK              STEP       LAST\n"
			  : "%-*s  TASK         EPOCH      STEP   POINTS       "
			    "LAST       BEST\n",
		   name_width, "METRIC");
	for (size_t i = 0; i < count; i++)
		if (metrics_wanted(view,
				   metric_table_info(view->table, i)->name))
			put_metric(view, i, name_width, (size_t)curve, narrow,
				   out);
}

static json_t *number_json(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *point_json(const struct metric_point *point)
{
	json_t *out = json_object();
	char time[40];

	time_format(point->time_ms, time, sizeof(time));
	json_put_text(out, "time", time);
	json_put(out, "epoch",
		 point->epoch >= 0 ? json_real(point->epoch) : json_null());
	json_put(out, "step",
		 point->step >= 0 ? json_integer(point->step) : json_null());
	json_put(out, "value", number_json(point->value));
	return out;
}

static json_t *series_json(const struct metric_info *info,
			   const struct metric_series *series)
{
	json_t *out = json_object();
	json_t *points = json_array();
	bool any = series->count > series->broken;
	const struct metric_point *best = metric_best(info, series);

	json_put_text(out, "type", series->source->type);
	json_put_int(out, "index", series->source->index);
	json_put_int(out, "count", (long long)series->count);
	json_put_int(out, "notFinite", (long long)series->broken);
	json_put(out, "last", point_json(&series->last));
	json_put(out, "best", best ? point_json(best) : json_null());
	json_put(out, "min", any ? point_json(&series->least) : json_null());
	json_put(out, "max", any ? point_json(&series->greatest) : json_null());
	json_put_int(out, "every", (long long)series->stride);
	for (size_t i = 0; i < series->kept; i++)
		json_array_append_new(points, point_json(&series->points[i]));
	json_put(out, "points", points);
	return out;
}

static json_t *total_json(const struct metrics_view *view, size_t metric)
{
	const struct metric_info *info = metric_table_info(view->table, metric);
	json_t *out = json_object();
	double last;
	size_t tasks = metric_table_total(view->table, metric, &last, 1);

	json_put_int(out, "tasks", (long long)tasks);
	json_put_text(out, "of", info->adds ? "sum" : "mean");
	json_put(out, "last", number_json(last));
	return out;
}

json_t *metrics_json(const struct metrics_view *view)
{
	static const char *const goals[] = { NULL, "minimize", "maximize" };
	json_t *out = json_object();
	json_t *metrics = json_array();

	json_put_int(out, "formatVersion", 1);
	json_put_text(out, "jobId", view->run->job_id);
	json_put_int(out, "attempt", view->run->attempt);
	json_put_text(out, "state", run_state_name(view->run->state));
	json_put(out, "metrics", metrics);
	for (size_t i = 0; i < metric_table_count(view->table); i++) {
		const struct metric_info *info =
			metric_table_info(view->table, i);
		json_t *one, *tasks;

		if (!metrics_wanted(view, info->name))
			continue;
		one = json_object();
		tasks = json_array();
		json_put_text(one, "name", info->name);
		json_put_text(one, "goal", goals[info->goal]);
		json_put(one, "total", total_json(view, i));
		json_put(one, "tasks", tasks);
		for (size_t k = 0; k < view->source_count; k++) {
			const struct metric_series *series =
				metric_table_series(view->table, i, k);

			if (series)
				json_array_append_new(
					tasks, series_json(info, series));
		}
		json_array_append_new(metrics, one);
	}
	return out;
}

void metrics_csv_head(struct buf *out)
{
	buf_puts(out, "time,task,index,epoch,step,metric,value\n");
}

/* Writes a cell of CSV, quoted if needed (RFC 4180). */
static void put_csv(const char *text, struct buf *out)
{
	if (!strpbrk(text, ",\"\r\n")) {
		buf_puts(out, text);
		return;
	}
	buf_putc(out, '"');
	for (; *text; text++) {
		if (*text == '"')
			buf_putc(out, '"');
		buf_putc(out, *text);
	}
	buf_putc(out, '"');
}

void metrics_csv_rows(const struct metrics_view *view,
		      const struct log_line *line,
		      const struct metric_sample *sample, struct buf *out)
{
	char time[40];

	time_format(line->time_ms, time, sizeof(time));
	for (size_t i = 0; i < sample->count; i++) {
		if (!metrics_wanted(view, sample->values[i].name))
			continue;
		buf_printf(out, "%s,%s,%d,", time, line->source->type,
			   line->source->index);
		if (sample->epoch >= 0)
			buf_printf(out, "%.15g", sample->epoch);
		buf_putc(out, ',');
		if (sample->step >= 0)
			buf_printf(out, "%" PRId64, sample->step);
		buf_putc(out, ',');
		put_csv(sample->values[i].name, out);
		buf_printf(out, ",%.15g\n", sample->values[i].value);
	}
}

/* Writes the place of the newest point of the metric shown first. */
static void put_newest_place(const struct metric_table *table, size_t sources,
			     struct buf *out)
{
	const struct metric_point *newest = NULL;
	char text[32];

	for (size_t i = 0; i < sources; i++) {
		const struct metric_series *series =
			metric_table_series(table, 0, i);

		if (series &&
		    (!newest || series->last.time_ms > newest->time_ms))
			newest = &series->last;
	}
	if (newest && newest->epoch >= 0) {
		put_epoch(newest->epoch, text);
		buf_printf(out, "epoch %s  ", text);
	}
	if (newest && newest->step >= 0)
		buf_printf(out, "step %" PRId64 "  ", newest->step);
}

void metrics_line(const struct metric_table *table, int width, struct buf *out)
{
	size_t count = metric_table_count(table);
	double values[LINE_CURVE];
	struct buf head = { 0 };
	char number[32];
	int used;

	if (!count)
		return;
	put_newest_place(table, metric_table_sources(table), &head);
	used = (int)head.len;
	for (size_t i = 0; i < count; i++) {
		const char *name = metric_table_info(table, i)->name;

		metric_table_total(table, i, values, LINE_CURVE);
		put_number(values[LINE_CURVE - 1], number);
		used += (int)(strlen(name) + strlen(number)) + LINE_CURVE + 4;
		if (used >= width)
			break;
		buf_printf(&head, "%s %s ", name, number);
		sparkline_format(values, LINE_CURVE, &head);
		buf_puts(&head, "  ");
	}
	buf_add(out, buf_text(&head), head.len);
	buf_done(&head);
}

void metrics_say_missed(const struct app *app,
			const struct metric_parser *parser)
{
	struct buf text = { 0 };

	if (parser && metric_parser_missed(parser, &text))
		app_say(app, "%s", buf_text(&text));
	buf_done(&text);
}
