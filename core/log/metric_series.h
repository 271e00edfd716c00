/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects the metrics that the tasks of a run printed, in bounded memory: a
 * long series keeps every second, fourth ... point, while its count and its
 * last, least and greatest values stay exact.
 */
#ifndef JOBRUN_METRIC_SERIES_H
#define JOBRUN_METRIC_SERIES_H

#include <stddef.h>
#include <stdint.h>

#include "core/log/log.h"
#include "core/log/metric.h"
#include "core/log/metric_extremes.h"

#define METRIC_POINTS_MAX 512 /* points of a series that are kept */
#define METRIC_WAITING_MAX ((size_t)256 << 10)

struct metric_point {
	int64_t time_ms;
	int64_t step; /* -1: not known */
	double epoch; /* -1: not known */
	double value;
};

/* One metric of one task. */
struct metric_series {
	size_t metric; /* its index among the table's metrics */
	const struct log_source *source;
	uint64_t count;  /* of all points, kept or not */
	uint64_t broken; /* how many of them are NaN or infinite */
	/* The following cover only finite values and are valid if count >
	 * broken, but `last` is always the last. */
	struct metric_point last;
	struct metric_point least;
	struct metric_point greatest;
	struct metric_point *points; /* every `stride`-th */
	size_t kept;
	size_t stride;
	struct metric_extremes extremes; /* if the table keeps extremes */
};

struct metric_info {
	char name[METRIC_NAME_SIZE]; /* as first spelt */
	enum metric_goal goal;
	bool adds;
};

struct metric_table;

/* Borrows the sources. */
struct metric_table *metric_table_new(const struct log_source *sources,
				      size_t count,
				      struct metric_parser *parser);
/* does not free the parser */
void metric_table_free(struct metric_table *table);
/* From now on each series also keeps its extremes. */
void metric_table_keep_extremes(struct metric_table *table);

/*
 * Adds the values of a line of one of the sources; if the line was rewritten,
 * those of each of its states.  Each sample also goes to the sink (NULL: none).
 * If the job has its own patterns, this may happen later, in the same order:
 * call metric_table_settle() before reading the table.
 */
typedef void metric_sink(void *arg, const struct log_line *line,
			 const struct metric_sample *sample);
void metric_table_line(struct metric_table *table, const struct log_line *line,
		       metric_sink *sink, void *arg);

/* Adds the lines that still wait for their patterns.  False if that takes
 * longer than `wait_ms` (-1: no limit): then call it again. */
bool metric_table_settle(struct metric_table *table, int64_t wait_ms);
/* The number of bytes of waiting lines.  Beyond METRIC_WAITING_MAX, the next
 * line is added only after all of them. */
size_t metric_table_waiting(const struct metric_table *table);

size_t metric_table_sources(const struct metric_table *table);

/* Metrics in the order in which they first appeared.  Borrowed. */
size_t metric_table_count(const struct metric_table *table);
const struct metric_info *metric_table_info(const struct metric_table *table,
					    size_t metric);
/* The series of a task (by its index among the sources), or NULL. */
const struct metric_series *
metric_table_series(const struct metric_table *table, size_t metric,
		    size_t source);

/* The best value of a series, or NULL if it is empty or neither direction is
 * better. */
const struct metric_point *metric_best(const struct metric_info *info,
				       const struct metric_series *series);

/*
 * The metric over all tasks, at `count` times from the first point to the last:
 * the sum if it adds, else the mean, of each task's latest value at that time.
 * NaN if no task had a value by then, or for a sum, not every task.  Returns
 * the number of tasks that have the metric.
 */
size_t metric_table_total(const struct metric_table *table, size_t metric,
			  double *values, size_t count);

/* The values of a series, as `count` means of neighbours; fewer if there are
 * fewer values.  Returns their number. */
size_t metric_series_means(const struct metric_series *series, double *values,
			   size_t count);

#endif
