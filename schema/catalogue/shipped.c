/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/catalogue/shipped.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
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
		error_set(err, ERROR_INVALID, "%s",
			  why.text[0] ? why.text : cyaml_strerror(ret));
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
