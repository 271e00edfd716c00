/* SPDX-License-Identifier: Apache-2.0 */
/* Writes problems as text for a terminal or a log.  Texts from files are
 * escaped, so that none of their bytes can move the cursor. */
#include "schema/problem/problem.h"

#include <string.h>

#include "schema/yaml/source_text.h"

struct text_range {
	uint32_t first, last;
};

static bool in(uint32_t c, const struct text_range *ranges, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return true;
	return false;
}

/* Returns the columns that a terminal uses for the character. */
static unsigned width_of(uint32_t c)
{
	static const struct text_range wide[] = {
		{ 0x1100, 0x115f },   { 0x2e80, 0xa4cf },
		{ 0xac00, 0xd7a3 },   { 0xf900, 0xfaff },
		{ 0xfe30, 0xfe6f },   { 0xff00, 0xff60 },
		{ 0xffe0, 0xffe6 },   { 0x1f300, 0x1f64f },
		{ 0x1f680, 0x1f6ff }, { 0x1f900, 0x1f9ff },
		{ 0x20000, 0x3fffd },
	};
	static const struct text_range none[] = {
		{ 0x0300, 0x036f }, { 0x200b, 0x200d }, { 0x20d0, 0x20ff },
		{ 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f },
	};

	if (c < 0x300)
		return 1;
	if (in(c, none, COUNT(none)))
		return 0;
	return in(c, wide, COUNT(wide)) ? 2 : 1;
}

void problem_put_safe(struct buf *out, const char *text)
{
	size_t len = strlen(text), n;
	uint32_t c;

	for (; len; text += n, len -= n) {
		n = utf8_decode(text, len, &c);
		if (!n) {
			buf_printf(out, "\\x%02x", (unsigned char)*text);
			n = 1;
		} else if (c == '\n') {
			buf_puts(out, "\\n");
		} else if (utf8_is_control(c)) {
			buf_printf(out, "\\u%04x", c);
		} else {
			buf_add(out, text, n);
		}
	}
}

/* Writes the source line; each control character is replaced by one
 * character. */
static void put_excerpt(struct buf *out, const char *text)
{
	size_t len = strlen(text), n;
	uint32_t c;

	for (; len; text += n, len -= n) {
		n = utf8_decode(text, len, &c);
		if (n && !utf8_is_control(c))
			buf_add(out, text, n);
		else
			buf_puts(out, c == '\t' ? " " : "\xef\xbf\xbd");
		n = n ? n : 1;
	}
}

static void put_caret(struct buf *out, const struct position *p, char line)
{
	unsigned column = p->excerpt_start + 1, end = p->column + p->length;
	const char *text = p->excerpt;
	size_t len = strlen(text), n;
	uint32_t c;

	for (; column < end && len; column++, text += n, len -= n) {
		n = utf8_decode(text, len, &c);
		buf_fill(out, column < p->column ? ' ' : line,
			 n ? width_of(c) : 1);
		n = n ? n : 1;
	}
	/* The problem is past the end of the line, where something is
	 * missing. */
	if (column <= p->column)
		buf_fill(out, line, 1);
}

/* Draws the caret of a position: `form` is its first and its further
 * characters. */
static void draw(struct buf *out, const struct position *p, const char *form)
{
	size_t at = out->len;

	put_caret(out, p, form[1]);
	while (at < out->len && out->data[at] == ' ')
		at++;
	if (at < out->len)
		out->data[at] = form[0];
}

static void put_line(struct buf *out, const struct position *p)
{
	buf_printf(out, "%5u | %s", p->line, p->excerpt_start ? "..." : "");
	put_excerpt(out, p->excerpt);
	buf_puts(out, p->excerpt_cut ? "..." : "");
}

/* Begins the line below the source line. */
static void put_margin(struct buf *out, const struct position *p,
		       const char *tint)
{
	buf_printf(out, "\n      | %s%s", tint, p->excerpt_start ? "   " : "");
}

/* Writes the source line, and a caret below it. */
static void put_source(struct buf *out, const struct position *p,
		       const char *form, const char *said, const char *tint,
		       const char *plain)
{
	put_line(out, p);
	put_margin(out, p, tint);
	draw(out, p, form);
	buf_printf(out, "%s%s%s\n", *said ? " " : "", said, plain);
}

