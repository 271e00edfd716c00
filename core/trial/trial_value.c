/* SPDX-License-Identifier: Apache-2.0 */
#include "core/trial/trial_value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/log/metric_series.h"
#include "core/topology/topology.h"

#define FILE_SIZE_MAX (16 << 20) /* the package keeps the last 100 lines */
#define COMPLETED_MIN 3
#define SLICE_MS 50                    /* of a step */
#define WAITING_MAX ((size_t)32 << 10) /* bytes of lines */

struct trial_reader {
	const struct run_spec *spec; /* borrowed */
	const char *tag;             /* borrowed */
	struct log_source *sources;
	struct metric_parser *parser;
	struct metric_table *table;
	struct log_reader *log;
	int64_t until_ms; /* 0: no limit */
	bool cut;         /* the step ended at its limit */
};

void trial_series_done(struct trial_series *series)
{
	free(series->points);
	*series = (struct trial_series){ 0 };
}

void trial_series_add(struct trial_series *series, double value, int64_t step)
{
	size_t n = series->count;

	series->broken = !isfinite(value);
	if (series->broken)
		return;
	if ((n & (n - 1)) == 0)
		series->points = mem_grow(series->points, n ? 2 * n : 1,
					  sizeof(*series->points));
	series->points[series->count++] = (struct trial_point){
		.value = value,
		.step = step >= 0 ? step : (int64_t)n + 1,
	};
}

/* Reads a number, or a string that is one. */
static bool read_number(const json_t *value, double *out)
{
	const char *text = json_string_value(value);

	if (json_is_number(value)) {
		*out = json_number_value(value);
		return true;
	}
	return text && *text &&
	       metric_number(text, strlen(text), out) == strlen(text);
}

static void parse_line(const char *text, size_t len, const char *tag,
		       struct trial_series *out)
{
	struct error ignored;
	json_t *line = json_read(text, len, "", &ignored);
	double value, step;

	if (read_number(json_object_get(line, tag), &value)) {
		if (!read_number(json_object_get(line, "global_step"), &step) ||
		    !(step >= 0 && step < 9e15))
			step = -1;
		trial_series_add(out, value, (int64_t)step);
	}
	json_decref(line);
}

void trial_series_parse(const char *text, size_t len, const char *tag,
			struct trial_series *out)
{
	const char *end = text + len;

	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));

		if (!stop)
			stop = end;
		parse_line(text, (size_t)(stop - text), tag, out);
		text = stop + 1;
	}
}

struct trial_reader *trial_reader_new(const struct run_spec *spec,
				      const char *tag, struct error *err)
{
	const struct log_filter filter = { .tail = SIZE_MAX, .states = true };
	struct trial_reader *reader = mem_alloc(sizeof(*reader));
	size_t count = spec->topology.count;

	reader->spec = spec;
	reader->tag = tag;
	reader->sources = mem_alloc(count * sizeof(*reader->sources));
	for (size_t i = 0; i < count; i++)
		reader->sources[i] = (struct log_source){
			.type = task_type_name(spec->topology.tasks[i].type),
			.index = spec->topology.tasks[i].index,
			.ordinal = (int)i,
		};
	reader->parser = metric_parser_new(&spec->metrics, err);
	if (!reader->parser)
		goto fail;
	metric_parser_know(reader->parser, tag);
	reader->table =
		metric_table_new(reader->sources, count, reader->parser);
	reader->log = log_reader_open(spec->folder, reader->sources, count,
				      &filter, err);
	if (reader->log)
		return reader;
fail:
	trial_reader_free(reader);
	return NULL;
}

void trial_reader_free(struct trial_reader *reader)
{
	if (!reader)
		return;
	log_reader_close(reader->log);
	metric_table_free(reader->table);
	metric_parser_free(reader->parser);
	free(reader->sources);
	free(reader);
}

static void add_line(void *arg, const struct log_line *line)
{
	struct trial_reader *reader = arg;

	metric_table_line(reader->table, line, NULL, NULL);
	if (reader->until_ms &&
	    metric_table_waiting(reader->table) >= WAITING_MAX) {
		reader->cut = true;
		log_reader_stop(reader->log);
	}
}

/* Reads the log until a slice of time is over, as patterns may take long.
 * Returns 1 if there is more. */
