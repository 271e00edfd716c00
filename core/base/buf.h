/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growing byte buffer, always followed by a NUL, so that text in it can be
 * printed.  A zeroed one (`= { 0 }`) is empty and ready.
 */
#ifndef JOBRUN_BUF_H
#define JOBRUN_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct buf {
	char *data; /* NULL until something is added: see buf_text() */
	size_t len;
	size_t size;
};

void buf_done(struct buf *buf);
void buf_clear(struct buf *buf); /* keeps the memory */
void buf_add(struct buf *buf, const void *data, size_t len);
void buf_puts(struct buf *buf, const char *text);
void buf_putc(struct buf *buf, char c);
void buf_fill(struct buf *buf, char c, size_t count);
void buf_printf(struct buf *buf, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *buf, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
/* Reserves `len` more bytes; the caller writes there and adds to `len`. */
char *buf_reserve(struct buf *buf, size_t len);
void buf_drop(struct buf *buf, size_t len);  /* removes the first `len` bytes */
const char *buf_text(const struct buf *buf); /* borrowed, never NULL */
char *buf_take(struct buf *buf); /* returns new; the buffer is empty then */

#endif
