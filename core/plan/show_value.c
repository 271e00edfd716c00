/* SPDX-License-Identifier: Apache-2.0 */
#include "core/plan/show_value.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/show.h"
#include "core/provider/placeholder.h"

/* Writes the text as a shell reads it back: as $'…', where \n is a newline. */
static void show_escaped(struct buf *out, const char *text)
{
	struct buf inner = { 0 };

	for (; *text; text++) {
		if (*text == '\\' || *text == '\'')
			buf_putc(&inner, '\\');
		buf_putc(&inner, *text);
	}
	buf_puts(out, "$'");
	show_text(out, buf_text(&inner));
	buf_putc(out, '\'');
	buf_done(&inner);
}

/* Whether the text is shown unchanged. */
static bool is_printable(const char *text)
{
	struct buf shown = { 0 };
	bool same;

	show_text(&shown, text);
	same = !strcmp(buf_text(&shown), text);
	buf_done(&shown);
	return same;
}

static void show_word(struct buf *out, const char *word)
{
	const char *p;

	if (!is_printable(word)) {
		show_escaped(out, word);
		return;
	}
	if (*word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyz"
					"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
					"0123456789@%+=:,./_-")]) {
		buf_puts(out, word);
		return;
	}
	buf_putc(out, '\'');
	for (p = word; *p; p++) {
		char one[2] = { *p, '\0' };

		buf_puts(out, *p == '\'' ? "'\\''" : one);
	}
	buf_putc(out, '\'');
}

static bool is_list_of_words(const json_t *value)
{
	size_t i;

	for (i = 0; i < json_array_size(value); i++) {
		const json_t *item = json_array_get(value, i);

		if (placeholder_type(item))
			continue;
		if (json_is_array(item) || json_is_object(item) ||
		    json_is_null(item))
			return false;
	}
	return json_array_size(value) > 0;
}

static void show_json(struct buf *out, const json_t *value)
{
	json_t *shown = placeholder_show(value);
	char *text = json_dumps(shown, JSON_COMPACT | JSON_ENCODE_ANY |
					       JSON_REAL_PRECISION(15));

	show_text(out, text ? text : "?");
	free(text);
	json_decref(shown);
}

static void show_list(struct buf *out, const json_t *list)
{
	size_t i;

	for (i = 0; i < json_array_size(list); i++) {
		const json_t *item = json_array_get(list, i);

		if (i)
			buf_putc(out, ' ');
		if (placeholder_type(item))
			buf_puts(out, placeholder_text(item));
		else if (json_is_string(item))
			show_word(out, json_string_value(item));
		else
			show_json(out, item);
	}
}

/* Whether the text cannot be mistaken for another value, such as a quoted
 * one. */
static bool is_plain(const char *text)
{
	size_t len = strlen(text);

	return len && text[0] != ' ' && text[0] != '"' &&
	       text[len - 1] != ' ' && strncmp(text, "$'", 2) != 0 &&
	       is_printable(text);
}

void show_value(struct buf *out, const json_t *value)
{
	const char *text = json_string_value(value);

	if (placeholder_type(value))
		buf_puts(out, placeholder_text(value));
	else if (text && is_plain(text))
		buf_puts(out, text);
	else if (text && !is_printable(text))
		show_escaped(out, text);
	/* An empty text, or one with spaces at an end, is shown in quotes. */
	else if (is_list_of_words(value))
		show_list(out, value);
	else
		show_json(out, value);
}
