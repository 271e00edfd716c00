/* SPDX-License-Identifier: Apache-2.0 */
/* Lists in formats for other programs. */
#ifndef JOBRUN_ROWS_H
#define JOBRUN_ROWS_H

#include <jansson.h>

#include "core/base/buf.h"
#include "core/base/error.h"

/* The help of -o. */
#define ROWS_FORMATS "json|yaml|wide|name|csv|jsonl|custom=KEY,..."

/* Whether the format has no rows: text, wide or NULL. */
bool rows_is_text(const char *format);

/* Fails with ERROR_USAGE if the format is unknown. */
int rows_check(const char *format, struct error *err);

/*
 * `whole` is the document, for json and yaml; its member `list` has the rows,
 * each named by its member `name`.  A KEY of custom is a path, "tasks.0.host".
 */
int rows_put(const json_t *whole, const char *list, const char *name,
	     const char *format, struct buf *out, struct error *err);

#endif
