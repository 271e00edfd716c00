/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/rules/hints.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "schema/problem/problem.h"
#include "schema/yaml/looks.h"
#include "schema/yaml/node.h"
#include "schema/yaml/source_text.h"

/* Compares without regard to case, "_" and "-". */
static bool is_same(const char *a, const char *b)
{
	for (;; a++, b++) {
		while (*a == '_' || *a == '-')
			a++;
		while (*b == '_' || *b == '-')
			b++;
		if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
			return false;
		if (!*a)
			return true;
	}
}

static const char *find(const char *field, const char *given)
{
	const struct hint *hint;

	for (hint = hints; hint->field; hint++)
		if (!strcmp(hint->field, field) && is_same(hint->given, given))
			return hint->meant;
	return NULL;
}

const char *hint_key(const char *key)
{
	return find("", key);
}

const char *hint_value(const char *field, const char *value)
{
	return find(field, value);
}

static bool is_secret(const struct node *value)
{
	struct source *source = value->origin->source;

	return !source ||
	       source_is_secret(source, source_offset(source, value->line,
						      value->column + 1));
}

/* Hints at a value within typographic quotes with the value itself. */
static bool hint_quotes(struct problems *found, const struct node *value)
{
	static const char *const quotes[] = { "\xe2\x80\x98", "\xe2\x80\x99",
					      "\xe2\x80\x9c", "\xe2\x80\x9d",
					      "\xe2\x80\x9e" };
	size_t len = value->kind == NODE_SCALAR ? strlen(value->text) : 0;
	bool opens = false, closes = false;
	const char *text = value->text;
	char shown[SHORT_SIZE];
	size_t i;

	if (len <= 6)
		return false;
	for (i = 0; i < sizeof(quotes) / sizeof(*quotes); i++) {
		opens |= !memcmp(text, quotes[i], 3);
		closes |= !memcmp(text + len - 3, quotes[i], 3);
	}
	if (!opens || !closes || len >= SHORT_SIZE || strpbrk(text, "\"\\\n") ||
	    is_secret(value))
		return false;
	snprintf(shown, sizeof(shown), "%.*s", (int)len - 6, text + 3);
	problem_hint(found, "these are typographic quotes: write \"%s\"",
		     shown);
	problem_fix(found, value, "\"%s\"", shown);
	return true;
}

bool hint_looks(struct problems *found, const struct node *value)
{
	const char *hint = looks_hint_of(value);

	if (!hint)
		return false;
	if (!hint_quotes(found, value))
		problem_hint(found, "%s", hint);
	return true;
}
