/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"

void buf_done(struct buf *buf)
{
	free(buf->data);
	*buf = (struct buf){ 0 };
}

void buf_clear(struct buf *buf)
{
	buf->len = 0;
	if (buf->data)
		buf->data[0] = '\0';
}

char *buf_reserve(struct buf *buf, size_t len)
{
	if (buf->size - buf->len <= len) {
		size_t size = buf->size ? buf->size * 2 : 128;

		while (size - buf->len <= len)
			size *= 2;
		buf->data = mem_grow(buf->data, size, 1);
		/* Even if nothing comes, it is a string. */
		buf->data[buf->len] = '\0';
		buf->size = size;
	}
	return buf->data + buf->len;
}

void buf_add(struct buf *buf, const void *data, size_t len)
{
	char *to = buf_reserve(buf, len);

	if (len)
		memcpy(to, data, len);
	buf->len += len;
	buf->data[buf->len] = '\0';
}

void buf_puts(struct buf *buf, const char *text)
{
	buf_add(buf, text, strlen(text));
}

void buf_putc(struct buf *buf, char c)
{
	buf_add(buf, &c, 1);
}

void buf_fill(struct buf *buf, char c, size_t count)
{
	memset(buf_reserve(buf, count), c, count);
	buf->len += count;
	buf->data[buf->len] = '\0';
}

void buf_vprintf(struct buf *buf, const char *format, va_list args)
{
	va_list again;
	int len;

	va_copy(again, args);
	len = vsnprintf(NULL, 0, format, args);
	if (len > 0) {
		vsnprintf(buf_reserve(buf, (size_t)len), (size_t)len + 1,
			  format, again);
		buf->len += (size_t)len;
	}
	va_end(again);
}

void buf_printf(struct buf *buf, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	buf_vprintf(buf, format, args);
	va_end(args);
}

void buf_drop(struct buf *buf, size_t len)
{
	if (!len)
		return;
	memmove(buf->data, buf->data + len, buf->len - len);
	buf->len -= len;
	buf->data[buf->len] = '\0';
}

const char *buf_text(const struct buf *buf)
{
	return buf->data ? buf->data : "";
}

char *buf_take(struct buf *buf)
{
	char *text = buf->data ? buf->data : mem_strdup("");

	*buf = (struct buf){ 0 };
	return text;
}
