/* SPDX-License-Identifier: Apache-2.0 */
#include "core/log/metric_series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/clock.h"

#define METRICS_MAX 256 /* a limit, as patterns and spellings may make many */

struct metric_table {
	const struct log_source *sources;
	size_t count;
	struct metric_parser *parser; /* borrowed */
	struct metric_info *metrics;
	size_t metric_count;
	/* Grouped by source, then in the order of arrival. */
	struct metric_series **series;
	size_t *series_count;
	struct metric_carry (*places)[2]; /* by source and stream */
	bool keeps_extremes;
	/* The lines that wait for their patterns: the parser may already have
	 * the first ones. */
	struct metric_queue {
		struct waiting_line *items;
		size_t count, room;
		struct buf text; /* the text of all lines */
	} queue;
};

/* A state of a line. */
struct waiting_line {
	struct log_line line; /* without its text */
	size_t len;           /* the length of the text */
	metric_sink *sink;
	void *arg;
};

struct metric_table *metric_table_new(const struct log_source *sources,
				      size_t count,
				      struct metric_parser *parser)
{
	struct metric_table *table = mem_alloc(sizeof(*table));

	table->sources = sources;
	table->count = count;
	table->parser = parser;
	table->series = mem_alloc((count + 1) * sizeof(*table->series));
	table->series_count =
		mem_alloc((count + 1) * sizeof(*table->series_count));
	table->places = mem_alloc((count + 1) * sizeof(*table->places));
	for (size_t i = 0; i < count; i++)
		table->places[i][0].epoch = table->places[i][1].epoch = -1;
	return table;
}

void metric_table_free(struct metric_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->count; i++) {
		for (size_t k = 0; k < table->series_count[i]; k++) {
			free(table->series[i][k].points);
			metric_extremes_done(&table->series[i][k].extremes);
		}
		free(table->series[i]);
	}
	free(table->queue.items);
	buf_done(&table->queue.text);
	free(table->places);
	free(table->series_count);
	free(table->series);
	free(table->metrics);
	free(table);
}

void metric_table_keep_extremes(struct metric_table *table)
{
	table->keeps_extremes = true;
}

/* The metric's index; METRICS_MAX if there are too many. */
static size_t find_metric(struct metric_table *table,
			  const struct metric_value *value)
{
	struct metric_info *new;
	size_t i;

	for (i = 0; i < table->metric_count; i++)
		if (!strcasecmp(table->metrics[i].name, value->name))
			return i;
	if (i == METRICS_MAX)
		return i;
	if ((i & (i - 1)) == 0) /* full at each power of two */
		table->metrics = mem_grow(table->metrics, i ? 2 * i : 1,
					  sizeof(*table->metrics));
	new = &table->metrics[table->metric_count++];
	memcpy(new->name, value->name, sizeof(new->name));
	new->goal = value->goal;
	new->adds = value->adds;
	return i;
}

static struct metric_series *find_series(struct metric_table *table,
					 size_t source,
					 const struct metric_value *value)
{
	size_t count = table->series_count[source];
	struct metric_series *all = table->series[source];
	size_t metric;

	for (size_t i = 0; i < count; i++)
		if (!strcasecmp(table->metrics[all[i].metric].name,
				value->name))
			return &all[i];
	metric = find_metric(table, value);
	if (metric == METRICS_MAX)
		return NULL;
	all = mem_grow(all, count + 1, sizeof(*all));
	all[count] = (struct metric_series){
		.metric = metric,
		.source = &table->sources[source],
		.stride = 1,
	};
	table->series[source] = all;
	table->series_count[source]++;
	return &all[count];
}

static void keep_point(struct metric_series *series,
		       const struct metric_point *point)
{
	size_t n = series->kept;

	if (series->count % series->stride)
		return;
	if (n == METRIC_POINTS_MAX) {
		for (n = 0; n < METRIC_POINTS_MAX / 2; n++)
			series->points[n] = series->points[2 * n];
		series->stride *= 2;
		series->kept = n;
		if (series->count % series->stride)
			return;
	} else if ((n & (n - 1)) == 0) {
		series->points = mem_grow(series->points, n ? 2 * n : 1,
					  sizeof(*series->points));
	}
	series->points[series->kept++] = *point;
}

