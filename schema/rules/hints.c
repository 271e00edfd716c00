/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/rules/hints.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

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
