/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/slurm/hostlist.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"

#define BRACKETS_MAX 8 /* in one name */
#define DIGITS_MAX 9
#define TASKS_MAX 100000 /* on one node */

struct hostlist_expansion {
	struct hostlist *list;
	size_t room;      /* capacity of list->hosts */
	const char *text; /* for errors */
	size_t max;
	struct arena *mem;
	struct error *err;
};

static int malformed(struct hostlist_expansion *e)
{
	return error_set(e->err, ERROR_INVALID, "'%.200s' is no list of hosts",
			 e->text);
}

static int add_host(struct hostlist_expansion *e, const struct buf *name)
{
	struct hostlist *list = e->list;
	const char **more;

	if (!name->len)
		return malformed(e);
	if (list->count == e->max)
		return error_set(e->err, ERROR_INVALID,
				 "'%.200s' has more than %zu hosts", e->text,
				 e->max);
	if (list->count == e->room) {
		e->room = e->room ? e->room * 2 : 16;
		more = arena_alloc(e->mem, e->room * sizeof(*more));
		if (list->count)
			memcpy(more, list->hosts, list->count * sizeof(*more));
		list->hosts = more;
	}
	list->hosts[list->count++] =
		arena_strndup(e->mem, name->data, name->len);
	return 0;
}

/* Reads a number and its width: "007" is 7 with three digits. */
static const char *read_number(const char *p, const char *end, long *number,
			       int *width)
{
	const char *from = p;

	*number = 0;
	while (p < end && isdigit((unsigned char)*p) && p - from < DIGITS_MAX)
		*number = *number * 10 + (*p++ - '0');
	*width = (int)(p - from);
	return p;
}

static int expand(struct hostlist_expansion *e, struct buf *name, const char *p,
		  const char *end, int brackets);

/* Expands one range of a bracket; the rest follows each of its names. */
static int expand_range(struct hostlist_expansion *e, struct buf *name,
			const char *p, const char *range_end, const char *rest,
			const char *end, int brackets)
{
	long from, to, number;
	int width, to_width;

	p = read_number(p, range_end, &from, &width);
	to = from;
	if (width && p < range_end && *p == '-') {
		p = read_number(p + 1, range_end, &to, &to_width);
		if (!to_width)
			return malformed(e);
	}
	if (!width || p != range_end || to < from)
		return malformed(e);
	for (number = from; number <= to; number++) {
		size_t len = name->len;

		buf_printf(name, "%0*ld", width, number);
		if (expand(e, name, rest, end, brackets) < 0)
			return -1;
		name->len = len;
	}
	return 0;
}

/* Expands a name from `p` to `end`, after what is already in `name`. */
static int expand(struct hostlist_expansion *e, struct buf *name, const char *p,
		  const char *end, int brackets)
{
	const char *open = memchr(p, '[', (size_t)(end - p));
	const char *close, *range, *range_end;
	size_t len = name->len;

	if (!open) {
		if (memchr(p, ']', (size_t)(end - p)))
			return malformed(e);
		buf_add(name, p, (size_t)(end - p));
		if (add_host(e, name) < 0)
			return -1;
		name->len = len;
		return 0;
	}
	close = memchr(open, ']', (size_t)(end - open));
	if (!close || brackets == BRACKETS_MAX ||
	    memchr(p, ']', (size_t)(open - p)))
		return malformed(e);
	buf_add(name, p, (size_t)(open - p));
	for (range = open + 1;; range = range_end + 1) {
		range_end = memchr(range, ',', (size_t)(close - range));
		if (!range_end)
			range_end = close;
		if (expand_range(e, name, range, range_end, close + 1, end,
				 brackets + 1) < 0)
			return -1;
		if (range_end == close)
			break;
	}
	name->len = len;
	return 0;
}

int hostlist_add(struct hostlist *list, const char *text, size_t max,
		 struct arena *mem, struct error *err)
{
	struct hostlist result = *list;
	struct hostlist_expansion e = { .list = &result,
					.room = list->count,
					.text = text,
					.max = max,
					.mem = mem,
					.err = err };
	struct buf name = { 0 };
	const char *p, *end;
	bool inside;
	int ret = 0;

	for (p = text; ret == 0; p = end + 1) {
		inside = false;
		for (end = p; *end && (*end != ',' || inside); end++)
			inside = *end == '[' || (inside && *end != ']');
		name.len = 0;
		ret = expand(&e, &name, p, end, 0);
		if (!*end)
			break;
	}
	buf_done(&name);
	if (ret == 0)
		*list = result;
	return ret;
}

int hostlist_counts(const char *text, long *counts, size_t count,
		    struct error *err)
{
	const char *p = text;
	size_t filled = 0;

	for (;;) {
		const char *end = p + strlen(p);
		long number, times = 1;
		int width;

		p = read_number(p, end, &number, &width);
		if (!width || number > TASKS_MAX)
			goto malformed;
		if (p[0] == '(' && p[1] == 'x') {
			p = read_number(p + 2, end, &times, &width);
			if (!width || *p != ')')
				goto malformed;
			p++;
		}
		if (times < 1 || (size_t)times > count - filled)
			break;
		while (times--)
			counts[filled++] = number;
		if (!*p && filled == count)
			return 0;
		if (!*p)
			break;
		if (*p++ != ',')
			goto malformed;
	}
	return error_set(err, ERROR_INVALID, "'%.200s' is not about %zu nodes",
			 text, count);
malformed:
	return error_set(err, ERROR_INVALID,
			 "'%.200s' is no list of numbers of tasks", text);
}
