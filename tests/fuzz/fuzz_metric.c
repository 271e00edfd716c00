/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the output of a task: numbers or none, in bounded memory. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/sparkline.h"
#include "core/log/metric_series.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(void *arg, const struct log_line *line,
		  const struct metric_sample *sample)
{
	(void)arg;
	(void)line;
	assert(sample->count && sample->count <= METRIC_VALUES_MAX);
	assert(sample->step >= -1);
	assert(sample->epoch >= 0 || sample->epoch == -1);
	for (size_t i = 0; i < sample->count; i++)
		assert(strnlen(sample->values[i].name, METRIC_NAME_SIZE) <
		       METRIC_NAME_SIZE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct log_source source = { "master", 0, 0, "::1" };
	static struct pair items[] = { { "temp", "t([0-9]*)" } };
	static const struct pairs patterns = { COUNT(items), items };
	struct metric_parser *parser = metric_parser_new(&patterns, NULL);
	struct metric_table *table = metric_table_new(&source, 1, parser);
	/* The copy has exactly the size, so that reading past its end is
	 * noticed. */
	char *copy = mem_alloc(size ? size : 1);
	const char *p = copy, *end = copy + size;
	double values[8];

	if (size)
		memcpy(copy, data, size);
	while (p < end) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));
		struct log_line line = { .source = &source, .text = p };

		line.len = (size_t)((stop ? stop : end) - p);
		metric_table_line(table, &line, check, NULL);
		p += line.len + 1;
	}
	for (size_t i = 0; i < metric_table_count(table); i++) {
		const struct metric_series *series =
			metric_table_series(table, i, 0);
		struct buf text = { 0 };

		assert(series->kept <= METRIC_POINTS_MAX);
		metric_table_total(table, i, values, 8);
		sparkline_format(values, 8, &text);
		sparkline_format(values, metric_series_means(series, values, 8),
				 &text);
		buf_done(&text);
	}
	free(copy);
	metric_table_free(table);
	metric_parser_free(parser);
	return 0;
}
