/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/catalogue/shipped.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"

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
	if (ret == CYAML_OK && data)
		return data;
	if (ret == CYAML_OK)
		error_set(err, ERROR_INVALID, "it is empty");
	else
		error_set(err, ERROR_INVALID, "%s",
			  why.text[0] ? why.text : cyaml_strerror(ret));
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
