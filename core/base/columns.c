/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/columns.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"

#define GAP 2
#define COLUMNS_MAX 16
#define NARROWEST 10
#define SOURCES_MAX 8

/* The width on a terminal, one column per code point, which is right for our
 * own texts. */
static int columns_of(const char *text, size_t len)
{
	int n = 0;
	size_t i;

	for (i = 0; i < len; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
}

/* The length of the next line of at most `width` columns; `*rest` is the text
 * after it. */
static size_t take_line(const char *text, int width, const char **rest)
{
	size_t i = 0, end = 0;

	while (text[i]) {
		size_t word = i + strspn(text + i, " ");

		word += strcspn(text + word, " ");
		if (end && columns_of(text, word) > width)
			break;
		end = i = word;
	}
	*rest = text + end + strspn(text + end, " ");
	return end;
}

void wrap_text(const char *text, int column, int indent, int width,
	       struct buf *out)
{
	const char *rest;
	size_t len;

	/* On a very narrow terminal, room for words matters more than the
	 * margin. */
	if (width - indent < 2 * NARROWEST)
		width = indent + 2 * NARROWEST;
	do {
		len = take_line(text, width - column, &rest);
		buf_add(out, text, len);
		buf_putc(out, '\n');
		if (*rest)
			buf_fill(out, ' ', (size_t)indent);
		column = indent;
		text = rest;
	} while (*text);
}

/* Adds a value as people write it: a list with commas, {"count", "type"} as
 * "4 n1-highcpu-8". */
static void put_value(const json_t *value, struct buf *out)
{
	const json_t *item;
	const char *key;
	size_t i;

	if (json_is_string(value))
		buf_puts(out, json_string_value(value));
	else if (json_is_integer(value))
		buf_printf(out, "%" JSON_INTEGER_FORMAT,
			   json_integer_value(value));
	else if (json_is_real(value))
		buf_printf(out, "%g", json_real_value(value));
	else if (json_is_true(value))
		buf_puts(out, "yes");
	json_array_foreach(value, i, item)
	{
		buf_puts(out, i ? ", " : "");
		put_value(item, out);
	}
	i = 0;
	json_object_foreach((json_t *)value, key, item)
	{
		buf_puts(out, i++ ? " " : "");
		put_value(item, out);
	}
}

/* Returns new. */
static char *cell_text(const json_t *row, const char *key)
{
	struct buf text = { 0 };

	put_value(json_object_get(row, key), &text);
	return text.len ? buf_take(&text) : mem_strdup("");
}

/* "masterType" gives "MASTER TYPE". */
static void put_title(const char *key, char out[64])
{
	size_t n = 0;

	for (; *key && n + 2 < 64; key++) {
		if (isupper((unsigned char)*key) && n)
			out[n++] = ' ';
		out[n++] = (char)toupper((unsigned char)*key);
	}
	out[n] = '\0';
}

struct columns {
	const char *keys[COLUMNS_MAX];
	char titles[COLUMNS_MAX][64];
	int widths[COLUMNS_MAX];
	int least[COLUMNS_MAX]; /* the longest word, which is not broken */
	bool numbers[COLUMNS_MAX];
	size_t count;
};

static int longest_word(const char *text)
{
	int longest = 0;

	while (*text) {
		size_t len = strcspn(text, " ");

		if (columns_of(text, len) > longest)
			longest = columns_of(text, len);
		text += len + strspn(text + len, " ");
	}
	return longest;
}

static void measure(const json_t *rows, struct columns *all)
{
	size_t i, c;
	const json_t *row;

	for (c = 0; c < all->count; c++) {
		all->widths[c] =
			columns_of(all->titles[c], strlen(all->titles[c]));
		all->least[c] = longest_word(all->titles[c]);
		all->numbers[c] = true;
		json_array_foreach(rows, i, row)
		{
			const json_t *value =
				json_object_get(row, all->keys[c]);
			char *text = cell_text(row, all->keys[c]);
			int width = columns_of(text, strlen(text));

			if (width > all->widths[c])
				all->widths[c] = width;
			width = longest_word(text);
			if (width > all->least[c])
				all->least[c] = width;
			if (*text && !json_is_number(value))
				all->numbers[c] = false;
			free(text);
		}
	}
}

/* Narrows the widest column until the table fits or none can shrink. */
static void narrow(struct columns *all, int width)
{
	for (;;) {
		size_t c, widest = all->count;
		int total = -GAP;

		for (c = 0; c < all->count; c++) {
			total += all->widths[c] + GAP;
			if (all->widths[c] > all->least[c] &&
			    (widest == all->count ||
			     all->widths[c] > all->widths[widest]))
				widest = c;
		}
		if (total <= width || widest == all->count)
			return;
		all->widths[widest]--;
	}
}

static void trim_line(struct buf *out)
{
	while (out->len && out->data[out->len - 1] == ' ')
		out->data[--out->len] = '\0';
	buf_putc(out, '\n');
}

static void put_cell(const char *text, size_t len, int width, bool right,
		     struct buf *out)
{
	int used = columns_of(text, len);
	size_t fill = used < width ? (size_t)(width - used) : 0;

	if (right)
		buf_fill(out, ' ', fill);
	buf_add(out, text, len);
	if (!right)
		buf_fill(out, ' ', fill);
	buf_fill(out, ' ', GAP);
}

/* One row of cells, over as many lines as its longest cell needs. */
static void put_row(const char **cells, const struct columns *all,
		    struct buf *out)
{
	bool more = true;
	size_t c;

	while (more) {
		more = false;
		for (c = 0; c < all->count; c++) {
			const char *rest;
			size_t len = take_line(cells[c], all->widths[c], &rest);

			put_cell(cells[c], len, all->widths[c], all->numbers[c],
				 out);
			cells[c] = rest;
			more = more || *rest;
		}
		trim_line(out);
	}
}

/* The distinct sources, or NULL if there are too many to list. */
static json_t *few_sources(const json_t *rows)
{
	json_t *sources = json_object();
	const json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		const json_t *source = json_object_get(row, "source");

		if (json_is_string(source))
			json_object_set_new(sources, json_string_value(source),
					    json_true());
	}
	if (json_object_size(sources) <= SOURCES_MAX)
		return sources;
	json_decref(sources);
	return NULL;
}

