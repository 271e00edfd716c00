/* SPDX-License-Identifier: Apache-2.0 */
#include "core/checkpoint/saver_heard.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/job/message.h"
#include "core/log/metric.h"

/* The values of one line of the file. */
struct heard_mark {
	int64_t time_ms;
	int64_t step;
	double epoch;
	double value;
};

struct heard {
	char *path, *old;
	int fd; /* -1: it can't be written */
	size_t size;
	struct metric_parser *parser;
	const char *metric;
	struct heard_mark last; /* all lines so far, combined */
	struct {
		struct metric_carry carry;
		struct buf line; /* an incomplete line */
		int64_t time_ms;
	} streams[HEARD_STREAMS];
};

static char *old_of(const char *path)
{
	return mem_printf("%s.old", path);
}

static void begin_file(struct heard *heard)
{
	heard->size = 0;
	heard->fd = open(heard->path,
			 O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
			 0600);
}

struct heard *heard_open(const char *path, const char *metric,
			 const struct pairs *patterns, struct error *err)
{
	struct heard *heard = mem_alloc(sizeof(*heard));

	heard->path = mem_strdup(path);
	heard->old = old_of(path);
	heard->metric = metric;
	heard->last =
		(struct heard_mark){ .step = -1, .epoch = -1, .value = NAN };
	for (int i = 0; i < HEARD_STREAMS; i++)
		heard->streams[i].carry.epoch = -1;
	unlink(heard->old);
	begin_file(heard);
	if (heard->fd < 0)
		error_errno(err, "cannot write '%s'", path);
	else
		heard->parser = metric_parser_new(patterns, err);
	if (!heard->parser) {
		heard_close(heard);
		return NULL;
	}
	metric_parser_know(heard->parser, metric);

	return heard;
}

void heard_close(struct heard *heard)
{
	if (!heard)
		return;
	if (heard->fd >= 0)
		close(heard->fd);
	metric_parser_free(heard->parser);
	for (int i = 0; i < HEARD_STREAMS; i++)
		buf_done(&heard->streams[i].line);
	free(heard->path);
	free(heard->old);
	free(heard);
}

static void write_down(struct heard *heard)
{
	const struct heard_mark *last = &heard->last;
	char text[128];
	int len;

	if (heard->size >= HEARD_MAX && rename(heard->path, heard->old) == 0) {
		close(heard->fd);
		begin_file(heard);
	}
	len = snprintf(text, sizeof(text),
		       "%" PRId64 " %" PRId64 " %.17g %.17g\n", last->time_ms,
		       last->step, last->epoch, last->value);
	if (heard->fd >= 0 && fd_write(heard->fd, text, (size_t)len) == 0)
		heard->size += (size_t)len;
}

static void take_line(struct heard *heard, int stream)
{
	struct buf *line = &heard->streams[stream].line;
	struct metric_sample sample;

	if (metric_parse(heard->parser, &heard->streams[stream].carry,
			 buf_text(line), line->len, &sample)) {
		heard->last.time_ms = heard->streams[stream].time_ms;
		if (sample.step >= 0)
			heard->last.step = sample.step;
		if (sample.epoch >= 0)
			heard->last.epoch = sample.epoch;
		for (size_t i = 0; i < sample.count; i++)
			if (!strcasecmp(sample.values[i].name, heard->metric))
				heard->last.value = sample.values[i].value;
		write_down(heard);
	}
	buf_clear(line);
}

/* Returns where the current line ends: at a newline, or where a progress bar is
 * redrawn. */
static size_t line_length(const char *data, size_t len)
{
	size_t i = 0;

	while (i < len && data[i] != '\n' && data[i] != '\r')
		i++;
	return i;
}

void heard_add(struct heard *heard, int stream, const char *data, size_t len,
	       int64_t time_ms)
{
	struct buf *line = &heard->streams[stream].line;

	while (len) {
		size_t n = line_length(data, len), wanted = n;

		if (!line->len)
			heard->streams[stream].time_ms = time_ms;
		if (wanted > METRIC_LINE_MAX - line->len)
			wanted = METRIC_LINE_MAX - line->len;
		buf_add(line, data, wanted);
		if (n == len)
			return;
		take_line(heard, stream);
		data += n + 1;
		len -= n + 1;
	}
}

/* Finds the last line that is not after `time_ms`; returns 1 if there is
 * none. */
static int find(const char *path, int64_t time_ms, struct heard_mark *out,
		struct error *err)
{
	size_t len;
	char *text, *at, *end;
	struct heard_mark one;
	int ret = 1;

	if (access(path, F_OK) < 0)
		return 1;
	text = file_read(path, 2 * HEARD_MAX, &len, err);
	if (!text)
		return -1;
	for (at = text; (end = strchr(at, '\n')); at = end + 1) {
		if (sscanf(at, "%" SCNd64 " %" SCNd64 " %lf %lf", &one.time_ms,
			   &one.step, &one.epoch, &one.value) != 4 ||
		    one.time_ms > time_ms)
			continue;
		*out = one;
		ret = 0;
	}
	free(text);
	return ret;
}

int heard_fill(const char *path, const char *metric, int64_t time_ms,
	       struct checkpoint *out, struct error *err)
{
	char *old = old_of(path);
	struct heard_mark found;
	int ret = find(path, time_ms, &found, err);

	if (ret > 0)
		ret = find(old, time_ms, &found, err);
	free(old);
	if (ret != 0)
		return ret < 0 ? -1 : 0;
	/* The step in the name is more reliable. */
	if (out->step < 0)
		out->step = found.step;
	if (found.epoch >= 0)
		out->epoch = found.epoch;
	if (!isnan(found.value)) {
		out->metric = metric;
		out->value = found.value;
	}
	return 0;
}
