/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/catalogue/shipped.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/text.h"

/* Keeps the first error and the first position that libcyaml logs: it logs
 * positions from the inside out. */
__attribute__((format(printf, 3, 0))) static void
keep(cyaml_log_t level, void *ctx, const char *format, va_list args)
{
	static const char head[] = "Load: ";
	char line[256];
	const char *text = line;
	struct error *err = ctx;
	size_t n = strlen(err->text);

	if (level < CYAML_LOG_ERROR)
		return;
	vsnprintf(line, sizeof(line), format, args);
	line[strcspn(line, "\n")] = '\0';
	if (!strncmp(text, head, strlen(head)))
		text += strlen(head);
	text += strspn(text, " ");
	if (!strncmp(text, "Backtrace", strlen("Backtrace")) ||
	    strstr(err->text, "(line: "))
		return;
	snprintf(err->text + n, sizeof(err->text) - n, "%s%s", n ? ", " : "",
		 text);
}

/* What libcyaml says, and what we do; %F is the field, %V the value behind the
 * words. */
static const struct {
	const char *words, *ours;
} phrases[] = {
	{ "Unexpected key: ", "unknown key '%V'" },
	{ "Missing required mapping field: ", "this row lacks '%V'" },
	{ "Mapping field already seen: ", "'%V' appears twice" },
	{ "Expecting SEQUENCE", "%F must be a list" },
	{ "Expecting MAPPING", "%F must be a map of keys" },
	{ "Expecting ", "%F must be one value" },
	{ "Invalid UINT value: ",
	  "%F must be a whole number of 0 or more, not '%V'" },
	{ "Invalid FLOAT value: ", "%F must be a number, not '%V'" },
	{ "Insufficient entries", "this list must not be empty" },
	{ "STRING length < 1", "%F must not be empty" },
	{ "STRING length > ", "%F is too long" },
};

/* Adds what stands in `text` up to `end`, without quotes. */
static void put_until(struct buf *out, const char *text, const char *end)
{
	size_t len = strcspn(text, end);

	if (text[0] == '\'' && len > 1 && text[len - 1] == '\'') {
		text++;
		len -= 2;
	}
	buf_printf(out, "%.*s", (int)len, text);
}

static void put_phrase(struct buf *out, const char *ours, const char *value,
		       const char *text)
{
	static const char in_field[] = ", in mapping field '";
	const char *field = strstr(text, in_field);

	for (; *ours; ours++) {
		if (ours[0] != '%') {
			buf_putc(out, *ours);
			continue;
		}
		ours++;
		if (*ours == 'V') {
			put_until(out, value, ",");
		} else if (field) {
			buf_putc(out, '\'');
			put_until(out, field + strlen(in_field), "'");
			buf_putc(out, '\'');
		} else {
			buf_puts(out, "an item of this list");
		}
	}
}

/* Puts libcyaml's words into ours, and the position into `where`. */
static void translate(const char *text, struct error *err)
{
	const char *place = strstr(text, "(line: ");
	struct buf ours = { 0 };
	unsigned line, column;
	size_t i;

	for (i = 0; i < COUNT(phrases) && !ours.len; i++)
		if (text_starts(text, phrases[i].words))
			put_phrase(&ours, phrases[i].ours,
				   text + strlen(phrases[i].words), text);
	error_set(err, ERROR_INVALID, "%s", ours.len ? buf_text(&ours) : text);
	if (place &&
	    sscanf(place, "(line: %u, column: %u)", &line, &column) == 2)
		snprintf(err->where, sizeof(err->where), "%u:%u", line, column);
	buf_done(&ours);
}

/* Finds the line of a name that the error's text quotes. */
static void find_name(struct error *err, const char *text)
{
	const char *name = strchr(err->text, '\''), *end, *at, *start;
	unsigned line = 1;
	size_t len;

	end = name ? strchr(name + 1, '\'') : NULL;
	if (!end || end == name + 1)
		return;
	name++;
	len = (size_t)(end - name);
	for (at = start = text; *at; at++) {
		if (*at == '\n') {
			line++;
			start = at + 1;
		} else if (!strncmp(at, name, len) && at > text &&
			   strchr(" :\"'[{", at[-1]) &&
			   strchr(",}] \"'\r\n", at[len])) {
			snprintf(err->where, sizeof(err->where), "%u:%zu", line,
				 (size_t)(at - start) + 1);
			return;
		}
	}
}

void shipped_place(struct error *err, const char *path, const char *text)
{
	char place[sizeof(err->where)];

	if (!err->where[0])
		find_name(err, text);
	memcpy(place, err->where, sizeof(place));
	snprintf(err->where, sizeof(err->where), "%.120s%s%.30s", path,
		 place[0] ? ":" : "", place);
}

static void *memory(void *ctx, void *old, size_t size)
{
	(void)ctx;
	if (size)
		return mem_grow(old, size, 1);
	free(old);
	return NULL;
}

/* Whether all strings can be a word of a line and be shown on a terminal.
 * `at` is where a value of this form is, or the pointer to it. */
static bool is_printable_at(const char *at, const cyaml_schema_value_t *form,
			    uint64_t count)
{
	const cyaml_schema_field_t *field;
	const cyaml_schema_value_t *item;
	uint64_t i, n;

	if (form->flags & CYAML_FLAG_POINTER)
		memcpy(&at, at, sizeof(at));
	if (!at)
		return true;
	if (form->type == CYAML_STRING)
		return text_is_printable(at);
	if (form->type == CYAML_SEQUENCE) {
		item = form->sequence.entry;
		for (i = 0; i < count; i++)
			if (!is_printable_at(
				    at + i * (item->flags & CYAML_FLAG_POINTER
						      ? sizeof(at)
						      : item->data_size),
				    item, 0))
				return false;
	}
	if (form->type == CYAML_MAPPING)
		for (field = form->mapping.fields; field->key; field++) {
			n = 0;
			if (field->value.type == CYAML_SEQUENCE)
				memcpy(&n, at + field->count_offset,
				       field->count_size);
			if (!is_printable_at(at + field->data_offset,
					     &field->value, n))
				return false;
		}
	return true;
}

/* The value at the top is behind a pointer. */
static bool is_printable(void *data, const cyaml_schema_value_t *form)
{
	return is_printable_at((const char *)&data, form, 0);
}

void *shipped_read(const char *text, size_t len,
		   const cyaml_schema_value_t *schema, struct error *err)
{
	struct error why = { 0 };
	cyaml_config_t config = {
		.log_level = CYAML_LOG_ERROR,
		.log_fn = keep,
		.log_ctx = &why,
		.mem_fn = memory,
	};
	cyaml_data_t *data = NULL;
	cyaml_err_t ret;

	ret = cyaml_load_data((const uint8_t *)text, len, &config, schema,
			      &data, NULL);
	if (ret == CYAML_OK && data && is_printable(data, schema))
		return data;
	if (ret == CYAML_OK && data)
		error_set(err, ERROR_INVALID,
			  "a string in it has a line break or another control "
			  "character");
	else if (ret == CYAML_OK)
		error_set(err, ERROR_INVALID, "it is empty");
	else
		translate(why.text[0] ? why.text : cyaml_strerror(ret), err);
	shipped_free(data, schema);
	return NULL;
}

void shipped_free(void *data, const cyaml_schema_value_t *schema)
{
	static const cyaml_config_t config = {
		.log_level = CYAML_LOG_ERROR,
		.mem_fn = memory,
	};

	if (data)
		cyaml_free(&config, schema, data, 0);
}
