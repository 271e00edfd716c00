/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

bool text_starts(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool text_is_within(const char *path, const char *above, char separator)
{
	size_t len = strlen(above);

	return text_starts(path, above) &&
	       (!path[len] || path[len] == separator);
}

bool text_ends(const char *text, const char *suffix)
{
	size_t n = strlen(text), m = strlen(suffix);

	return n >= m && strcmp(text + n - m, suffix) == 0;
}

size_t text_utf8_len(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t n, i;

	if (p[0] < 0x80)
		return 1;
	if (p[0] >= 0xc2 && p[0] <= 0xdf)
		n = 2;
	else if (p[0] >= 0xe0 && p[0] <= 0xef)
		n = 3;
	else if (p[0] >= 0xf0 && p[0] <= 0xf4)
		n = 4;
	else
		return 0;
	for (i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return n;
}

bool text_is_utf8(const char *text)
{
	size_t n;

	for (; *text; text += n) {
		n = text_utf8_len(text);
		if (!n)
			return false;
	}
	return true;
}

static bool is_control(char c)
{
	return (unsigned char)c < ' ' || c == 127;
}

bool text_is_printable(const char *text)
{
	while (*text && !is_control(*text))
		text++;
	return !*text;
}

void text_make_printable(char *text)
{
	for (; *text; text++)
		if (is_control(*text))
			*text = '?';
}

const char *text_last_line(const char *text, size_t len, size_t *line)
{
	size_t from;

	while (len && isspace((unsigned char)text[len - 1]))
		len--;
	for (from = len; from && text[from - 1] != '\n'; from--)
		;
	*line = len - from;
	return text + from;
}

void text_last_words(const char *text, size_t len, char *out, size_t size)
{
	size_t n, i;
	const char *line = text_last_line(text, len, &n);

	for (i = 0; i + 1 < size && i < n; i++) {
		unsigned char c = (unsigned char)line[i];

		out[i] = c < ' ' || c == 127 ? '?' : (char)c;
	}
	out[i] = '\0';
}
