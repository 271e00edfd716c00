/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/yaml/source_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/nearest.h"
#include "schema/yaml/source_secrets.h"

#define KEY_SIZE 32 /* longer keys are no keys of jobs */

size_t utf8_decode(const char *text, size_t len, uint32_t *out)
{
	const unsigned char *p = (const unsigned char *)text;
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	uint32_t c;
	size_t n, i;

	if (!len)
		return 0;
	if (p[0] < 0x80) {
		*out = p[0];
		return 1;
	}
	if (p[0] >= 0xc2 && p[0] <= 0xdf)
		n = 2, c = p[0] & 0x1f;
	else if (p[0] >= 0xe0 && p[0] <= 0xef)
		n = 3, c = p[0] & 0x0f;
	else if (p[0] >= 0xf0 && p[0] <= 0xf4)
		n = 4, c = p[0] & 0x07;
	else
		return 0;
	if (n > len)
		return 0;
	for (i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*out = c;
	return n;
}

static void utf8_add(uint32_t c, struct buf *out)
{
	char bytes[4];
	size_t n = 0;

	if (c < 0x80) {
		bytes[n++] = (char)c;
	} else if (c < 0x800) {
		bytes[n++] = (char)(0xc0 | c >> 6);
		bytes[n++] = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		bytes[n++] = (char)(0xe0 | c >> 12);
		bytes[n++] = (char)(0x80 | (c >> 6 & 0x3f));
		bytes[n++] = (char)(0x80 | (c & 0x3f));
	} else {
		bytes[n++] = (char)(0xf0 | c >> 18);
		bytes[n++] = (char)(0x80 | (c >> 12 & 0x3f));
		bytes[n++] = (char)(0x80 | (c >> 6 & 0x3f));
		bytes[n++] = (char)(0x80 | (c & 0x3f));
	}
	buf_add(out, bytes, n);
}

bool utf8_is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) ||
	       (c >= 0x200e && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

/* Whether YAML allows the character.  A byte order mark within the file is
 * refused: it is invisible and would become part of a key. */
static bool is_yaml(uint32_t c)
{
	return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c < 0x7f) ||
	       c == 0x85 || (c >= 0xa0 && c <= 0xd7ff) ||
	       (c >= 0xe000 && c <= 0xfffd && c != 0xfeff) || c >= 0x10000;
}

/* Converts UTF-16.  A lone surrogate is converted like a character and then
 * found to be invalid. */
static char *from_utf16(const char *data, size_t len, bool big, size_t *out)
{
	const unsigned char *p = (const unsigned char *)data;
	struct buf text = { 0 };
	size_t i;

	buf_reserve(&text, len / 2 * 3);
	for (i = 0; i + 1 < len; i += 2) {
		uint32_t c = big ? (uint32_t)p[i] << 8 | p[i + 1]
				 : (uint32_t)p[i + 1] << 8 | p[i];

		if (c >= 0xd800 && c < 0xdc00 && i + 3 < len) {
			uint32_t low = big ? (uint32_t)p[i + 2] << 8 | p[i + 3]
					   : (uint32_t)p[i + 3] << 8 | p[i + 2];

			if (low >= 0xdc00 && low < 0xe000) {
				c = 0x10000 + ((c - 0xd800) << 10) +
				    (low - 0xdc00);
				i += 2;
			}
		}
		utf8_add(c, &text);
	}
	if (i < len)
		buf_putc(&text, '\xff');
	buf_puts(&text, "");
	*out = text.len;
	return buf_take(&text);
}

static bool is_break(uint32_t c)
{
	return c == '\n' || c == '\r' || c == 0x85 || c == 0x2028 ||
	       c == 0x2029;
}

static void describe(const struct source *source, size_t at,
		     struct source_fault *fault)
{
	uint32_t c;

	if (!utf8_decode(source->text + at, source->len - at, &c))
		snprintf(fault->text, sizeof(fault->text),
			 "byte 0x%02X is not valid UTF-8",
			 (unsigned char)source->text[at]);
	else if (c == 0xfeff)
		snprintf(fault->text, sizeof(fault->text),
			 "byte order mark (U+FEFF) in the middle of the file");
	else
		snprintf(fault->text, sizeof(fault->text),
			 "control character U+%04X", c);
}

static int check(struct source *source, struct source_fault *fault)
{
	const char *text = source->text;
	size_t len = source->len;
	unsigned line = 1;
	size_t i = 0, n;
	uint32_t c, previous = 0;

	/* Job files are mostly ASCII: look for the first byte that is not. */
	for (; i < len; i++)
		if ((unsigned char)(text[i] - 0x20) >= 0x5f &&
		    text[i] != '\n' && text[i] != '\r' && text[i] != '\t')
			break;
	source->ascii = i == len;
	if (source->ascii)
		return 0;
	for (; i < len; i += n) {
		n = utf8_decode(text + i, len - i, &c);
		if (!n || !is_yaml(c))
			break;
	}
	if (i == len)
		return 0;
	describe(source, i, fault);
	fault->column = 1;
	for (len = i, i = 0; i < len; i += n) {
		n = utf8_decode(text + i, len - i, &c);
		if (previous == '\r' && c == '\n') {
			previous = c;
			continue;
		}
		fault->column++;
		if (is_break(c)) {
			line++;
			fault->column = 1;
		}
		previous = c;
	}
	fault->line = line;
	return -1;
}