static void put_sources(json_t *sources, int width, struct buf *out)
{
	const char *source;
	json_t *value;

	if (json_object_size(sources))
		buf_puts(out, "\nSource:\n");
	json_object_foreach(sources, source, value)
	{
		buf_puts(out, "  ");
		wrap_text(source, 2, 4, width, out);
	}
	json_decref(sources);
}

void wrap_table(const json_t *rows, int width, struct buf *out)
{
	json_t *sources = few_sources(rows);
	struct columns all = { 0 };
	const char *cells[COLUMNS_MAX];
	char *texts[COLUMNS_MAX];
	const json_t *row;
	const char *key;
	json_t *value;
	size_t i, c;

	json_object_foreach(json_array_get(rows, 0), key, value)
	{
		if (all.count == COLUMNS_MAX)
			break;
		if (sources && !strcmp(key, "source"))
			continue;
		put_title(key, all.titles[all.count]);
		all.keys[all.count++] = key;
	}
	measure(rows, &all);
	narrow(&all, width);
	for (c = 0; c < all.count; c++)
		cells[c] = all.titles[c];
	put_row(cells, &all, out);
	json_array_foreach(rows, i, row)
	{
		for (c = 0; c < all.count; c++)
			cells[c] = texts[c] = cell_text(row, all.keys[c]);
		put_row(cells, &all, out);
		for (c = 0; c < all.count; c++)
			free(texts[c]);
	}
	put_sources(sources, width, out);
}
