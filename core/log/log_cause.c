/* SPDX-License-Identifier: Apache-2.0 */
#include "core/log/log_cause.h"

#include <string.h>

#include "core/base/text.h"
#include "core/log/log.h"
#include "core/log/log_file.h"
#include "core/log/log_screen.h"

#define LINES_MAX 200 /* a message further back is not the cause of the end */
#define TEXT_MAX 200  /* the most bytes of a message */

/* Marks of lines that give a cause; of several such lines, the one with the
 * highest rank counts, and among equals the last. */
static const struct cause_form {
	const char *mark;
	int rank;
	bool after; /* the cause begins after the mark, not with it */
} forms[] = {
	{ "Watchdog caught collective operation timeout", 7, false },
	{ "what():", 6, true },
	{ "CUDA error", 5, false },
	{ "CUDA_ERROR_", 5, false },
	{ "CUDA out of memory", 5, false },
	{ "NCCL WARN ", 4, false },
	{ "Fatal Python error: ", 3, false },
	{ "RESOURCE_EXHAUSTED: ", 2, false },
	{ "slurmstepd: error: ", 1, true },
};

#define RANK_TRACEBACK 8 /* with a frame in the user's own files */
#define RANK_FOREIGN 3   /* only with frames in other files */
#define RANK_KEYBOARD 1  /* an interrupt is rarely the cause */

static const char traceback_mark[] = "Traceback (most recent call last):";

struct line {
	const char *text;
	size_t len;
};

struct cause {
	int rank;
	struct buf text;
};

/* The next line from `*p`; false at the end. */
static bool line_next(const char **p, const char *end, struct line *out)
{
	const char *stop;

	if (*p >= end)
		return false;
	stop = memchr(*p, '\n', (size_t)(end - *p));
	if (!stop)
		stop = end;
	out->text = *p;
	out->len = (size_t)(stop - *p);
	*p = stop + 1;
	return true;
}

static const char *line_find(const struct line *line, const char *mark)
{
	return memmem(line->text, line->len, mark, strlen(mark));
}

/* Adds a message, trimmed and limited in length. */
static void put_text(const char *text, size_t len, struct buf *out)
{
	while (len && strchr(" \t\r", *text)) {
		text++;
		len--;
	}
	while (len && strchr(" \t\r", text[len - 1]))
		len--;
	if (len > TEXT_MAX) {
		len = TEXT_MAX;
		while (((unsigned char)text[len] & 0xc0) == 0x80)
			len--;
	}
	buf_add(out, text, len);
}

/* ---- frames ------------------------------------------------------------ */

/* A frame of a traceback, " File "/src/train.py", line 12, in main";
 * faulthandler has no comma before "in". */
struct trace_frame {
	struct line file, number, function;
};

static bool frame_read(const struct line *line, struct trace_frame *out)
{
	static const char head[] = "File \"", middle[] = "\", line ";
	const char *end = line->text + line->len;
	const char *p = line_find(line, head);
	const char *at;

	if (!p)
		return false;
	p += strlen(head);
	at = memmem(p, (size_t)(end - p), middle, strlen(middle));
	if (!at)
		return false;
	out->file = (struct line){ p, (size_t)(at - p) };
	p = at + strlen(middle);
	for (at = p; at < end && *at >= '0' && *at <= '9'; at++)
		;
	out->number = (struct line){ p, (size_t)(at - p) };
	p = memmem(at, (size_t)(end - at), "in ", 3);
	p = p ? p + 3 : end;
	out->function = (struct line){ p, (size_t)(end - p) };
	return true;
}

/* Whether the file belongs neither to a library, nor to Python, nor to an
 * installed launcher. */
