/* SPDX-License-Identifier: Apache-2.0 */
/* Other programs' YAML as JSON, read as job files are. */
#ifndef JOBRUN_YAML_READ_H
#define JOBRUN_YAML_READ_H

#include <jansson.h>
#include <stddef.h>

#include "core/base/error.h"

/*
 * The first document of a text, each scalar as a text, as it stands there; an
 * empty one is null.  `name` is what the text is called in the error, which is
 * the first problem with its place.  Returns new, or NULL.
 */
json_t *yaml_read(const char *text, size_t len, const char *name,
		  struct error *err);

#endif
