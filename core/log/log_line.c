/* SPDX-License-Identifier: Apache-2.0 */
/* Formats lines of output for display. */
#include "core/base/clock.h"
#include "core/log/log.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/log/log_file.h"
#include "core/log/log_screen.h"

#define PREFIXES 64 /* a power of two */
#define PREFIX_COPY LOG_SLACK
#define SHORT_LINE 256
#define RESET "\033[0m"

/* Red is reserved for errors. */
static const char *const colors[] = {
	"\033[36m", "\033[32m", "\033[33m", "\033[35m", "\033[34m",
	"\033[96m", "\033[92m", "\033[93m", "\033[95m", "\033[94m",
};

/* The text before a line: "2020-08-06 02:38:57 10.164.0.109 [1] ". */
struct prefix {
	const struct log_source *source;
	int64_t second; /* since 1970 */
	size_t columns;
	struct buf text; /* at least PREFIX_COPY bytes */
};

/* A stream that has rewritten a line. */
struct rewritten {
	const struct log_source *source;
	struct log_screen *screen; /* NULL: it never has */
};

struct log_printer {
	struct log_style style;
	/* The prefix of the last line, which mostly equals the next one's. */
	const struct log_source *source;
	int64_t time_ms;
	const struct prefix *prefix;
	struct prefix prefixes[PREFIXES]; /* by ordinal */
	struct rewritten *streams;        /* LOG_STREAMS by ordinal */
	size_t stream_count;
};

struct log_printer *log_printer_new(const struct log_style *style)
{
	struct log_printer *printer = mem_alloc(sizeof(*printer));

	printer->style = *style;
	return printer;
}

void log_printer_free(struct log_printer *printer)
{
	if (!printer)
		return;
	for (size_t i = 0; i < PREFIXES; i++)
		buf_done(&printer->prefixes[i].text);
	for (size_t i = 0; i < printer->stream_count; i++)
		log_screen_free(printer->streams[i].screen);
	free(printer->streams);
	free(printer);
}

static void time_put(const struct log_style *style, int64_t time_ms,
		     struct buf *out)
{
	long s = (long)((time_ms - style->from_ms) / 1000);
	char time[32];

	if (style->time == LOG_TIME_NONE)
		return;
	if (s < 0)
		s = 0;
	if (style->time == LOG_TIME_LOCAL)
		time_format_log(time_ms, time, sizeof(time));
	else if (style->time == LOG_TIME_UTC)
		time_format_log_utc(time_ms, time, sizeof(time));
	else
		snprintf(time, sizeof(time), "%ld:%02ld:%02ld", s / 3600,
			 s / 60 % 60, s % 60);
	buf_printf(out, "%s ", time);
}

static void prefix_format(const struct log_style *style,
			  const struct log_source *source, int64_t time_ms,
			  struct prefix *prefix)
{
	const char *color = colors[(unsigned)source->ordinal % COUNT(colors)];
	struct buf name = { 0 };
	struct buf *out = &prefix->text;

	buf_clear(out);
	buf_reserve(out, PREFIX_COPY);
	time_put(style, time_ms, out);
	if (style->prefix == LOG_PREFIX_HOST)
		buf_printf(&name, "%s [%d]", source->host ? source->host : "",
			   source->ordinal);
	else if (style->prefix == LOG_PREFIX_TASK)
		buf_printf(&name, "%s%s%s %d |", style->job ? style->job : "",
			   style->job ? " " : "", source->type, source->index);
	prefix->columns = out->len + name.len + (name.len > 0);
	if (name.len)
		buf_printf(out, "%s%s%s ", style->color ? color : "", name.data,
			   style->color ? RESET : "");
	buf_done(&name);
}

/* Copies whole blocks, up to LOG_SLACK bytes too many: for most lines that
 * halves the cost of a call. */
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

/* This runs for every line, so it reserves memory once. */
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

/* The same for many lines without a '\r'. */
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

static const struct prefix *prefix_find(struct log_printer *printer,
					const struct log_source *source,
					int64_t time_ms)
{
	unsigned slot = (unsigned)source->ordinal % PREFIXES;
	struct prefix *prefix = &printer->prefixes[slot];
	/* Rounds like time_format_log(), so that both change together. */
	int64_t second = time_ms / 1000;

	if (printer->source == source && printer->time_ms == time_ms)
		return printer->prefix;
	if (prefix->source != source || prefix->second != second) {
		prefix_format(&printer->style, source, time_ms, prefix);
		prefix->source = source;
		prefix->second = second;
	}
	printer->source = source;
	printer->time_ms = time_ms;
	printer->prefix = prefix;
	return prefix;
}

/* ---- lines that rewrite themselves ------------------------------------- */

