/* SPDX-License-Identifier: Apache-2.0 */
/* Writes JSON values as YAML, with libyaml's emitter: in block style, keys in
 * their order, and with quotes around strings that a YAML reader would take for
 * another type. */
#ifndef JOBRUN_YAML_WRITE_H
#define JOBRUN_YAML_WRITE_H

#include <jansson.h>

#include "core/base/buf.h"
#include "core/base/error.h"

/* Adds one document without a header. */
int yaml_write(const json_t *value, struct buf *out, struct error *err);

#endif
