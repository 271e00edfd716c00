/* SPDX-License-Identifier: Apache-2.0 */
/* The checks of tables.h as regular expressions, for those who can't call
 * them. */
#ifndef JOBRUN_FORMS_H
#define JOBRUN_FORMS_H

#include <stdbool.h>

#include "core/base/error.h"

struct form {
	int (*check)(const char *value, struct error *err);
	const char *pattern; /* ECMA 262 */
	const char *example; /* or NULL */
	/* What YAML can make of a text that passes, when it has no quotes. */
	const char *number; /* "number", "integer", or NULL */
	bool boolean;
};

/* NULL: anything goes, as far as is known here. */
const struct form *form_of(int (*check)(const char *value, struct error *err));

#endif