static bool frame_is_users(const struct trace_frame *frame)
{
	static const char *const others[] = {
		"site-packages/", "dist-packages/", "/lib/python",
		"/bin/",          "<frozen ",
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (line_find(&frame->file, others[i]))
			return false;
	return true;
}

/* Adds " (src/train.py:12 in main)", with only the end of the path. */
static void frame_put(const struct trace_frame *frame, struct buf *out)
{
	const char *from = frame->file.text;
	const char *end = from + frame->file.len;
	int slashes = 0;

	for (const char *p = end; p > from && slashes < 2; p--)
		if (p[-1] == '/' && ++slashes == 2)
			from = p;
	buf_printf(out, " (%.*s:%.*s", (int)(end - from), from,
		   (int)frame->number.len, frame->number.text);
	if (frame->function.len && frame->function.text[0] != '<')
		buf_printf(out, " in %.*s", (int)frame->function.len,
			   frame->function.text);
	buf_putc(out, ')');
}

/* ---- tracebacks -------------------------------------------------------- */

/* Drops the rank that launchers put before each line. */
static bool drop_prefix(struct line *line, const struct line *prefix)
{
	if (line->len < prefix->len ||
	    memcmp(line->text, prefix->text, prefix->len) != 0)
		return false;
	line->text += prefix->len;
	line->len -= prefix->len;
	return true;
}

static void cause_take(struct cause *cause, int rank, struct buf *text)
{
	if (text->len && rank >= cause->rank) {
		buf_done(&cause->text);
		cause->text = *text;
		cause->rank = rank;
	} else {
		buf_done(text);
	}
}

/* Adds the following lines if the first line of a message only announces it. */
static void put_rest(const char *p, const char *end, const struct line *prefix,
		     struct buf *out)
{
	static const char last[] = "Last error:";
	bool short_of = out->len && out->data[out->len - 1] == ':';
	bool nccl = strstr(out->data, "NCCL error") != NULL;
	struct line line;

	for (int i = 0; i < 8 && line_next(&p, end, &line); i++) {
		drop_prefix(&line, prefix);
		if (nccl && line_find(&line, last)) {
			nccl = false;
			short_of = true;
			continue;
		}
		if (!short_of && !nccl)
			return;
		/* torchrun underlines the name. */
		if (!short_of || (line.len && line.text[0] == '='))
			continue;
		if (out->data[out->len - 1] != ':')
			buf_putc(out, ':');
		buf_putc(out, ' ');
		put_text(line.text, line.len, out);
		return;
	}
}

/* Reads a traceback after its first line, `head`. */
static void read_traceback(const struct line *head, const char *p,
			   const char *end, struct cause *cause)
{
	const char *mark = line_find(head, traceback_mark);
	struct line prefix = { head->text, (size_t)(mark - head->text) };
	struct trace_frame frame, users = { 0 };
	struct buf text = { 0 };
	struct line line;
	bool found = false;

	/* "Original Traceback …" comes from another process. */
	if (prefix.len >= 9 && !memcmp(mark - 9, "Original ", 9))
		prefix.len -= 9;
	while (line_next(&p, end, &line)) {
		if (!drop_prefix(&line, &prefix))
			return;
		if (line.len && line.text[0] != ' ' && line.text[0] != '\t') {
			found = true;
			break;
		}
		if (frame_read(&line, &frame) && frame_is_users(&frame))
			users = frame;
	}
	if (!found)
		return;
	put_text(line.text, line.len, &text);
	put_rest(p, end, &prefix, &text);
	if (users.file.len)
		frame_put(&users, &text);
	cause_take(cause,
		   text_starts(text.data, "KeyboardInterrupt") ? RANK_KEYBOARD
		   : users.file.len                            ? RANK_TRACEBACK
							       : RANK_FOREIGN,
		   &text);
}

/* ---- other forms ------------------------------------------------------- */

/* Adds the innermost of the user's frames below "Fatal Python error": the first
 * one. */
static void put_fault_frame(const char *p, const char *end, struct buf *out)
{
	struct trace_frame frame;
	struct line line;

	while (line_next(&p, end, &line)) {
		if (!frame_read(&line, &frame) || !frame_is_users(&frame))
			continue;
		frame_put(&frame, out);
		return;
	}
}

static void read_form(const struct line *line, const char *p, const char *end,
		      struct cause *cause)
{
	const struct cause_form *form = forms;
	const char *at = NULL;
	struct buf text = { 0 };

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]) && !at; i++) {
		form = &forms[i];
		at = line_find(line, form->mark);
	}
	if (!at || form->rank < cause->rank)
		return;
	if (form->after)
		at += strlen(form->mark);
	put_text(at, (size_t)(line->text + line->len - at), &text);
	if (text_starts(buf_text(&text), "Fatal Python error"))
		put_fault_frame(p, end, &text);
	cause_take(cause, form->rank, &text);
}

/* The start of the last lines. */
static const char *last_lines(const char *text, size_t len)
{
	const char *p = text + len;
	int lines = 0;

	while (p > text && (p[-1] != '\n' || ++lines <= LINES_MAX))
		p--;
	return p;
}

/* Requires text without escapes.  False: no known form was found. */
static bool find_form(const char *text, size_t len, struct buf *out)
{
	const char *end = text + len;
	const char *p = last_lines(text, len);
	struct cause cause = { 0 };
	struct line line;

	while (line_next(&p, end, &line)) {
		if (line_find(&line, traceback_mark))
			read_traceback(&line, p, end, &cause);
		else
			read_form(&line, p, end, &cause);
	}
	buf_add(out, buf_text(&cause.text), cause.text.len);
	buf_done(&cause.text);
	return cause.rank > 0;
}

static void put_last_line(const char *text, size_t len, struct buf *out)
{
	size_t n;
	const char *line = text_last_line(text, len, &n);

	put_text(line, n, out);
}

void log_cause_find(const char *text, size_t len, struct buf *out)
{
	struct buf lines = { 0 };

	log_screen_text(text, len, &lines);
	if (!find_form(buf_text(&lines), lines.len, out))
		put_last_line(buf_text(&lines), lines.len, out);
	buf_done(&lines);
}

void log_cause_of_task(const char *folder, const char *type, int index,
		       struct buf *out)
{
	struct buf lines[LOG_STREAMS] = { 0 };
	struct error ignored;
	bool found = false;

	for (int i = LOG_STREAMS - 1; i >= 0 && !found; i--)
		found = log_last_lines(folder, type, index, (enum log_stream)i,
				       LINES_MAX, &lines[i], &ignored) == 0 &&
			find_form(buf_text(&lines[i]), lines[i].len, out);
	if (!found)
		put_last_line(buf_text(&lines[LOG_STDERR]),
			      lines[LOG_STDERR].len, out);
	for (int i = 0; i < LOG_STREAMS; i++)
		buf_done(&lines[i]);
}
