/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int error_status(const struct error *err)
{
	return (int)err->code & 0xff;
}

bool error_is_denied(const struct error *err)
{
	return error_status(err) == ERROR_DENIED;
}

bool error_is_unasked(const struct error *err)
{
	return error_status(err) != (int)err->code;
}

int error_set(struct error *err, enum error_code code, const char *format, ...)
{
	va_list args;

	err->code = code;
	err->final = false;
	err->where[0] = '\0';
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	return -1;
}

int error_set_final(struct error *err, enum error_code code, const char *format,
		    ...)
{
	va_list args;

	error_set(err, code, "%s", "");
	err->final = true;
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	return -1;
}

int error_errno(struct error *err, const char *format, ...)
{
	int saved = errno;
	va_list args;
	size_t len;

	err->code =
		saved == EACCES || saved == EPERM ? ERROR_DENIED : ERROR_FAILED;
	err->final = false;
	err->where[0] = '\0';
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	len = strlen(err->text);
	snprintf(err->text + len, sizeof(err->text) - len, ": %s",
		 strerror(saved));
	return -1;
}

int error_prefix(struct error *err, const char *format, ...)
{
	char text[sizeof(err->text)];
	va_list args;
	size_t len;

	memcpy(text, err->text, sizeof(text));
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	len = strlen(err->text);
	snprintf(err->text + len, sizeof(err->text) - len, ": %s", text);
	return -1;
}

int error_append(struct error *err, const char *text)
{
	size_t len = strlen(err->text);

	snprintf(err->text + len, sizeof(err->text) - len, "%s", text);
	return -1;
}
