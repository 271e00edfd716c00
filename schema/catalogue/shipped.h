/* SPDX-License-Identifier: Apache-2.0 */
/* YAML files in our own formats (the catalogue, price lists), read by libcyaml.
 * Job files are read elsewhere, since their users need to see all problems. */
#ifndef JOBRUN_SHIPPED_H
#define JOBRUN_SHIPPED_H

#include <cyaml/cyaml.h>
#include <stddef.h>

#include "core/base/error.h"

#define SHIPPED_NAME_MAX 256 /* the longest name in a file */

/* Reads YAML by its schema; new, to be freed by shipped_free(); or NULL with
 * the first problem in `err`, and "LINE:COLUMN" in its `where`. */
void *shipped_read(const char *text, size_t len,
		   const cyaml_schema_value_t *schema, struct error *err);
/* Puts the file before the place in `where`.  Without a place, takes that of
 * the first name in quotes in the error's text, if the file's text has it. */
void shipped_place(struct error *err, const char *path, const char *text);
void shipped_free(void *data, const cyaml_schema_value_t *schema);

#endif
