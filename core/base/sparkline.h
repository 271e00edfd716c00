/* SPDX-License-Identifier: Apache-2.0 */
/* A curve in one line of text. */
#ifndef JOBRUN_SPARKLINE_H
#define JOBRUN_SPARKLINE_H

#include <stddef.h>

#include "core/base/buf.h"

/*
 * Appends a character for each value, from U+2581 for the least to U+2588 for
 * the greatest; if all are equal, one of medium height.  Infinity gives '!',
 * NaN a blank.
 */
void sparkline_format(const double *values, size_t count, struct buf *out);

#endif
