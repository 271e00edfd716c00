/* SPDX-License-Identifier: Apache-2.0 */
/* A curve in one line of text. */
#ifndef JOBRUN_SPARKLINE_H
#define JOBRUN_SPARKLINE_H

#include <stddef.h>

#include "core/base/buf.h"

/*
 * Appends a character for each value, from U+2581 for the least to U+2588 for
 * the greatest, one of medium height if all are equal; '!' for one that is
 * infinite, a blank for NaN.
 */
void sparkline_format(const double *values, size_t count, struct buf *out);

#endif