static struct rewritten *stream_find(struct log_printer *printer,
				     const struct log_line *line)
{
	size_t at = (size_t)line->source->ordinal * LOG_STREAMS + line->stream;

	if (at >= printer->stream_count) {
		size_t count = at + 64;

		printer->streams = mem_grow(printer->streams, count,
					    sizeof(*printer->streams));
		memset(printer->streams + printer->stream_count, 0,
		       (count - printer->stream_count) *
			       sizeof(*printer->streams));
		printer->stream_count = count;
	}
	printer->streams[at].source = line->source;
	return &printer->streams[at];
}

/* The destination of a screen's rows. */
struct row_place {
	struct log_printer *printer;
	const struct log_source *source;
	struct buf *out;
	int64_t before_ms; /* omit rows that began later */
};

static void row_add(void *arg, const char *text, size_t len, int64_t time_ms)
{
	struct row_place *to = arg;

	if (time_ms > to->before_ms)
		return;
	line_add(&prefix_find(to->printer, to->source, time_ms)->text, text,
		 len, to->out);
}

static void rewritten_add(struct log_printer *printer, struct rewritten *stream,
			  const struct log_line *line, struct buf *out)
{
	struct row_place to = { printer, line->source, out, INT64_MAX };

	if (!stream->screen)
		stream->screen = log_screen_new(true);
	log_screen_put(stream->screen, line->text, line->len, line->time_ms,
		       row_add, &to);
	if (!line->more)
		log_screen_put(stream->screen, "\n", 1, line->time_ms, row_add,
			       &to);
}

void log_printer_look(struct log_printer *printer, const struct log_line *open,
		      size_t width, int64_t before_ms, struct buf *out)
{
	struct rewritten *stream = stream_find(printer, open);
	struct row_place to = { printer, open->source, out, before_ms };
	struct log_screen *screen;
	size_t columns = 0;

	if (!open->len && !stream->screen)
		return;
	screen = stream->screen ? log_screen_copy(stream->screen)
				: log_screen_new(true);
	log_screen_put(screen, open->text, open->len, open->time_ms, row_add,
		       &to);
	if (width) {
		columns = prefix_find(printer, open->source, open->time_ms)
				  ->columns;
		columns = width > columns + 10 ? width - columns : 10;
	}
	log_screen_look(screen, columns, row_add, &to);
	log_screen_free(screen);
}

void log_printer_end(struct log_printer *printer, struct buf *out)
{
	for (size_t i = 0; i < printer->stream_count; i++) {
		struct rewritten *stream = &printer->streams[i];
		struct row_place to = { printer, stream->source, out,
					INT64_MAX };

		if (stream->screen)
			log_screen_end(stream->screen, row_add, &to);
	}
}

/* ---- lines ------------------------------------------------------------- */

static void lost_add(const struct buf *prefix, uint64_t lost, struct buf *out)
{
	char text[96];
	int len = snprintf(text, sizeof(text),
			   "(%" PRIu64 " bytes of output were lost here: they "
			   "could not be written)",
			   lost);

	line_add(prefix, text, (size_t)len, out);
}

static void piece_add(const struct buf *prefix, const struct log_line *line,
		      struct buf *out)
{
	struct buf text = { 0 };

	if (line->rest)
		buf_puts(&text, LOG_LINE_CUT);
	buf_add(&text, line->text, line->len);
	if (line->more)
		buf_puts(&text, LOG_LINE_CUT);
	line_add(prefix, text.data, text.len, out);
	buf_done(&text);
}

static bool is_rewritten(const struct log_printer *printer,
			 const struct rewritten *stream,
			 const struct log_line *line)
{
	if (stream->screen && !log_screen_is_blank(stream->screen))
		return true;
	return (!line->plain || printer->style.terminal) &&
	       log_screen_is_needed(line->text, line->len,
				    printer->style.terminal);
}

void log_printer_add(struct log_printer *printer, const struct log_line *line,
		     struct buf *out)
{
	const struct buf *prefix =
		&prefix_find(printer, line->source, line->time_ms)->text;
	struct rewritten *stream = stream_find(printer, line);

	if (line->lost)
		lost_add(prefix, line->lost, out);
	else if (is_rewritten(printer, stream, line))
		rewritten_add(printer, stream, line, out);
	else if (line->more || line->rest)
		piece_add(prefix, line, out);
	else
		line_add(prefix, line->text, line->len, out);
}

void log_printer_add_block(struct log_printer *printer,
			   const struct log_line *lines, struct buf *out)
{
	const struct rewritten *stream = stream_find(printer, lines);
	const char *p = lines->text;
	const char *end = p + lines->len;
	struct log_line line = *lines;

	if (lines->plain && !printer->style.terminal &&
	    (!stream->screen || log_screen_is_blank(stream->screen))) {
		lines_add(&prefix_find(printer, lines->source, lines->time_ms)
				   ->text,
			  p, end, out);
		return;
	}
	for (; p < end; p = line.text + line.len + 1) {
		line.text = p;
		line.len = (size_t)((const char *)memchr(p, '\n',
							 (size_t)(end - p)) -
				    p);
		log_printer_add(printer, &line, out);
	}
}
