/* SPDX-License-Identifier: Apache-2.0 */
#include "core/data/brace.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"

/* The depth of nested or successive groups, as each is a level of recursion. */
#define DEPTH_MAX 64
/* The most characters examined for closing braces: unclosed braces after many
 * names would take for ever. */
#define LOOKED_MAX (1u << 26)

struct brace_expansion {
	const char *pattern; /* the whole pattern, for messages */
	struct arena *mem;   /* NULL: names are only counted */
	struct brace_names *names;
	struct error *err;
};

struct range {
	long long first, last, step; /* step > 0 */
	int width;                   /* padded with zeros */
};

void brace_names_done(struct brace_names *names)
{
	free(names->items);
	*names = (struct brace_names){ 0 };
}

/* The '}' of the '{' at `open`, or NULL. */
static const char *find_close(struct brace_expansion *all, const char *open)
{
	const char *at = open, *close = NULL;
	int depth = 0;

	for (; *at && !close; at++) {
		if (*at == '\\' && at[1])
			at++;
		else if (*at == '{')
			depth++;
		else if (*at == '}' && --depth == 0)
			close = at;
	}
	all->names->looked += (size_t)(at - open);
	return close;
}

/* The next ',' of this level from `at` on, or `end`. */
static const char *find_comma(const char *at, const char *end)
{
	int depth = 0;

	for (; at < end; at++) {
		if (*at == '\\' && at + 1 < end)
			at++;
		else if (*at == '{')
			depth++;
		else if (*at == '}')
			depth--;
		else if (*at == ',' && !depth)
			break;
	}
	return at;
}

/* Parses a number of at most 18 digits; its width counts if it begins with a
 * zero. */
static bool read_number(const char **at, long long *value, int *width)
{
	const char *digits = *at + (**at == '-');
	size_t len = strspn(digits, "0123456789");

	if (!len || len > 18)
		return false;
	*value = strtoll(*at, NULL, 10);
	if (*digits == '0' && len > 1 && (int)(digits + len - *at) > *width)
		*width = (int)(digits + len - *at);
	*at = digits + len;
	return true;
}

/* Parses "FIRST..LAST" or "FIRST..LAST..STEP" from `at` to `end`. */
static bool read_range(const char *at, const char *end, struct range *out)
{
	int unused = 0;

	*out = (struct range){ .step = 1 };
	if (!read_number(&at, &out->first, &out->width) ||
	    strncmp(at, "..", 2) != 0)
		return false;
	at += 2;
	if (!read_number(&at, &out->last, &out->width))
		return false;
	if (!strncmp(at, "..", 2)) {
		at += 2;
		if (!read_number(&at, &out->step, &unused))
			return false;
		out->step = llabs(out->step);
	}
	return at == end && out->step;
}

static int add_name(struct brace_expansion *all, const struct buf *name)
{
	struct brace_names *names = all->names;

	if (names->count == BRACE_NAMES_MAX ||
	    names->bytes + name->len > BRACE_BYTES_MAX)
		return error_set(all->err, ERROR_INVALID,
				 "'%.100s' stands for more than %d names or "
				 "%u MiB of them",
				 all->pattern, BRACE_NAMES_MAX,
				 BRACE_BYTES_MAX >> 20);
	names->bytes += name->len;
	if (!all->mem) {
		names->count++;
		return 0;
	}
	if (names->count == names->room) {
		names->room = names->room ? names->room * 2 : 16;
		names->items = mem_grow(names->items, names->room,
					sizeof(*names->items));
	}
	names->items[names->count++] =
		arena_strndup(all->mem, buf_text(name), name->len);
	return 0;
}

static int expand(struct brace_expansion *all, struct buf *name,
		  const char *rest, int depth);

/* Adds the rest of the pattern after each of the numbers. */
static int expand_range(struct brace_expansion *all, struct buf *name,
			const struct range *range, const char *rest, int depth)
{
	bool up = range->first <= range->last;
	unsigned long long i,
		count = (unsigned long long)llabs(range->last - range->first) /
			(unsigned long long)range->step;
	size_t len = name->len;
	int ret = 0;

	for (i = 0; ret == 0 && i <= count; i++) {
		long long step = (long long)i * range->step;

		buf_printf(name, "%0*lld", range->width,
			   range->first + (up ? step : -step));
		ret = expand(all, name, rest, depth);
		name->len = len;
	}
	return ret;
}

static int expand_list(struct brace_expansion *all, struct buf *name,
		       const char *first, const char *end, int depth)
{
	size_t len = name->len;
	struct buf rest = { 0 };
	const char *comma;
	int ret = 0;

	for (; ret == 0 && first <= end; first = comma + 1) {
		comma = find_comma(first, end);
		buf_clear(&rest);
		buf_add(&rest, first, (size_t)(comma - first));
		buf_puts(&rest, end + 1);
		ret = expand(all, name, rest.data, depth);
		name->len = len;
	}
	buf_done(&rest);
	return ret;
}

/* Adds all names that begin with `name` and continue with an expansion of
 * `rest`. */
static int expand(struct brace_expansion *all, struct buf *name,
		  const char *rest, int depth)
{
	const char *close;
	struct range range;

	if (depth == DEPTH_MAX || all->names->looked > LOOKED_MAX)
		return error_set(all->err, ERROR_INVALID,
				 "'%.100s' has more than %d groups of braces, "
				 "or too many without an end",
				 all->pattern, DEPTH_MAX);
	for (; *rest; rest++) {
		if (name->len >= BRACE_NAME_MAX)
			return error_set(all->err, ERROR_INVALID,
					 "'%.100s' stands for names of more "
					 "than %d characters",
					 all->pattern, BRACE_NAME_MAX);
		if (*rest == '\\' && rest[1]) {
			buf_putc(name, *++rest);
			continue;
		}
		close = *rest == '{' ? find_close(all, rest) : NULL;
		if (close && read_range(rest + 1, close, &range))
			return expand_range(all, name, &range, close + 1,
					    depth + 1);
		if (close && find_comma(rest + 1, close) < close)
			return expand_list(all, name, rest + 1, close,
					   depth + 1);
		buf_putc(name, *rest);
	}
	return add_name(all, name);
}

int brace_count(const char *pattern, struct brace_names *names,
		struct error *err)
{
	return brace_expand(pattern, NULL, names, err);
}

int brace_expand(const char *pattern, struct arena *mem,
		 struct brace_names *names, struct error *err)
{
	struct brace_expansion all = {
		.pattern = pattern, .mem = mem, .names = names, .err = err
	};
	const struct brace_names before = *names;
	struct buf name = { 0 };
	int ret;

	if (strlen(pattern) > BRACE_NAME_MAX)
		ret = error_set(err, ERROR_INVALID,
				"'%.100s' ... has more than %d characters",
				pattern, BRACE_NAME_MAX);
	else
		ret = expand(&all, &name, pattern, 0);
	if (ret < 0) {
		names->count = before.count;
		names->bytes = before.bytes;
	}
	buf_done(&name);
	return ret;
}
