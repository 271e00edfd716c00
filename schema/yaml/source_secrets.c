/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/yaml/source_secrets.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "core/base/alloc.h"

#define WORD "secret"
#define BLANKS " \t"
#define BREAKS "\r\n"
/* A key further to the right has the indentation of this column. */
#define INDENT_MAX 1000

/* A text that is searched. */
struct secret_scan {
	const char *text;
	size_t len, at, end; /* of the block that is being read */
	size_t depth;        /* of braces and brackets */
	bool flow;           /* the block is in braces or brackets */
	bool valued;         /* a key came before on this line */
	bool variable, file; /* it was `env`, or `file` */
	struct secret_span *spans;
	size_t count, size;
};

static void add(struct secret_scan *scan, size_t from, size_t to)
{
	if (from >= to)
		return;
	if (scan->count == scan->size) {
		scan->size = scan->size ? scan->size * 2 : 8;
		scan->spans =
			mem_grow(scan->spans, scan->size, sizeof(*scan->spans));
	}
	scan->spans[scan->count++] = (struct secret_span){ from, to };
}

/* Returns the column of a place, from 0. */
static size_t column_of(const struct secret_scan *scan, size_t at)
{
	size_t n = 0;

	while (n < at && n < INDENT_MAX &&
	       !strchr(BREAKS, scan->text[at - n - 1]))
		n++;
	return n;
}

/* Returns the indentation of the line of a place. */
static size_t indent_of(const struct secret_scan *scan, size_t at)
{
	return strspn(scan->text + at - column_of(scan, at), BLANKS "-");
}

static size_t line_end(const struct secret_scan *scan, size_t at)
{
	while (at < scan->len && !strchr(BREAKS, scan->text[at]))
		at++;
	return at;
}

/* Whether a line that is indented so, with this text, is after a block.  A list
 * may be at the column of its key. */
static bool is_after(const char *text, size_t blanks, size_t indent)
{
	if (blanks > indent || strchr(BREAKS "#", *text))
		return false;
	return blanks < indent || *text != '-' || !strchr(BLANKS, text[1]);
}

/* Returns the end of what is indented by more than `indent`, after this
 * line. */
static size_t block_end(const struct secret_scan *scan, size_t at,
			size_t indent)
{
	size_t blanks;

	for (at = line_end(scan, at); at < scan->len;
	     at = line_end(scan, at + blanks)) {
		at++;
		blanks = strspn(scan->text + at, BLANKS);
		if (at + blanks < scan->len &&
		    is_after(scan->text + at + blanks, blanks, indent))
			return at;
	}
	return scan->len;
}

/* Returns the end of a quoted text. */
static size_t quote_end(const struct secret_scan *scan, size_t at)
{
	char quote = scan->text[at];

	for (at++; at < scan->end && scan->text[at] != quote; at++)
		if (quote == '"' && scan->text[at] == '\\')
			at++;
	return at < scan->end ? at + 1 : scan->end;
}

static bool is_colon(const struct secret_scan *scan, size_t at, bool quoted)
{
	return at < scan->end && scan->text[at] == ':' &&
	       (quoted || at + 1 >= scan->end ||
		strchr(BLANKS BREAKS "{[,", scan->text[at + 1]));
}

/* Returns the end of a text without quotes. */
static size_t plain_end(const struct secret_scan *scan, size_t at)
{
	for (; at < scan->end && !strchr(BREAKS, scan->text[at]); at++) {
		if (is_colon(scan, at, false) && !scan->valued)
			break;
		if (scan->depth && strchr("{}[],", scan->text[at]))
			break;
	}
	return at;
}

static bool is_word(const struct secret_scan *scan, size_t from, size_t to,
		    const char *word)
{
	while (from < to && strchr("\"'", scan->text[from]))
		from++;
	while (from < to && strchr("\"'" BLANKS, scan->text[to - 1]))
		to--;
	return to - from == strlen(word) &&
	       !memcmp(scan->text + from, word, to - from);
}

