/* SPDX-License-Identifier: Apache-2.0 */
/* Reads YAML of other programs as JSON, with the reader of job files. */
#ifndef JOBRUN_YAML_READ_H
#define JOBRUN_YAML_READ_H

#include <jansson.h>
#include <stddef.h>

#include "core/base/error.h"

/*
 * Reads the first document of a text, with each scalar as a string, exactly as
 * written; an empty scalar becomes null.  Errors call the text `name`; the
 * error is the first problem with its position.  Returns new, or NULL.
 */
json_t *yaml_read(const char *text, size_t len, const char *name,
		  struct error *err);

#endif