int source_init(struct source *source, const char *name, unsigned order,
		char *data, size_t len, struct source_fault *fault)
{
	*source = (struct source){ .name = name, .order = order };
	if (len >= 2 &&
	    (!memcmp(data, "\xff\xfe", 2) || !memcmp(data, "\xfe\xff", 2))) {
		source->text = from_utf16(data + 2, len - 2, data[0] == '\xfe',
					  &source->len);
		free(data);
	} else {
		source->text = data;
		source->len = len;
		if (len >= 3 && !memcmp(data, "\xef\xbb\xbf", 3)) {
			source->len -= 3;
			memmove(data, data + 3, source->len + 1);
		}
	}
	return check(source, fault);
}

static bool is_key_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       c == '-';
}

/* Reads the key that a line begins with, without quotes; returns false if there
 * is none or it is too long for one of ours. */
static bool key_of(const char *line, size_t len, char out[KEY_SIZE])
{
	const char *end = line + len;
	size_t n = 0;

	if (len > 2 && line[0] == '-' && line[1] == ' ') /* item of a list */
		line += 2;
	if (line < end && (*line == '"' || *line == '\''))
		line++;
	for (; line < end && n + 1 < KEY_SIZE && is_key_char(*line); line++)
		out[n++] = *line;
	out[n] = '\0';
	if (line < end && (*line == '"' || *line == '\''))
		line++;
	while (line < end && *line == ' ')
		line++;
	return *out && line < end && *line == ':';
}

static bool is_job_key(const char *key)
{
	/* The later names are at the top level where "trainingInput" was
	 * forgotten. */
	static const char *const exact[] = {
		"jobId",      "job_id",         "jobrun",
		"labels",     "scaleTier",      "scale_tier",
		"masterType", "masterConfig",   "pythonModule",
		"workerType", "packageUris",    "hyperparameters",
		"region",     "runtimeVersion",
	};
	static const char *const near[] = { "trainingInput" };
	size_t i;

	for (i = 0; i < COUNT(exact); i++)
		if (!strcmp(key, exact[i]))
			return true;
	return nearest_name(key, near, COUNT(near));
}

static bool has_word(const struct source *source, const char *word)
{
	return memmem(source->text, source->len, word, strlen(word));
}

/* Whether JSON text is a job; its keys may be anywhere. */
static bool is_json_job(const struct source *source)
{
	size_t i = strspn(source->text, " \t\r\n");

	return source->text[i] == '{' &&
	       (has_word(source, "trainingInput") ||
		has_word(source, "training_input") ||
		has_word(source, "jobrun") || has_word(source, "jobId"));
}

static bool find_job_key(const struct source *source)
{
	const char *at = source->text, *end = at + source->len;
	char key[KEY_SIZE];

	while (at < end) {
		const char *next = memchr(at, '\n', (size_t)(end - at));

		if (key_of(at, (size_t)((next ? next : end) - at), key) &&
		    is_job_key(key))
			return true;
		at = next ? next + 1 : end;
	}
	return false;
}

bool source_is_job(struct source *source)
{
	if (!source->looked) {
		source->is_job = source->option || is_json_job(source) ||
				 find_job_key(source);
		source->looked = true;
	}
	return source->is_job;
}

void source_done(struct source *source)
{
	free(source->text);
	free(source->lines);
	free(source->secrets);
	*source = (struct source){ 0 };
}

bool source_is_secret(struct source *source, size_t offset)
{
	size_t first = 0, end, middle;

	if (!source->searched) {
		source->secrets = source_secrets(source->text, source->len,
						 &source->secret_count);
		source->searched = true;
	}
	for (end = source->secret_count; first < end;) {
		middle = first + (end - first) / 2;
		if (source->secrets[middle].to <= offset)
			first = middle + 1;
		else
			end = middle;
	}
	return first < source->secret_count &&
	       source->secrets[first].from <= offset;
}

/* Returns the length of the line break at `p`, or 0. */
static size_t break_len(const char *p, size_t len)
{
	if (p[0] == '\n')
		return 1;
	if (p[0] == '\r')
		return len > 1 && p[1] == '\n' ? 2 : 1;
	if (p[0] == '\xc2')
		return len > 1 && p[1] == '\x85' ? 2 : 0;
	if (p[0] == '\xe2')
		return len > 2 && p[1] == '\x80' &&
				       (p[2] == '\xa8' || p[2] == '\xa9')
			       ? 3
			       : 0;
	return 0;
}

static void index_lines(struct source *source)
{
	size_t size = 64, i = 0, n;

	source->lines = mem_grow(NULL, size, sizeof(*source->lines));
	source->lines[source->line_count++] = 0;
	while (i < source->len) {
		n = break_len(source->text + i, source->len - i);
		i += n ? n : 1;
		if (!n)
			continue;
		if (source->line_count == size) {
			size *= 2;
			source->lines = mem_grow(source->lines, size,
						 sizeof(*source->lines));
		}
		source->lines[source->line_count++] = i;
	}
}

bool source_line_ends(const struct source *source, size_t offset)
{
	return offset >= source->len ||
	       break_len(source->text + offset, source->len - offset);
}

size_t source_offset(struct source *source, unsigned line, unsigned column)
{
	size_t offset, at = 1;
	uint32_t c;
	size_t n;

	if (!source->lines)
		index_lines(source);
	if (!line || line > source->line_count)
		return source->len;
	offset = source->lines[line - 1];
	/* Problems mostly come in order, also within one long line. */
	if (source->last_line == line && source->last_column <= column) {
		offset = source->last_offset;
		at = source->last_column;
	}
	for (; at < column && !source_line_ends(source, offset); at++) {
		n = utf8_decode(source->text + offset, source->len - offset,
				&c);
		offset += n ? n : 1;
	}
	source->last_line = line;
	source->last_column = at;
	source->last_offset = offset;
	return offset;
}
