/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/write/yaml_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "core/base/alloc.h"
#include "schema/yaml/node.h"
#include "schema/yaml/scalar.h"

/* Whether YAML 1.1 or 1.2 may read the text as a number, a date or a time: it
 * has digits and only such characters. */
static bool is_like_a_number(const char *text)
{
	return text[strcspn(text, "0123456789")] &&
	       strspn(text, "0123456789.:_+-eETZ ") == strlen(text);
}

static bool is_like_a_word(const char *text)
{
	static const char *const words[] = { "y", "Y", "n", "N", "=", "<<" };
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(text, words[i]))
			return true;
	return false;
}

static yaml_scalar_style_t style_of(const char *text)
{
	const struct node node = { .kind = NODE_SCALAR,
				   .plain = true,
				   .text = text };

	if (strchr(text, '\n'))
		return YAML_LITERAL_SCALAR_STYLE;
	if (scalar_kind(&node) != SCALAR_TEXT || is_like_a_number(text) ||
	    is_like_a_word(text))
		return YAML_DOUBLE_QUOTED_SCALAR_STYLE;
	/* The emitter itself adds quotes where the syntax needs them. */
	return YAML_PLAIN_SCALAR_STYLE;
}

static bool put_scalar(yaml_emitter_t *emitter, const char *text,
		       yaml_scalar_style_t style)
{
	yaml_event_t event;

	return yaml_scalar_event_initialize(&event, NULL, NULL,
					    (yaml_char_t *)text,
					    (int)strlen(text), 1, 1, style) &&
	       yaml_emitter_emit(emitter, &event);
}

static bool put_text(yaml_emitter_t *emitter, const char *text)
{
	return put_scalar(emitter, text, style_of(text));
}

static bool put_value(yaml_emitter_t *emitter, const json_t *value);

static bool put_map(yaml_emitter_t *emitter, const json_t *map)
{
	yaml_event_t event;
	const char *key;
	json_t *value;

	if (!yaml_mapping_start_event_initialize(&event, NULL, NULL, 1,
						 YAML_BLOCK_MAPPING_STYLE) ||
	    !yaml_emitter_emit(emitter, &event))
		return false;
	json_object_foreach((json_t *)map, key,
			    value) if (!put_text(emitter, key) ||
				       !put_value(emitter, value)) return false;
	return yaml_mapping_end_event_initialize(&event) &&
	       yaml_emitter_emit(emitter, &event);
}

static bool put_list(yaml_emitter_t *emitter, const json_t *list)
{
	yaml_event_t event;
	json_t *value;
	size_t i;

	if (!yaml_sequence_start_event_initialize(&event, NULL, NULL, 1,
						  YAML_BLOCK_SEQUENCE_STYLE) ||
	    !yaml_emitter_emit(emitter, &event))
		return false;
	json_array_foreach(list, i,
			   value) if (!put_value(emitter, value)) return false;
	return yaml_sequence_end_event_initialize(&event) &&
	       yaml_emitter_emit(emitter, &event);
}

/* Writes the shortest form that is read back as the same number. */
static bool put_real(yaml_emitter_t *emitter, double value)
{
	char text[64];
	int digits;

	for (digits = 1; digits < 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	snprintf(text, sizeof(text), "%.*g", digits, value);
	/* In YAML 1.1 a number with an exponent needs a point. */
	if (strchr(text, 'e') && !strchr(text, '.'))
		snprintf(text, sizeof(text), "%.1e", value);
	return put_scalar(emitter, text, YAML_PLAIN_SCALAR_STYLE);
}

static bool put_value(yaml_emitter_t *emitter, const json_t *value)
{
	char number[32];

	switch (json_typeof(value)) {
	case JSON_OBJECT:
		return put_map(emitter, value);
	case JSON_ARRAY:
		return put_list(emitter, value);
	case JSON_STRING:
		return put_text(emitter, json_string_value(value));
	case JSON_INTEGER:
		snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT,
			 json_integer_value(value));
		return put_scalar(emitter, number, YAML_PLAIN_SCALAR_STYLE);
	case JSON_REAL:
		return put_real(emitter, json_real_value(value));
	case JSON_TRUE:
		return put_scalar(emitter, "true", YAML_PLAIN_SCALAR_STYLE);
	case JSON_FALSE:
		return put_scalar(emitter, "false", YAML_PLAIN_SCALAR_STYLE);
	case JSON_NULL:
		return put_scalar(emitter, "null", YAML_PLAIN_SCALAR_STYLE);
	}
	return false;
}

static int add_bytes(void *arg, unsigned char *bytes, size_t len)
{
	buf_add(arg, bytes, len);
	return 1;
}

static bool put_document(yaml_emitter_t *emitter, const json_t *value)
{
	yaml_event_t event;

	return yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING) &&
	       yaml_emitter_emit(emitter, &event) &&
	       yaml_document_start_event_initialize(&event, NULL, NULL, NULL,
						    1) &&
	       yaml_emitter_emit(emitter, &event) &&
	       put_value(emitter, value) &&
	       yaml_document_end_event_initialize(&event, 1) &&
	       yaml_emitter_emit(emitter, &event) &&
	       yaml_stream_end_event_initialize(&event) &&
	       yaml_emitter_emit(emitter, &event);
}

int yaml_write(const json_t *value, struct buf *out, struct error *err)
{
	yaml_emitter_t emitter;
	int ret = 0;

	if (!yaml_emitter_initialize(&emitter))
		mem_out();
	yaml_emitter_set_output(&emitter, add_bytes, out);
	yaml_emitter_set_unicode(&emitter, 1);
	yaml_emitter_set_width(&emitter, -1);
	if (!put_document(&emitter, value) && !emitter.problem)
		mem_out();
	if (emitter.problem)
		ret = error_set(err, ERROR_FAILED, "cannot write YAML: %s",
				emitter.problem);
	yaml_emitter_delete(&emitter);
	return ret;
}
