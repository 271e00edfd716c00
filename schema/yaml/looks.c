/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/yaml/looks.h"

#include <ctype.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "schema/yaml/node.h"
#include "schema/yaml/source_text.h"

static const char template_hint[] =
	"this looks like a template, but jobrun fills in no templates: write "
	"the value itself, or pass it with --set";

/* Texts that may be anywhere in a value, and the hints for them; the first
 * match counts. */
static const struct look {
	const char *part;
	const char *hint;
} looks[] = {
	{ "{{", template_hint },
	{ "{%", template_hint },
	{ "${", template_hint },
	{ "$(", template_hint },
	{ "\xc2\xa0", "it contains a no-break space (U+00A0), which looks like "
		      "a space" },
	{ "\xe2\x80\x8b", "it contains a zero-width space (U+200B)" },
	{ "\xe2\x80\x9c", "these are typographic quotes: write \"" },
	{ "\xe2\x80\x9d", "these are typographic quotes: write \"" },
	{ "\xe2\x80\x98", "these are typographic quotes: write '" },
	{ "\xe2\x80\x99", "these are typographic quotes: write '" },
	{ "#", "write a space before the # of a comment" },
	{ "\n", "it contains a line end: write it without quotes, > or | on "
		"the line of its key" },
};

/* Whether the text has <BUCKET>, $BUCKET or [BUCKET], also within a path. */
static bool has_variable(const char *text)
{
	const char *p;

	for (p = text; (p = strpbrk(p, "<$[")); p++) {
		const char *end = p + 1;

		if (!isalpha((unsigned char)*end))
			continue;
		while (isalnum((unsigned char)*end) || *end == '_' ||
		       *end == '-')
			end++;
		if (*p == '$' || *end == (*p == '<' ? '>' : ']'))
			return true;
	}
	return false;
}

static const char *looks_hint(const char *text)
{
	size_t i;

	if (has_variable(text))
		return template_hint;
	if (!strcmp(text, "None"))
		return "None is Python's: omit the field, or write null";
	for (i = 0; i < sizeof(looks) / sizeof(looks[0]); i++)
		if (strstr(text, looks[i].part))
			return looks[i].hint;
	return NULL;
}

/* Whether the value is {BUCKET}, which is a map with a key and no value in
 * YAML. */
static bool is_braces(const struct node *value)
{
	const struct item *item = value->items;

	return value->count == 1 && item->key->column == value->column + 1 &&
	       item->key->line == value->line &&
	       item->value->kind == NODE_SCALAR && item->value->plain &&
	       !item->value->count;
}

const char *looks_hint_of(const struct node *value)
{
	if (value->kind == NODE_SCALAR)
		return looks_hint(value->text);
	return value->kind == NODE_MAP && is_braces(value) ? template_hint
							   : NULL;
}

static const struct script {
	uint32_t first, last;
	const char *name;
} scripts[] = {
	{ 0x0370, 0x03ff, "a Greek letter" },
	{ 0x0400, 0x052f, "a Cyrillic letter" },
	{ 0x0530, 0x058f, "an Armenian letter" },
	{ 0x13a0, 0x13ff, "a Cherokee letter" },
	{ 0x2010, 0x2015, "a dash other than \"-\"" },
	{ 0x200b, 0x200f, "a zero-width character" },
	{ 0xff01, 0xff5e, "a full-width letter" },
};

bool looks_foreign(const char *text, char out[LOOKS_SIZE])
{
	size_t i, n, len = strlen(text);
	uint32_t c;

	for (; len; text += n, len -= n) {
		n = utf8_decode(text, len, &c);
		for (i = 0; n && i < sizeof(scripts) / sizeof(*scripts); i++) {
			if (c < scripts[i].first || c > scripts[i].last)
				continue;
			snprintf(out, LOOKS_SIZE, "its \"%.*s\" is U+%04X, %s",
				 (int)n, text, c, scripts[i].name);
			return true;
		}
		n = n ? n : 1;
	}
	return false;
}
