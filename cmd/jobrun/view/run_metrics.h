/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics of one attempt or trial, read from its logs. */
#ifndef JOBRUN_RUN_METRICS_H
#define JOBRUN_RUN_METRICS_H

#include "cmd/jobrun/ui/session.h"
#include "cmd/jobrun/view/sources.h"
#include "core/log/metric_series.h"
#include "core/spec/spec.h"

struct run_metrics {
	struct arena *mem;
	char *folder; /* with its logs and its specification */
	const struct run_spec *spec;
	struct log_source *sources;
	size_t source_count;
	struct metric_parser *parser;
	struct metric_table *table;
	struct log_reader *reader;
};

/* `trial` 0: the run itself.  The tables keep extremes.  Call
 * run_metrics_close() after a failure, too. */
int run_metrics_open(struct session *session, const struct run_record *run,
		     int trial, const struct source_choice *choice,
		     struct run_metrics *out, struct error *err);
/* Reads new lines; with `ended`, no more will come. */
int run_metrics_step(struct run_metrics *metrics, bool ended,
		     struct error *err);
void run_metrics_close(struct run_metrics *metrics);

#endif
