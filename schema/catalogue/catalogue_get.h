/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The catalogue: the compiled-in schema/catalogue/, and before it the file that
 * $JOBRUN_CATALOGUE names.  Such a file has the same lists, any of them; of two
 * entries with one name the user's holds.
 */
#ifndef JOBRUN_CATALOGUE_GET_H
#define JOBRUN_CATALOGUE_GET_H

#include "core/base/error.h"
#include "core/job/catalogue.h"

/* Made by schema/generate/catalogue.c. */
extern const struct catalogue catalogue_shipped;

/*
 * From any thread; lives as long as the process.  Borrowed.  A user's file
 * is read at the first call; if that can't be done, NULL, at each call.
 */
const struct catalogue *catalogue_get(struct error *err);

#endif
