/* SPDX-License-Identifier: Apache-2.0 */
/* Formats metrics for people and programs. */
#ifndef JOBRUN_METRICS_VIEW_H
#define JOBRUN_METRICS_VIEW_H

#include <jansson.h>

#include "cmd/jobrun/ui/app.h"
#include "core/log/metric_series.h"
#include "core/store/store.h"

/* The view of a run. */
struct metrics_view {
	const struct run_record *run;
	const struct metric_table *table;
	const struct log_source *sources;
	size_t source_count;
	/* Names to show, ignoring case; none: all. */
	const char *const *names;
	size_t name_count;
	bool all_tasks; /* show every task, however many there are */
};

/* Whether the view includes a metric. */
bool metrics_wanted(const struct metrics_view *view, const char *name);

/* Adds a row per metric and task, and one over all tasks, each with a curve. */
void metrics_text(const struct metrics_view *view, const struct app *app,
		  struct buf *out);
json_t *metrics_json(const struct metrics_view *view); /* returns new */

/* Comma-separated values, a row per value: the header, and the rows of one line
 * of output. */
void metrics_csv_head(struct buf *out);
void metrics_csv_rows(const struct metrics_view *view,
		      const struct log_line *line,
		      const struct metric_sample *sample, struct buf *out);

/* The newest values over all tasks in one line of at most `width` columns;
 * nothing if there are none yet. */
void metrics_line(const struct metric_table *table, int width, struct buf *out);

/* Reports which patterns were too slow, if any were (NULL: none). */
void metrics_say_missed(const struct app *app,
			const struct metric_parser *parser);

#endif
