/* SPDX-License-Identifier: Apache-2.0 */
#include "core/log/metric_series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/alloc.h"

#define METRICS_MAX 256 /* a bound for what patterns and spellings make */

struct metric_table {
	const struct log_source *sources;
	size_t count;
	struct metric_parser *parser; /* borrowed */
	struct metric_info *metrics;
	size_t metric_count;
	/* By source, then in the order of arrival. */
	struct metric_series **series;
	size_t *series_count;
	struct metric_carry (*places)[2]; /* by source and stream */
	bool keeps_extremes;
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

/* Returns METRICS_MAX if there are too many. */
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

static void add_state(struct metric_table *table, const struct log_line *line,
		      const char *text, size_t len, metric_sink *sink,
		      void *arg)
{
	size_t source = (size_t)(line->source - table->sources);
	struct metric_sample sample;

	if (!metric_parse(table->parser, &table->places[source][line->stream],
			  text, len, &sample))
		return;
	for (size_t i = 0; i < sample.count; i++) {
		struct metric_point point = {
			.time_ms = line->time_ms,
			.step = sample.step,
			.epoch = sample.epoch,
			.value = sample.values[i].value,
		};
		struct metric_series *series =
			find_series(table, source, &sample.values[i]);

		if (series)
			add_point(series, &point);
		if (series && table->keeps_extremes)
			metric_extremes_add(&series->extremes, &point);
	}
	if (sink)
		sink(arg, line, &sample);
}

void metric_table_line(struct metric_table *table, const struct log_line *line,
		       metric_sink *sink, void *arg)
{
	const char *p = line->text, *end = line->text + line->len;
	const char *stop;

	if (line->lost)
		return;
	/* Keras goes back over its bar with '\b', all others with '\r'. */
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

/* When the first and the last point of any task were. */
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
		else /* a part of the sum is none */
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
