/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/pattern.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"

#define REPEATS_MAX 100000L /* larger counts are all too many */
#define GROUP_COST 3        /* parentheses take states of their own */

/* The group being read, and the groups around it. */
struct cost {
	unsigned long group[PATTERN_DEPTH_MAX + 1]; /* without `last` */
	size_t depth;
	unsigned long last; /* the cost of what a star would repeat */
};

static void add(struct cost *cost, unsigned long size)
{
	cost->group[cost->depth] += cost->last;
	cost->last = size;
}

/* Skips "[...]"; a ']' does not end it if it comes first. */
static const char *skip_bracket(const char *at)
{
	at += at[1] == '^' ? 2 : 1;
	for (at += *at == ']'; *at && *at != ']'; at++) {
		char kind = at[0] == '[' ? at[1] : '\0';

		/* "[:alpha:]", "[=a=]", "[.a.]" */
		if (kind && strchr(":=.", kind)) {
			const char ends[] = { kind, ']', '\0' };
			const char *end = strstr(at + 2, ends);

			if (end)
				at = end + 1;
		}
	}
	return *at ? at + 1 : at;
}

/* Parses "{3}", "{3,}", "{,5}", "{3,5}": how often the last part is written
 * out. */
static const char *read_repeats(const char *at, unsigned long *times)
{
	long least = 0, most = 0;
	char *end;

	if (isdigit((unsigned char)*++at)) {
		least = strtol(at, &end, 10);
		at = end;
	}
	if (*at == ',' && isdigit((unsigned char)at[1])) {
		most = strtol(at + 1, &end, 10);
		at = end;
	} else if (*at == ',') {
		at++;
		most = least < REPEATS_MAX ? least + 1 : least;
	}
	if (most < least)
		most = least;
	if (*at != '}')
		most = 1; /* regcomp() will report the error */
	*times = (unsigned long)(most < REPEATS_MAX ? most : REPEATS_MAX);
	return at + (*at == '}');
}

static int check_cost(const char *at, struct error *err)
{
	struct cost cost = { 0 };
	unsigned long times;

	while (*at) {
		switch (*at) {
		case '\\':
			if (at[1] >= '1' && at[1] <= '9')
				return error_set(
					err, ERROR_INVALID,
					"must not refer back to a group with "
					"\\%c: that can take forever",
					at[1]);
			at += at[1] ? 2 : 1;
			add(&cost, 1);
			break;
		case '[':
			at = skip_bracket(at);
			add(&cost, 1);
			break;
		case '(':
			if (cost.depth == PATTERN_DEPTH_MAX)
				return error_set(
					err, ERROR_INVALID,
					"has more than %d nested groups",
					PATTERN_DEPTH_MAX);
			add(&cost, 0);
			cost.group[++cost.depth] = GROUP_COST;
			at++;
			break;
		case ')':
			if (cost.depth) {
				add(&cost, 0);
				cost.last = cost.group[cost.depth--];
			}
			at++;
			break;
		case '+': /* regcomp() expands "a+" to "aa*" */
			cost.last = cost.last * 2 + 1;
			at++;
			break;
		case '*':
		case '?':
			cost.last++;
			at++;
			break;
		case '{':
			at = read_repeats(at, &times);
			cost.last = (cost.last + 1) * times;
			break;
		default:
			add(&cost, 1);
			at++;
		}
		if (cost.last + cost.group[cost.depth] > PATTERN_COST_MAX)
			return error_set(err, ERROR_INVALID,
					 "repeats too much: written out it has "
					 "more than %d parts",
					 PATTERN_COST_MAX);
	}
	return 0;
}

int pattern_compile(const char *text, int flags, regex_t *out,
		    struct error *err)
{
	char why[128];
	int code;

	if (check_cost(text, err) < 0)
		return -1;
	code = regcomp(out, text, flags | REG_EXTENDED);
	if (!code)
		return 0;
	regerror(code, out, why, sizeof(why));
	return error_set(err, ERROR_INVALID,
			 "is not a valid regular "
			 "expression: %s",
			 why);
}

#ifdef REG_STARTEND
int pattern_match(const regex_t *pattern, const char *text, size_t len,
		  size_t count, regmatch_t *found, int flags)
{
	regmatch_t none;

	if (!count)
		found = &none;
	found[0] = (regmatch_t){ .rm_eo = (regoff_t)len };
	return regexec(pattern, text, count, found, flags | REG_STARTEND);
}
#else
/* Where regexec() knows only text that ends with NUL, it gets a copy in which a
 * byte that no expression names stands for NUL. */
int pattern_match(const regex_t *pattern, const char *text, size_t len,
		  size_t count, regmatch_t *found, int flags)
{
	char *copy = mem_alloc(len + 1);
	size_t i;
	int ret;

	for (i = 0; i < len; i++)
		copy[i] = text[i] ? text[i] : '\1';
	ret = regexec(pattern, copy, count, found, flags);
	free(copy);
	return ret;
}
#endif
