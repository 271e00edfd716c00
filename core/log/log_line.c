/* SPDX-License-Identifier: Apache-2.0 */
/* How a line of output is shown. */
#include "core/base/clock.h"
#include "core/log/log.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/log/log_file.h"

#define PREFIXES 64 /* a power of two */
#define PREFIX_COPY LOG_SLACK
#define SHORT_LINE 256
#define RESET "\033[0m"

/* Red is left to errors. */
static const char *const colors[] = {
	"\033[36m", "\033[32m", "\033[33m", "\033[35m", "\033[34m",
	"\033[96m", "\033[92m", "\033[93m", "\033[95m", "\033[94m",
};

/* The text before a line: "2020-08-06 02:38:57 10.164.0.109 [1] ". */
struct prefix {
	const struct log_source *source;
	int64_t second;  /* since 1970 */
	struct buf text; /* of PREFIX_COPY bytes at least */
};

struct log_printer {
	bool color;
	/* The prefix of the last line, mostly equal to the next one's. */
	const struct log_source *source;
	int64_t time_ms;
	const struct buf *text;
	struct prefix prefixes[PREFIXES]; /* by ordinal */
};

struct log_printer *log_printer_new(bool color)
{
	struct log_printer *printer = mem_alloc(sizeof(*printer));

	printer->color = color;
	return printer;
}

void log_printer_free(struct log_printer *printer)
{
	if (!printer)
		return;
	for (size_t i = 0; i < PREFIXES; i++)
		buf_done(&printer->prefixes[i].text);
	free(printer);
}

static void prefix_format(const struct log_line *line, bool color,
			  struct buf *out)
{
	const struct log_source *source = line->source;
	unsigned n = (unsigned)source->ordinal % COUNT(colors);
	char time[32];

	time_format_log(line->time_ms, time, sizeof(time));
	buf_reserve(out, PREFIX_COPY);
	buf_printf(out, "%s %s%s [%d]%s ", time, color ? colors[n] : "",
		   source->host ? source->host : "", source->ordinal,
		   color ? RESET : "");
}

/* Copies whole blocks, up to LOG_SLACK bytes more than asked for: for most
 * lines that halves the cost of a call. */
static inline void copy_blocks(char *to, const char *from, size_t len)
{
	for (size_t i = 0; i < len; i += LOG_SLACK)
		memcpy(to + i, from + i, LOG_SLACK);
}

static inline void prefix_copy(char *to, const struct buf *prefix)
{
	if (prefix->len <= PREFIX_COPY)
		copy_blocks(to, prefix->data, prefix->len);
	else
		memcpy(to, prefix->data, prefix->len);
}

/* This runs once per line, so it makes room once. */
static inline void line_add(const struct buf *prefix, const char *text,
			    size_t len, struct buf *out)
{
	size_t need = prefix->len + len + 1 + LOG_SLACK;
	char *to;

	if (out->size - out->len <= need)
		buf_reserve(out, need);
	to = out->data + out->len;
	prefix_copy(to, prefix);
	to += prefix->len;
	if (len)
		memcpy(to, text, len);
	to[len] = '\n';
	to[len + 1] = '\0';
	out->len += prefix->len + len + 1;
}

/* The same for many lines of a block, without a '\r' in them. */
static void lines_add(const struct buf *prefix, const char *p, const char *end,
		      struct buf *out)
{
	char *to = out->data + out->len;

	while (p < end) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));
		size_t len = (size_t)(stop + 1 - p);
		size_t need = prefix->len + len + LOG_SLACK;

		if ((size_t)(out->data + out->size - to) <= need) {
			out->len = (size_t)(to - out->data);
			buf_reserve(out, need);
			to = out->data + out->len;
		}
		prefix_copy(to, prefix);
		if (len <= SHORT_LINE)
			copy_blocks(to + prefix->len, p, len);
		else
			memcpy(to + prefix->len, p, len);
		to += prefix->len + len;
		p = stop + 1;
	}
	*to = '\0';
	out->len = (size_t)(to - out->data);
}

static inline void text_add(const struct log_line *line,
			    const struct buf *prefix, struct buf *out)
{
	char lost[96];
	const char *text = line->text;
	size_t len = line->len;

	if (line->lost) {
		len = (size_t)snprintf(lost, sizeof(lost),
				       "(%" PRIu64 " bytes of output were lost "
				       "here: they could not be written)",
				       line->lost);
		text = lost;
	} else if (!line->plain) {
		text = log_text_shown(text, &len);
	}
	line_add(prefix, text, len, out);
}

static void prefix_find(struct log_printer *printer,
			const struct log_line *line)
{
	unsigned slot = (unsigned)line->source->ordinal % PREFIXES;
	struct prefix *prefix = &printer->prefixes[slot];
	/* As time_format_log() rounds, so that both change together. */
	int64_t second = line->time_ms / 1000;

	if (prefix->source != line->source || prefix->second != second) {
		buf_clear(&prefix->text);
		prefix_format(line, printer->color, &prefix->text);
		prefix->source = line->source;
		prefix->second = second;
	}
	printer->source = line->source;
	printer->time_ms = line->time_ms;
	printer->text = &prefix->text;
}

void log_printer_add(struct log_printer *printer, const struct log_line *line,
		     struct buf *out)
{
	if (printer->source != line->source ||
	    printer->time_ms != line->time_ms)
		prefix_find(printer, line);
	text_add(line, printer->text, out);
}

void log_printer_add_block(struct log_printer *printer,
			   const struct log_line *lines, struct buf *out)
{
	const char *p = lines->text;
	const char *end = p + lines->len;

	if (printer->source != lines->source ||
	    printer->time_ms != lines->time_ms)
		prefix_find(printer, lines);
	if (lines->plain) {
		lines_add(printer->text, p, end, out);
		return;
	}
	while (p < end) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));
		size_t len = (size_t)(stop - p);
		const char *text = log_text_shown(p, &len);

		line_add(printer->text, text, len, out);
		p = stop + 1;
	}
}

void log_line_format(const struct log_line *line, bool color, struct buf *out)
{
	struct buf prefix = { 0 };

	prefix_format(line, color, &prefix);
	text_add(line, &prefix, out);
	buf_done(&prefix);
}