/* Whether the text has the form of a variable's name, with quotes or not. */
static bool is_name(const struct secret_scan *scan, size_t from, size_t to)
{
	while (to > from && strchr(BLANKS, scan->text[to - 1]))
		to--;
	for (; from < to; from++)
		if (!isalnum((unsigned char)scan->text[from]) &&
		    !strchr("_\"'", scan->text[from]))
			return false;
	return true;
}

static void read_value(struct secret_scan *scan, size_t from, size_t to)
{
	if (!scan->flow && strchr("|>", scan->text[from]))
		to = block_end(scan, from, indent_of(scan, from));
	if (to > scan->end)
		to = scan->end;
	if (!scan->file && !(scan->variable && is_name(scan, from, to)))
		add(scan, from, to);
	scan->at = to > from ? to : from + 1;
}

/* Reads a key or a value. */
static void read_token(struct secret_scan *scan)
{
	size_t from = scan->at, to, colon;
	bool quoted = strchr("\"'", scan->text[from]);

	to = quoted ? quote_end(scan, from) : plain_end(scan, from);
	colon = to + strspn(scan->text + to, BLANKS);
	if (scan->valued || !is_colon(scan, colon, quoted)) {
		read_value(scan, from, to);
		return;
	}
	scan->valued = true;
	scan->variable = is_word(scan, from, to, "env");
	scan->file = is_word(scan, from, to, "file");
	scan->at = colon + 1;
}

/* Reads from `at` to `end`, or to the brace that closes the first one. */
static void read_block(struct secret_scan *scan)
{
	scan->depth = 0;
	scan->valued = scan->variable = scan->file = false;
	while (scan->at < scan->end) {
		char c = scan->text[scan->at];

		if (!strchr("{[,}]" BREAKS BLANKS "-", c) ||
		    (c == '-' && !strchr(BLANKS, scan->text[scan->at + 1]))) {
			read_token(scan);
			continue;
		}
		scan->at++;
		if (strchr("{[,}]" BREAKS, c))
			scan->valued = scan->variable = scan->file = false;
		if (c == '{' || c == '[')
			scan->depth++;
		if ((c == '}' || c == ']') && scan->depth && !--scan->depth &&
		    scan->flow)
			return;
	}
}

/* Whether `secrets`, or `secret`, is a key here; sets `at` behind it. */
static bool is_key(struct secret_scan *scan, size_t from)
{
	const char *text = scan->text;
	size_t at = from + strlen(WORD);
	bool several = text[at] == 's';

	if (from && !strchr(BLANKS BREAKS "{,\"'", text[from - 1]))
		return false;
	at += several;
	at += text[at] == '"' || text[at] == '\'';
	at += strspn(text + at, BLANKS);
	if (text[at] != ':')
		return false;
	at++;
	scan->at = at + strspn(text + at, BLANKS);
	/* `secret: NAME` is another field. */
	return several || !text[scan->at] ||
	       strchr("{[" BREAKS, text[scan->at]);
}

struct secret_span *source_secrets(const char *text, size_t len, size_t *count)
{
	struct secret_scan scan = { .text = text, .len = len };
	const char *found;
	size_t from, open;

	while ((found = memmem(text + scan.at, len - scan.at, WORD,
			       strlen(WORD)))) {
		from = (size_t)(found - text);
		scan.at = from + strlen(WORD);
		if (!is_key(&scan, from))
			continue;
		open = scan.at + strspn(text + scan.at, BLANKS BREAKS);
		scan.flow = text[open] == '{' || text[open] == '[';
		/* A value where a map is due: hide the rest of its line. */
		if (!scan.flow && open == scan.at && open < len &&
		    !strchr("&*!|>#\"'", text[open])) {
			add(&scan, open, line_end(&scan, open));
			scan.at = line_end(&scan, open);
			continue;
		}
		if (scan.flow)
			scan.at = open;
		scan.end = scan.flow ? len
				     : block_end(&scan, from,
						 column_of(&scan, from));
		read_block(&scan);
		if (scan.at > len)
			scan.at = len;
	}
	*count = scan.count;
	return scan.spans;
}
