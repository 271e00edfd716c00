/* SPDX-License-Identifier: Apache-2.0 */
/* Writes files with the edits that fix their problems, and diffs of them. */
#include "schema/problem/problem.h"

#include <stdlib.h>
#include <string.h>

#include "schema/yaml/source_text.h"

#define AROUND 3 /* lines shown before and after a change */

static int compare_edits(const void *left, const void *right)
{
	const struct edit *a = *(const struct edit *const *)left;
	const struct edit *b = *(const struct edit *const *)right;

	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return a->column < b->column ? -1 : a->column > b->column;
}

/* Returns the edits of a file in order, as a new array. */
static const struct edit **edits_of(const struct problems *found,
				    const char *file, size_t *count)
{
	const struct edit **all = NULL;
	size_t i;
	unsigned k;

	*count = 0;
	for (i = 0; i < found->count; i++) {
		const struct problem *problem = &found->items[i];

		if (!problem->edit_count || strcmp(problem->at.file, file) != 0)
			continue;
		all = mem_grow(all, *count + problem->edit_count, sizeof(*all));
		for (k = 0; k < problem->edit_count; k++)
			all[(*count)++] = &problem->edits[k];
	}
	if (*count)
		qsort(all, *count, sizeof(*all), compare_edits);
	return all;
}

/* Returns where the text begins that lines and columns count from; -1 if it was
 * converted from another encoding. */
static int text_start(const char *text, size_t len)
{
	if (memchr(text, 0, len) || (len && (unsigned char)*text >= 0xfe))
		return -1;
	return len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
}

static char *copy_of(const char *text, size_t len)
{
	char *copy = mem_alloc(len + 1);

	memcpy(copy, text, len);
	return copy;
}

char *problems_mend(const struct problems *found, const char *file,
		    const char *text, size_t len, size_t *count)
{
	int start = text_start(text, len);
	struct source_fault fault;
	struct source source;
	struct buf out = { 0 };
	const struct edit **all;
	size_t i, n, at = 0;

	*count = 0;
	if (start < 0)
		return NULL;
	all = edits_of(found, file, &n);
	if (!n)
		return NULL;
	source_init(&source, file, 0,
		    copy_of(text + start, len - (size_t)start),
		    len - (size_t)start, &fault);
	buf_add(&out, text, (size_t)start);
	for (i = 0; i < n; i++) {
		size_t from =
			source_offset(&source, all[i]->line, all[i]->column);
		size_t to = source_offset(&source, all[i]->line,
					  all[i]->column + all[i]->length);

		if (from < at || to <= from)
			continue;
		buf_add(&out, source.text + at, from - at);
		buf_puts(&out, all[i]->text);
		at = to;
		++*count;
	}
	buf_add(&out, source.text + at, source.len - at);
	source_done(&source);
	free(all);
	return buf_take(&out);
}

/* The lines of a text, each with its line end if it has one. */
struct lines {
	const char **at;
	size_t count; /* at[count] is the end */
};

static struct lines split(const char *text)
{
	struct lines out = { 0 };

	for (;; out.count++) {
		out.at = mem_grow(out.at, out.count + 2, sizeof(*out.at));
		out.at[out.count] = text;
		if (!*text)
			return out;
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
}

static bool differs(const struct lines *a, const struct lines *b, size_t i)
{
	size_t len = (size_t)(a->at[i + 1] - a->at[i]);

	return len != (size_t)(b->at[i + 1] - b->at[i]) ||
	       memcmp(a->at[i], b->at[i], len) != 0;
}

static void put_line(struct buf *out, char mark, const struct lines *of,
		     size_t i)
{
	struct buf line = { 0 };

	buf_add(&line, of->at[i], strcspn(of->at[i], "\r\n"));
	buf_putc(out, mark);
	problem_put_safe(out, buf_text(&line));
	buf_putc(out, '\n');
	buf_done(&line);
}

/* Writes the change in lines `first` to `last`, with the lines around it. */
static void put_hunk(struct buf *out, const struct lines *a,
		     const struct lines *b, size_t first, size_t last)
{
	size_t i;

	buf_printf(out, "@@ -%zu,%zu +%zu,%zu @@\n", first + 1, last - first,
		   first + 1, last - first);
	for (i = first; i < last; i++) {
		put_line(out, differs(a, b, i) ? '-' : ' ', a, i);
		if (differs(a, b, i))
			put_line(out, '+', b, i);
	}
}

void lines_diff(const char *name, const char *before, const char *after,
		struct buf *out)
{
	struct lines a = split(before), b = split(after);
	size_t i, first = 0, last = 0;

	buf_puts(out, "--- ");
	problem_put_safe(out, name);
	buf_puts(out, "\n+++ ");
	problem_put_safe(out, name);
	buf_putc(out, '\n');
	for (i = 0; i < a.count && i < b.count; i++) {
		if (!differs(&a, &b, i))
			continue;
		if (last && i > last + AROUND) {
			put_hunk(out, &a, &b, first, last);
			last = 0;
		}
		if (!last)
			first = i > AROUND ? i - AROUND : 0;
		last = i + 1 + AROUND < a.count ? i + 1 + AROUND : a.count;
	}
	if (last)
		put_hunk(out, &a, &b, first, last);
	free(a.at);
	free(b.at);
}
