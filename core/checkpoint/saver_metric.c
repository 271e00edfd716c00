/* SPDX-License-Identifier: Apache-2.0 */
#include "core/checkpoint/saver_metric.h"

#include <stdlib.h>
#include <strings.h>

#include "core/log/log.h"
#include "core/log/metric.h"
#include "core/spec/spec.h"
#include "core/topology/topology.h"

#define TRAIL_SIZE 1024

/* The last values of a metric, with their times. */
struct trail {
	struct {
		int64_t time_ms;
		double value;
	} items[TRAIL_SIZE];
	size_t count; /* of all values so far, also those dropped */
};

struct saver_metric {
	struct arena *mem;
	struct run_spec spec;
	struct log_source source;
	struct log_reader *reader;
	struct metric_parser *parser;
	struct metric_carry places[2]; /* for stdout and stderr */
	const char *metric;
	struct trail steps, epochs, values;
};

static void trail_add(struct trail *trail, int64_t time_ms, double value)
{
	size_t i = trail->count++ % TRAIL_SIZE;

	trail->items[i].time_ms = time_ms;
	trail->items[i].value = value;
}

/* Finds the last value at a time; returns false if it is not known. */
static bool trail_find(const struct trail *trail, int64_t time_ms, double *out)
{
	size_t first =
		trail->count > TRAIL_SIZE ? trail->count - TRAIL_SIZE : 0;

	for (size_t i = trail->count; i > first; i--) {
		if (trail->items[(i - 1) % TRAIL_SIZE].time_ms > time_ms)
			continue;
		*out = trail->items[(i - 1) % TRAIL_SIZE].value;
		return true;
	}
	return false;
}

static void take_line(void *arg, const struct log_line *line)
{
	struct saver_metric *all = arg;
	struct metric_sample sample;

	if (!metric_parse(all->parser, &all->places[line->stream], line->text,
			  line->len, &sample))
		return;
	if (sample.step >= 0)
		trail_add(&all->steps, line->time_ms, (double)sample.step);
	if (sample.epoch >= 0)
		trail_add(&all->epochs, line->time_ms, sample.epoch);
	for (size_t i = 0; all->metric && i < sample.count; i++)
		if (!strcasecmp(sample.values[i].name, all->metric))
			trail_add(&all->values, line->time_ms,
				  sample.values[i].value);
}

struct saver_metric *saver_metric_open(const char *folder, const char *metric,
				       struct error *err)
{
	static const struct log_filter filter = { .tail = SIZE_MAX,
						  .states = true };
	struct saver_metric *all = mem_alloc(sizeof(*all));

	all->mem = arena_new();
	all->metric = metric;
	all->places[0].epoch = all->places[1].epoch = -1;
	if (spec_read(folder, all->mem, &all->spec, err) < 0)
		goto fail;
	all->parser = metric_parser_new(&all->spec.metrics, err);
	if (!all->parser)
		goto fail;
	if (metric)
		metric_parser_know(all->parser, metric);
	all->source.type = task_type_name(all->spec.topology.tasks[0].type);
	all->source.index = all->spec.topology.tasks[0].index;
	all->source.host = "";
	all->reader = log_reader_open(all->spec.folder, &all->source, 1,
				      &filter, err);
	if (all->reader)
		return all;
fail:
	saver_metric_close(all);
	return NULL;
}

void saver_metric_close(struct saver_metric *all)
{
	if (!all)
		return;
	log_reader_close(all->reader);
	metric_parser_free(all->parser);
	arena_free(all->mem);
	free(all);
}

int saver_metric_fill(struct saver_metric *all, struct checkpoint *out,
		      struct error *err)
{
	int64_t time_ms = out->time_ms + LOG_UPLOADER_DELAY_MS;
	double found;

	if (log_reader_step(all->reader, false, take_line, all, err) < 0)
		return -1;
	/* The step in the name is more reliable. */
	if (out->step < 0 && trail_find(&all->steps, time_ms, &found))
		out->step = (int64_t)found;
	if (trail_find(&all->epochs, time_ms, &found))
		out->epoch = found;
	if (all->metric && trail_find(&all->values, time_ms, &found)) {
		out->metric = all->metric;
		out->value = found;
	}
	return 0;
}
