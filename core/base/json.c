/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/base/text.h"

void json_init(void)
{
	json_set_alloc_funcs(mem_alloc, free);
}

char *json_canonical(const json_t *value)
{
	return json_dumps(value,
			  JSON_SORT_KEYS | JSON_COMPACT | JSON_ENCODE_ANY);
}

static int add_bytes(const char *data, size_t len, void *out)
{
	buf_add(out, data, len);
	return 0;
}

/* A double holds fifteen decimal digits exactly: 0.1 stays 0.1. */
#define PRINTED (JSON_REAL_PRECISION(15) | JSON_ENCODE_ANY)

void json_print(const json_t *value, struct buf *out)
{
	json_dump_callback(value, add_bytes, out, JSON_INDENT(2) | PRINTED);
	buf_putc(out, '\n');
}

void json_print_short(const json_t *value, struct buf *out)
{
	json_dump_callback(value, add_bytes, out, JSON_COMPACT | PRINTED);
}

json_t *json_read(const char *text, size_t len, const char *name,
		  struct error *err)
{
	json_error_t why;
	json_t *value = json_loadb(text, len, JSON_REJECT_DUPLICATES, &why);

	if (!value)
		error_set(err, ERROR_FAILED, "%s:%d:%d: %s", name, why.line,
			  why.column, why.text);
	return value;
}

int json_file_read(const char *path, size_t max, json_t **out,
		   struct error *err)
{
	size_t len;
	char *text;

	*out = NULL;
	if (access(path, F_OK) < 0 && errno == ENOENT)
		return 1;
	text = file_read(path, max, &len, err);
	if (text)
		*out = json_read(text, len, path, err);
	free(text);
	return *out ? 0 : -1;
}

int json_file_write(const char *path, const json_t *value, struct error *err)
{
	char *text = json_canonical(value);
	int ret = file_write(path, text, strlen(text), err);

	free(text);
	return ret;
}

void json_put(json_t *object, const char *key, json_t *value)
{
	json_object_set_new_nocheck(object, key, value);
}

json_t *json_text(const char *text)
{
	struct buf clean = { 0 };
	const char *p;
	json_t *value;

	if (!text)
		return json_null();
	value = json_string(text);
	if (value)
		return value;
	for (p = text; *p;) {
		size_t n = text_utf8_len(p);

		if (n)
			buf_add(&clean, p, n);
		else
			buf_puts(&clean, "\xef\xbf\xbd");
		p += n ? n : 1;
	}
	value = json_string(buf_text(&clean));
	buf_done(&clean);
	return value;
}

json_t *json_texts(const char *const *texts, size_t count)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < count; i++)
		json_array_append_new(array, json_text(texts[i]));
	return array;
}

void json_put_text(json_t *object, const char *key, const char *text)
{
	json_put(object, key, json_text(text));
}

void json_put_int(json_t *object, const char *key, long long value)
{
	json_put(object, key, json_integer(value));
}

const char *json_get_text(const json_t *object, const char *key,
			  const char *fallback)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : fallback;
}

const char *json_copy_text(const json_t *object, const char *key,
			   struct arena *mem)
{
	const char *text = json_get_text(object, key, NULL);

	return text ? arena_strdup(mem, text) : NULL;
}

long long json_get_int(const json_t *object, const char *key,
		       long long fallback)
{
	json_t *value = json_object_get(object, key);

	return json_is_integer(value) ? json_integer_value(value) : fallback;
}
