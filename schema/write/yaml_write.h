/* SPDX-License-Identifier: Apache-2.0 */
/* JSON values as YAML, by libyaml's emitter: in blocks, keys in their order,
 * and with quotes where a reader of YAML would take a text for anything else. */
#ifndef JOBRUN_YAML_WRITE_H
#define JOBRUN_YAML_WRITE_H

#include <jansson.h>

#include "core/base/buf.h"
#include "core/base/error.h"

/* Adds one document without a head. */
int yaml_write(const json_t *value, struct buf *out, struct error *err);

#endif
