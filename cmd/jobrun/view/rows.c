/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/view/rows.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "schema/write/yaml_write.h"

#define CUSTOM "custom="

bool rows_is_text(const char *format)
{
	return !format || !strcmp(format, "text") || !strcmp(format, "wide");
}

int rows_check(const char *format, struct error *err)
{
	static const char *const known[] = { "json", "yaml", "name", "csv",
					     "jsonl" };
	size_t i;

	if (rows_is_text(format) ||
	    (text_starts(format, CUSTOM) && format[strlen(CUSTOM)]))
		return 0;
	for (i = 0; i < COUNT(known); i++)
		if (!strcmp(format, known[i]))
			return 0;
	return error_set(err, ERROR_USAGE,
			 "-o: unknown format '%s'; use one of " ROWS_FORMATS,
			 format);
}

/* Returns the value at a path such as "tasks.0.host"; borrowed, or NULL. */
static const json_t *at(const json_t *row, const char *path)
{
	while (row && *path) {
		size_t n = strcspn(path, ".");
		char *key = mem_printf("%.*s", (int)n, path);

		row = json_is_array(row)
			      ? json_array_get(row, (size_t)atol(key))
			      : json_object_get(row, key);
		free(key);
		path += n + (path[n] == '.');
	}
	return row;
}

/* Writes a value as one word, or nothing for no value. */
static void put_value(const json_t *value, struct buf *out)
{
	if (!value || json_is_null(value))
		return;
	if (json_is_string(value))
		buf_puts(out, json_string_value(value));
	else
		json_print_short(value, out);
}

/* Writes a cell of CSV (RFC 4180). */
static void put_cell(const json_t *value, struct buf *out)
{
	struct buf text = { 0 };
	const char *p;

	put_value(value, &text);
	p = buf_text(&text);
	if (!strpbrk(p, ",\"\r\n")) {
		buf_puts(out, p);
	} else {
		buf_putc(out, '"');
		for (; *p; p++) {
			if (*p == '"')
				buf_putc(out, '"');
			buf_putc(out, *p);
		}
		buf_putc(out, '"');
	}
	buf_done(&text);
}

/* Writes CSV; the columns are the keys of the first row that are not lists. */
static void put_csv(json_t *rows, struct buf *out)
{
	json_t *first = json_array_get(rows, 0), *value, *row;
	const char *key, *between = "";
	size_t i;

	json_object_foreach(first, key, value)
	{
		if (json_is_array(value) || json_is_object(value))
			continue;
		buf_printf(out, "%s%s", between, key);
		between = ",";
	}
	if (first)
		buf_putc(out, '\n');
	json_array_foreach(rows, i, row)
	{
		between = "";
		json_object_foreach(first, key, value)
		{
			if (json_is_array(value) || json_is_object(value))
				continue;
			buf_puts(out, between);
			put_cell(json_object_get(row, key), out);
			between = ",";
		}
		buf_putc(out, '\n');
	}
}

static void put_custom(const json_t *row, const char *keys, struct buf *out)
{
	while (*keys) {
		size_t n = strcspn(keys, ",");
		char *key = mem_printf("%.*s", (int)n, keys);

		put_value(at(row, key), out);
		free(key);
		keys += n + (keys[n] == ',');
		buf_putc(out, *keys ? '\t' : '\n');
	}
}

int rows_put(const json_t *whole, const char *list, const char *name,
	     const char *format, struct buf *out, struct error *err)
{
	json_t *rows = json_object_get(whole, list), *row;
	size_t i;

	if (!strcmp(format, "json")) {
		json_print(whole, out);
		return 0;
	}
	if (!strcmp(format, "yaml"))
		return yaml_write(whole, out, err);
	if (!strcmp(format, "csv")) {
		put_csv(rows, out);
		return 0;
	}
	json_array_foreach(rows, i, row)
	{
		if (!strcmp(format, "name")) {
			put_value(json_object_get(row, name), out);
			buf_putc(out, '\n');
		} else if (!strcmp(format, "jsonl")) {
			json_print_short(row, out);
			buf_putc(out, '\n');
		} else {
			put_custom(row, format + strlen(CUSTOM), out);
		}
	}
	return 0;
}