/* Whether both places are in one source line, as it is shown, and do not
 * overlap. */
static bool is_beside(const struct position *p, const struct position *other)
{
	if (!p->excerpt || !other->excerpt || p->line != other->line ||
	    strcmp(p->file, other->file) != 0)
		return false;
	if (other->column + other->length <= p->column)
		return other->column > p->excerpt_start;
	return other->column >= p->column + p->length && !p->excerpt_cut;
}

/* Writes the source line with both places marked, and what the label says: to
 * the right of its mark, or below it where the problem is to the right. */
static void put_both(struct buf *out, const struct position *p,
		     const struct label *label, const char *tint,
		     const char *plain)
{
	struct position other = *p;
	struct buf below = { 0 };
	size_t at, i, pad;

	other.column = label->at.column;
	other.length = label->at.length;
	put_line(out, p);
	put_margin(out, p, tint);
	at = out->len;
	draw(out, p, "^~");
	draw(&below, &other, "--");
	pad = strspn(buf_text(&below), " ");
	if (out->len - at < below.len)
		buf_fill(out, ' ', at + below.len - out->len);
	for (i = pad; i < below.len; i++)
		out->data[at + i] = below.data[i];
	if (other.column < p->column) {
		put_margin(out, p, "");
		buf_fill(out, ' ', pad);
	} else {
		buf_putc(out, ' ');
	}
	buf_printf(out, "%s%s\n", label->message, plain);
	buf_done(&below);
}

static void put_label(struct buf *out, const struct problem *p,
		      const struct label *label, bool colour)
{
	const char *tint = colour ? "\033[1;34m" : "";
	const char *plain = colour ? "\033[0m" : "";

	if (strcmp(label->at.file, p->at.file) != 0) {
		buf_puts(out, "      = ");
		problem_put_safe(out, label->at.file);
		buf_printf(out, ":%u:%u:%s%s\n", label->at.line,
			   label->at.column, label->at.excerpt ? "" : " ",
			   label->at.excerpt ? "" : label->message);
	}
	if (label->at.excerpt)
		put_source(out, &label->at, "--", label->message, tint, plain);
}

static void put_problem(struct buf *out, const struct problem *p, bool colour)
{
	static const char *const colours[] = { "\033[1;31m", "\033[1;35m",
					       "\033[1;36m" };
	const char *tint = colour ? colours[p->severity] : "";
	const char *bold = colour ? "\033[1m" : "";
	const char *plain = colour ? "\033[0m" : "";
	bool both = p->label_count && is_beside(&p->at, &p->labels[0].at);
	unsigned i;

	buf_puts(out, bold);
	problem_put_safe(out, p->at.file);
	if (p->at.line)
		buf_printf(out, ":%u:%u", p->at.line, p->at.column);
	buf_printf(out, ": %s%s: %s%s", tint, severity_name(p->severity), plain,
		   bold);
	problem_put_safe(out, p->message);
	buf_printf(out, "%s [%s]\n", plain, p->rule);
	if (both)
		put_both(out, &p->at, &p->labels[0], tint, plain);
	else if (p->at.excerpt && p->at.line)
		put_source(out, &p->at, "^~", "", tint, plain);
	for (i = both; i < p->label_count; i++)
		put_label(out, p, &p->labels[i], colour);
	if (p->hint) {
		buf_puts(out, "      = ");
		problem_put_safe(out, p->hint);
		buf_putc(out, '\n');
	}
}

static void put_count(struct buf *out, size_t count, const char *what)
{
	if (count)
		buf_printf(out, "%s%zu %s%s", out->len ? " and " : "", count,
			   what, count == 1 ? "" : "s");
}

void problems_summary(const struct problems *found, struct buf *out)
{
	buf_clear(out);
	put_count(out, found->errors, "error");
	put_count(out, found->warnings, "warning");
	if (out->len && found->files > 1)
		buf_printf(out, " in %zu of %zu files", found->bad_files,
			   found->files);
}

void problems_text(const struct problems *found, unsigned style,
		   struct buf *out)
{
	size_t i;

	for (i = 0; i < found->count; i++)
		put_problem(out, &found->items[i], style & PROBLEMS_COLOUR);
}