static int read_log(struct trial_reader *reader, bool ended, struct error *err)
{
	int64_t left_ms = reader->until_ms ? SLICE_MS : -1;

	do {
		/* Finish the lines that the last slice has left. */
		if (!metric_table_settle(reader->table, left_ms))
			return 1;
		reader->cut = false;
		if (log_reader_step(reader->log, ended, add_line, reader, err) <
		    0)
			return -1;
		if (reader->until_ms)
			left_ms = reader->until_ms - time_monotonic_ms();
		if (reader->until_ms && left_ms < 0)
			left_ms = 0;
		if (!metric_table_settle(reader->table, left_ms))
			return 1;
	} while (reader->cut && left_ms > 0);
	return reader->cut;
}

/* Reads the first task that prints the metric: the master, if it does. */
static void from_log(struct trial_reader *reader, struct trial_series *out)
{
	const struct metric_series *series = NULL;

	for (size_t i = 0; i < metric_table_count(reader->table); i++) {
		if (strcasecmp(metric_table_info(reader->table, i)->name,
			       reader->tag) != 0)
			continue;
		for (size_t k = 0; !series && k < reader->spec->topology.count;
		     k++)
			series = metric_table_series(reader->table, i, k);
	}
	if (!series)
		return;
	for (size_t i = 0; i < series->kept; i++)
		trial_series_add(out, series->points[i].value,
				 series->points[i].step);
	/* The last value matters most, but the stride may have left it out. */
	if ((series->count - 1) % series->stride)
		trial_series_add(out, series->last.value, series->last.step);
}

int trial_series_read(const char *path, const char *tag,
		      struct trial_series *out, struct error *err)
{
	char *text;
	size_t len;

	if (access(path, F_OK) < 0)
		return 0;
	text = file_read(path, FILE_SIZE_MAX, &len, err);
	if (!text)
		return -1;
	trial_series_parse(text, len, tag, out);
	free(text);
	return 0;
}

static int read_some(struct trial_reader *reader, bool ended,
		     struct trial_series *out, struct error *err)
{
	const char *path = reader->spec->topology.metric_file;

	int ret = read_log(reader, ended, err);

	*out = (struct trial_series){ 0 };
	if (ret != 0)
		return ret;
	if (path && trial_series_read(path, reader->tag, out, err) < 0)
		return -1;
	if (!out->count && !out->broken)
		from_log(reader, out);
	return 0;
}

int trial_reader_read(struct trial_reader *reader, bool ended,
		      struct trial_series *out, struct error *err)
{
	reader->until_ms = 0;
	return read_some(reader, ended, out, err);
}

int trial_reader_step(struct trial_reader *reader, bool ended,
		      struct trial_series *out, struct error *err)
{
	reader->until_ms = time_monotonic_ms() + SLICE_MS;
	return read_some(reader, ended, out, err);
}

bool trial_reader_missed(const struct trial_reader *reader, struct buf *out)
{
	return metric_parser_missed(reader->parser, out);
}

bool trial_series_result(const struct trial_series *series,
			 struct trial_point *out)
{
	if (!series->count || series->broken)
		return false;
	*out = series->points[series->count - 1];
	return true;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Returns the mean up to a step, NaN if there is no value so early. */
static double mean_up_to(const struct trial_series *series, int64_t step)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < series->count; i++) {
		if (series->points[i].step > step)
			continue;
		sum += series->points[i].value;
		n++;
	}
	return n ? sum / (double)n : NAN;
}

bool trial_is_hopeless(enum goal_type goal, const struct trial_series *self,
		       const struct trial_series *completed, size_t count)
{
	double sign = goal == GOAL_MINIMIZE ? -1 : 1;
	double best, median;
	double *means;
	size_t n = 0;
	int64_t step;

	if (!self->count)
		return false;
	step = self->points[self->count - 1].step;
	best = sign * self->points[0].value;
	for (size_t i = 1; i < self->count; i++)
		best = fmax(best, sign * self->points[i].value);
	means = mem_alloc((count + 1) * sizeof(*means));
	for (size_t i = 0; i < count; i++) {
		means[n] = sign * mean_up_to(&completed[i], step);
		n += !isnan(means[n]);
	}
	qsort(means, n, sizeof(*means), compare);
	median = n ? (means[(n - 1) / 2] + means[n / 2]) / 2 : 0;
	free(means);
	return n >= COMPLETED_MIN && best < median;
}