static void add_point(struct metric_series *series,
		      const struct metric_point *point)
{
	bool first = series->count == series->broken;

	keep_point(series, point);
	series->count++;
	series->last = *point;
	if (!isfinite(point->value)) {
		series->broken++;
		return;
	}
	if (first || point->value < series->least.value)
		series->least = *point;
	if (first || point->value > series->greatest.value)
		series->greatest = *point;
}

static struct metric_carry *place_of(const struct metric_table *table,
				     const struct log_line *line)
{
	return &table->places[line->source - table->sources][line->stream];
}

static void add_sample(struct metric_table *table, const struct log_line *line,
		       const struct metric_sample *sample, metric_sink *sink,
		       void *arg)
{
	size_t source = (size_t)(line->source - table->sources);

	for (size_t i = 0; i < sample->count; i++) {
		struct metric_point point = {
			.time_ms = line->time_ms,
			.step = sample->step,
			.epoch = sample->epoch,
			.value = sample->values[i].value,
		};
		struct metric_series *series =
			find_series(table, source, &sample->values[i]);

		if (series)
			add_point(series, &point);
		if (series && table->keeps_extremes)
			metric_extremes_add(&series->extremes, &point);
	}
	if (sink)
		sink(arg, line, sample);
}

/* ---- lines that wait for their patterns -------------------------------- */

static void enqueue(struct metric_table *table, const struct waiting_line *one,
		    const char *text)
{
	struct metric_queue *queue = &table->queue;

	if (queue->count == queue->room) {
		queue->room = queue->room ? queue->room * 2 : 64;
		queue->items = mem_grow(queue->items, queue->room,
					sizeof(*queue->items));
	}
	queue->items[queue->count++] = *one;
	buf_add(&queue->text, text, one->len);
}

/* Gives the parser as many of the first lines as it accepts. */
static void begin_batch(struct metric_table *table)
{
	const struct metric_queue *queue = &table->queue;
	const char *text = queue->text.data;

	for (size_t i = 0; i < queue->count; i++) {
		if (!metric_parser_add(table->parser, text,
				       queue->items[i].len))
			break;
		text += queue->items[i].len;
	}
}

/* Takes the parser's results; or if it accepted no line, handles one that needs
 * no patterns. */
static void end_batch(struct metric_table *table)
{
	struct metric_queue *queue = &table->queue;
	size_t count = metric_parser_added(table->parser);
	size_t n = count ? count : 1, used = 0;
	struct metric_sample sample;

	for (size_t i = 0; i < n; i++) {
		const struct waiting_line *one = &queue->items[i];
		struct metric_carry *place = place_of(table, &one->line);
		size_t found = count ? metric_parser_take(table->parser, i,
							  place, &sample)
				     : metric_parse(table->parser, place,
						    queue->text.data + used,
						    one->len, &sample);

		used += one->len;
		if (found)
			add_sample(table, &one->line, &sample, one->sink,
				   one->arg);
	}
	metric_parser_clear(table->parser);
	queue->count -= n;
	memmove(queue->items, queue->items + n,
		queue->count * sizeof(*queue->items));
	buf_drop(&queue->text, used);
}

bool metric_table_settle(struct metric_table *table, int64_t wait_ms)
{
	int64_t until_ms = wait_ms < 0 ? 0 : time_monotonic_ms() + wait_ms;

	while (table->queue.count) {
		if (wait_ms > 0) {
			wait_ms = until_ms - time_monotonic_ms();
			wait_ms = wait_ms < 0 ? 0 : wait_ms;
		}
		if (!metric_parser_added(table->parser))
			begin_batch(table);
		if (!metric_parser_match(table->parser, wait_ms))
			return false;
		end_batch(table);
	}
	return true;
}

size_t metric_table_waiting(const struct metric_table *table)
{
	return table->queue.text.len;
}

static void add_state(struct metric_table *table, const struct log_line *line,
		      const char *text, size_t len, metric_sink *sink,
		      void *arg)
{
	struct metric_sample sample;

	if (len > METRIC_LINE_MAX)
		len = METRIC_LINE_MAX;
	if (len && metric_parser_has_patterns(table->parser)) {
		struct waiting_line one = { *line, len, sink, arg };

		one.line.text = NULL;
		one.line.len = 0;
		enqueue(table, &one, text);
	} else if (metric_parse(table->parser, place_of(table, line), text, len,
				&sample)) {
		add_sample(table, line, &sample, sink, arg);
	}
}

