/* SPDX-License-Identifier: Apache-2.0 */
/* jobrun validate --fix: writes files with their problems fixed. */
#ifndef JOBRUN_VALIDATE_FIX_H
#define JOBRUN_VALIDATE_FIX_H

#include <stdbool.h>

#include "schema/schema.h"

struct app;

/*
 * Shows the fixes for these problems as a diff, and asks; `yes` is the answer.
 * Returns how many edits were written, or -1 with `err` set.
 */
int validate_fix(struct app *app, const struct schema_options *options,
		 const struct problems *found, bool yes, struct error *err);

#endif
