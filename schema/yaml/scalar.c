/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/yaml/scalar.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "schema/yaml/node.h"

#define NUMBER_MAX 64 /* characters */
#define BOOL_MAX 5    /* "false" */

static const char decimal[] = "0123456789";

static bool is_one_of(const char *text, const char *const *words, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!strcmp(text, words[i]))
			return true;
	return false;
}

static bool is_true(const char *text)
{
	static const char *const words[] = { "true", "True", "TRUE",
					     "yes",  "Yes",  "YES",
					     "on",   "On",   "ON" };

	return is_one_of(text, words, COUNT(words));
}

static bool is_false(const char *text)
{
	static const char *const words[] = { "false", "False", "FALSE",
					     "no",    "No",    "NO",
					     "off",   "Off",   "OFF" };

	return is_one_of(text, words, COUNT(words));
}

/* Copies the number without its underscores; returns false if it is too
 * long. */
static bool compact(const char *text, char out[NUMBER_MAX + 1])
{
	size_t n = 0;

	for (; *text; text++) {
		if (*text == '_')
			continue;
		if (n == NUMBER_MAX)
			return false;
		out[n++] = *text;
	}
	out[n] = '\0';
	return n > 0;
}

static const char *skip_sign(const char *text)
{
	return *text == '-' || *text == '+' ? text + 1 : text;
}

static bool is_digits(const char *text, const char *set)
{
	return *text && text[strspn(text, set)] == '\0';
}

/* Whether the text is a number to base 60, such as 12:30:00, in YAML 1.1. */
static bool is_base_60(const char *text)
{
	const char *p = skip_sign(text);

	if (*p < '1' || *p > '9')
		return false;
	p += strspn(p, decimal);
	if (*p != ':')
		return false;
	while (*p == ':') {
		size_t n = strspn(++p, decimal);

		if (n < 1 || n > 2 || (n == 2 && *p > '5'))
			return false;
		p += n;
	}
	return !*p;
}

static long base_60(const char *text)
{
	long value = 0, part = 0;

	for (text = skip_sign(text); *text; text++) {
		if (*text != ':') {
			part = part * 10 + (*text - '0');
			if (part > 1000000000000)
				return part;
			continue;
		}
		value = (value + part) * 60;
		part = 0;
		if (value > 1000000000000)
			break;
	}
	return value + part;
}

/* Returns the base of a whole number in YAML 1.1, or 0 if it is none.
 * `*digits` is where its digits start. */
static int base_of(const char *text, const char **digits)
{
	const char *p = skip_sign(text);

	*digits = p;
	if (p[0] == '0' && p[1] == 'x' &&
	    is_digits(p + 2, "0123456789abcdef"
			     "ABCDEF")) {
		*digits = p + 2;
		return 16;
	}
	if (p[0] == '0' && p[1] == 'b' && is_digits(p + 2, "01")) {
		*digits = p + 2;
		return 2;
	}
	if (p[0] == '0' && is_digits(p + 1, "01234567"))
		return 8;
	if (is_digits(p, decimal) && (p[0] != '0' || !p[1]))
		return 10;
	if (is_base_60(text))
		return 60;
	return 0;
}

static bool is_float(const char *text)
{
	const char *p = skip_sign(text);
	size_t before = strspn(p, decimal), after = 0;
	bool point;

	p += before;
	point = *p == '.';
	if (point) {
		after = strspn(++p, decimal);
		p += after;
	}
	if (!before && !after)
		return false;
	if (*p != 'e' && *p != 'E')
		return point && !*p;
	return is_digits(skip_sign(p + 1), decimal);
}

enum scalar_kind scalar_kind(const struct node *node)
{
	char number[NUMBER_MAX + 1];
	const char *text, *digits;

	if (node->kind != NODE_SCALAR || !node->plain)
		return SCALAR_TEXT;
	text = node->text;
	switch (text[0]) {
	case '\0':
		return SCALAR_NULL;
	case '~':
	case 'n':
	case 'N':
		if (!strcmp(text, "~") || !strcmp(text, "null") ||
		    !strcmp(text, "Null") || !strcmp(text, "NULL"))
			return SCALAR_NULL;
		break;
	}
	if (strchr("tTfFyYnNoO", text[0])) {
		if (node->count > BOOL_MAX)
			return SCALAR_TEXT;
		return is_true(text) || is_false(text) ? SCALAR_BOOL
						       : SCALAR_TEXT;
	}
	if (!strchr("+-.0123456789", text[0]) || !compact(text, number))
		return SCALAR_TEXT;
	if (base_of(number, &digits))
		return SCALAR_INT;
	return is_float(number) ? SCALAR_FLOAT : SCALAR_TEXT;
}

bool scalar_is_null(const struct node *node)
{
	return node->kind == NODE_SCALAR && scalar_kind(node) == SCALAR_NULL;
}

/* The service also accepts 8.0 and 1e3 as whole numbers. */
static bool whole_double(const char *number, long *out)
{
	double value;

	if (!is_float(number))
		return false;
	value = strtod(number, NULL);
	if (value != floor(value) || fabs(value) > 1e15)
		return false;
	*out = (long)value;
	return true;
}

bool scalar_int(const struct node *node, long *out, bool *odd)
{
	char number[NUMBER_MAX + 1];
	const char *digits = NULL;
	long value;
	int base;

	if (node->kind != NODE_SCALAR || !compact(node->text, number))
		return false;
	base = base_of(number, &digits);
	*odd = base != 10 || strchr(node->text, '_');
	if (!node->plain) {
		/* Quoted text must be a number for a JSON reader: decimal. */
		if (strchr(node->text, '_'))
			return false;
		base = is_digits(skip_sign(number), decimal) ? 10 : 0;
		digits = skip_sign(number);
		*odd = base != 10;
	}
	if (!base)
		return whole_double(number, out);
	if (base == 60) {
		value = base_60(number);
		if (value > 1000000000000)
			return false;
	} else {
		errno = 0;
		value = strtol(digits, NULL, base);
		if (errno)
			return false;
	}
	*out = number[0] == '-' ? -value : value;
	return true;
}

bool scalar_double(const struct node *node, double *out)
{
	char number[NUMBER_MAX + 1];
	const char *digits;
	bool odd;
	long whole;
	double value;

	if (node->kind != NODE_SCALAR || !compact(node->text, number))
		return false;
	if (!node->plain && strchr(node->text, '_'))
		return false;
	if (base_of(number, &digits) && scalar_int(node, &whole, &odd)) {
		*out = (double)whole;
		return true;
	}
	if (!is_float(number) && !is_digits(skip_sign(number), decimal))
		return false;
	value = strtod(number, NULL);
	if (!isfinite(value))
		return false;
	*out = value;
	return true;
}

bool scalar_bool(const struct node *node, bool *out)
{
	if (node->kind != NODE_SCALAR)
		return false;
	if (!is_true(node->text) && !is_false(node->text))
		return false;
	*out = is_true(node->text);
	return true;
}