void metric_table_line(struct metric_table *table, const struct log_line *line,
		       metric_sink *sink, void *arg)
{
	const char *p = line->text, *end = line->text + line->len;
	const char *stop;

	if (line->lost)
		return;
	if (table->queue.text.len > METRIC_WAITING_MAX)
		metric_table_settle(table, -1);
	/* Keras rewrites its bar with '\b', all others use '\r'. */
	for (; p < end; p = stop + 1) {
		stop = line->plain ? NULL : memchr(p, '\r', (size_t)(end - p));
		if (!stop)
			stop = end;
		while (p < stop) {
			const char *back = memchr(p, '\b', (size_t)(stop - p));

			if (!back)
				back = stop;
			add_state(table, line, p, (size_t)(back - p), sink,
				  arg);
			p = back;
			while (p < stop && *p == '\b')
				p++;
		}
	}
}

size_t metric_table_sources(const struct metric_table *table)
{
	return table->count;
}

size_t metric_table_count(const struct metric_table *table)
{
	return table->metric_count;
}

const struct metric_info *metric_table_info(const struct metric_table *table,
					    size_t metric)
{
	return &table->metrics[metric];
}

const struct metric_series *
metric_table_series(const struct metric_table *table, size_t metric,
		    size_t source)
{
	for (size_t i = 0; i < table->series_count[source]; i++)
		if (table->series[source][i].metric == metric)
			return &table->series[source][i];
	return NULL;
}

const struct metric_point *metric_best(const struct metric_info *info,
				       const struct metric_series *series)
{
	if (info->goal == METRIC_NEUTRAL || series->count == series->broken)
		return NULL;
	return info->goal == METRIC_LOWER ? &series->least : &series->greatest;
}

/* The times of the first and the last point of any task. */
static bool find_span(const struct metric_table *table, size_t metric,
		      int64_t *from, int64_t *to)
{
	bool found = false;

	for (size_t i = 0; i < table->count; i++) {
		const struct metric_series *series =
			metric_table_series(table, metric, i);

		if (!series)
			continue;
		if (!found || series->points[0].time_ms < *from)
			*from = series->points[0].time_ms;
		if (!found || series->last.time_ms > *to)
			*to = series->last.time_ms;
		found = true;
	}
	return found;
}

size_t metric_table_total(const struct metric_table *table, size_t metric,
			  double *values, size_t count)
{
	double *sums = mem_alloc((count + 1) * sizeof(*sums));
	size_t *given = mem_alloc((count + 1) * sizeof(*given));
	int64_t from = 0, to = 0;
	size_t tasks = 0;

	find_span(table, metric, &from, &to);
	for (size_t i = 0; i < table->count; i++) {
		const struct metric_series *series =
			metric_table_series(table, metric, i);
		size_t at = 0;

		if (!series)
			continue;
		tasks++;
		for (size_t k = 0; k < count; k++) {
			int64_t time_ms = from + (to - from) *
							 (int64_t)(k + 1) /
							 (int64_t)count;

			while (at < series->kept &&
			       series->points[at].time_ms <= time_ms)
				at++;
			if (!at)
				continue;
			sums[k] += k + 1 == count
					   ? series->last.value
					   : series->points[at - 1].value;
			given[k]++;
		}
	}
	for (size_t k = 0; k < count; k++) {
		if (!given[k])
			values[k] = NAN;
		else if (!table->metrics[metric].adds)
			values[k] = sums[k] / (double)given[k];
		else /* a partial sum is not a value */
			values[k] = given[k] == tasks ? sums[k] : NAN;
	}
	free(given);
	free(sums);
	return tasks;
}

size_t metric_series_means(const struct metric_series *series, double *values,
			   size_t count)
{
	size_t n = series->kept < count ? series->kept : count;

	for (size_t k = 0; k < n; k++) {
		size_t from = k * series->kept / n;
		size_t to = (k + 1) * series->kept / n;
		double sum = 0;

		for (size_t i = from; i < to; i++)
			sum += series->points[i].value;
		values[k] = sum / (double)(to - from);
	}
	return n;
}
