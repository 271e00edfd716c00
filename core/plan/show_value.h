/* SPDX-License-Identifier: Apache-2.0 */
/* Formats values of plans for people, on one printable line. */
#ifndef JOBRUN_SHOW_VALUE_H
#define JOBRUN_SHOW_VALUE_H

#include <jansson.h>

#include "core/base/buf.h"

/* A list of plain values becomes a command line, quoted for a shell; other
 * lists and objects are compact JSON. */
void show_value(struct buf *out, const json_t *value);

#endif
