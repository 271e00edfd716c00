/* SPDX-License-Identifier: Apache-2.0 */
/* --set PATH=VALUE: puts values from the command line into a document before it
 * is checked. */
#ifndef JOBRUN_OVERRIDE_H
#define JOBRUN_OVERRIDE_H

#include "core/base/error.h"

struct document;
struct reading;
struct schema_set;

/* Checks the form of an option, except for its value. */
int override_check(const struct schema_set *set, struct error *err);

/* Applies all of the options to the document's root, which must be a map.
 * Options that do not fit are added to the problems. */
void override_apply(struct reading *reading, struct document *doc);

#endif
