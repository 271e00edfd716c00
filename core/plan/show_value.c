/* SPDX-License-Identifier: Apache-2.0 */
#include "core/plan/show_value.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/show.h"
#include "core/provider/placeholder.h"

static void show_word(struct buf *out, const char *word)
{
	const char *p;

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
	struct buf line = { 0 };
	size_t i;

	for (i = 0; i < json_array_size(list); i++) {
		const json_t *item = json_array_get(list, i);

		if (i)
			buf_putc(&line, ' ');
		if (placeholder_type(item))
			buf_puts(&line, placeholder_text(item));
		else if (json_is_string(item))
			show_word(&line, json_string_value(item));
		else
			show_json(&line, item);
	}
	show_text(out, buf_text(&line));
	buf_done(&line);
}

void show_value(struct buf *out, const json_t *value)
{
	const char *text = json_string_value(value);
	size_t len = text ? strlen(text) : 0;

	if (placeholder_type(value))
		buf_puts(out, placeholder_text(value));
	/* Spaces at an end, and nothing at all, are seen only in quotes. */
	else if (text && len && text[0] != ' ' && text[len - 1] != ' ')
		show_text(out, text);
	else if (is_list_of_words(value))
		show_list(out, value);
	else
		show_json(out, value);
}
