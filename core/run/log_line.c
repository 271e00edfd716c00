/* SPDX-License-Identifier: Apache-2.0 */
/* How a line of output is shown. */
#include "core/run/log.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/text.h"
#include "core/run/log_file.h"

#define PREFIXES 64 /* a power of two */
#define RESET "\033[0m"

/* Red is left to errors. */
static const char *const colors[] = {
	"\033[36m", "\033[32m", "\033[33m", "\033[35m", "\033[34m",
	"\033[96m", "\033[92m", "\033[93m", "\033[95m", "\033[94m",
};

/* What stands between the time and the text: " 10.164.0.109 [1] ". */
struct prefix {
	const struct log_source *source;
	struct buf text;
};

struct log_printer {
	bool color;
	bool timed;	/* `time` is that of `second` */
	int64_t second; /* since 1970 */
	size_t time_len;
	char time[32];
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

static void prefix_format(const struct log_source *source, bool color,
			  struct buf *out)
{
	unsigned n = (unsigned)source->ordinal % COUNT(colors);

	buf_printf(out, " %s%s [%d]%s ", color ? colors[n] : "",
		   source->host ? source->host : "", source->ordinal,
		   color ? RESET : "");
}

static void text_add(const struct log_line *line, const char *time,
		     size_t time_len, const char *prefix, size_t prefix_len,
		     struct buf *out)
{
	char lost[80];
	const char *text = line->text;
	size_t len = line->len;
	char *to;

	if (line->lost) {
		len = (size_t)snprintf(lost, sizeof(lost),
				       "(%" PRIu64 " bytes of output were lost "
				       "here: they could not be written)",
				       line->lost);
		text = lost;
	} else {
		text = log_text_shown(text, &len);
	}
	/* One reservation, no checks between: this runs once per line. */
	to = buf_reserve(out, time_len + prefix_len + len + 1);
	to = mempcpy(to, time, time_len);
	to = mempcpy(to, prefix, prefix_len);
	to = len ? mempcpy(to, text, len) : to;
	*to++ = '\n';
	*to = '\0';
	out->len += time_len + prefix_len + len + 1;
}

void log_printer_add(struct log_printer *printer, const struct log_line *line,
		     struct buf *out)
{
	unsigned slot = (unsigned)line->source->ordinal % PREFIXES;
	struct prefix *prefix = &printer->prefixes[slot];
	/* As time_format_log() rounds, so that both change together. */
	int64_t second = line->time_ms / 1000;

	if (!printer->timed || second != printer->second) {
		time_format_log(line->time_ms, printer->time,
				sizeof(printer->time));
		printer->time_len = strlen(printer->time);
		printer->second = second;
		printer->timed = true;
	}
	if (prefix->source != line->source) {
		buf_clear(&prefix->text);
		prefix_format(line->source, printer->color, &prefix->text);
		prefix->source = line->source;
	}
	text_add(line, printer->time, printer->time_len, prefix->text.data,
		 prefix->text.len, out);
}

void log_line_format(const struct log_line *line, bool color, struct buf *out)
{
	struct buf prefix = { 0 };
	char time[32];

	time_format_log(line->time_ms, time, sizeof(time));
	prefix_format(line->source, color, &prefix);
	text_add(line, time, strlen(time), prefix.data, prefix.len, out);
	buf_done(&prefix);
}
