/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/view/run_metrics.h"

#include <stdlib.h>

#include "core/trial/trial_folder.h"

int run_metrics_open(struct session *session, const struct run_record *run,
		     int trial, const struct source_choice *choice,
		     struct run_metrics *out, struct error *err)
{
	static const struct log_filter filter = { .tail = SIZE_MAX,
						  .states = true };
	char *folder =
		store_run_folder(session->env.store, run->job_id, run->attempt);
	struct run_spec *spec;

	*out = (struct run_metrics){ .mem = arena_new() };
	out->folder = trial ? trial_logs_folder(folder, trial) : folder;
	if (trial)
		free(folder);
	spec = arena_alloc(out->mem, sizeof(*spec));
	out->spec = spec;
	if (spec_read(out->folder, out->mem, spec, err) < 0 ||
	    sources_choose(spec, choice, out->mem, &out->sources,
			   &out->source_count, err) < 0)
		return -1;
	out->parser = metric_parser_new(&spec->metrics, err);
	if (!out->parser)
		return -1;
	if (spec->tuning.metric_tag)
		metric_parser_know(out->parser, spec->tuning.metric_tag);
	out->table =
		metric_table_new(out->sources, out->source_count, out->parser);
	metric_table_keep_extremes(out->table);
	out->reader = log_reader_open(out->folder, out->sources,
				      out->source_count, &filter, err);
	return out->reader ? 0 : -1;
}

static void add_line(void *arg, const struct log_line *line)
{
	metric_table_line(arg, line, NULL, NULL);
}

int run_metrics_step(struct run_metrics *metrics, bool ended, struct error *err)
{
	int ret = log_reader_step(metrics->reader, ended, add_line,
				  metrics->table, err);

	metric_table_settle(metrics->table, -1);
	return ret;
}

void run_metrics_close(struct run_metrics *metrics)
{
	log_reader_close(metrics->reader);
	metric_table_free(metrics->table);
	metric_parser_free(metrics->parser);
	free(metrics->folder);
	arena_free(metrics->mem);
	*metrics = (struct run_metrics){ 0 };
}
