/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a catalogue from YAML: ours when jobrun is built, a user's when it
 * runs. */
#ifndef JOBRUN_CATALOGUE_READ_H
#define JOBRUN_CATALOGUE_READ_H

#include <stddef.h>

#include "core/base/error.h"
#include "core/job/catalogue.h"

/* Returns new, or NULL with `err` set.  Missing lists are empty. */
struct catalogue *catalogue_read(const char *text, size_t len,
				 struct error *err);
void catalogue_free(struct catalogue *all);

#endif
