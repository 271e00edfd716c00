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
	/* What an unquoted valid text can be in YAML. */
	const char *number; /* "number", "integer", or NULL */
	bool boolean;
};

/* NULL: no restriction is known. */
const struct form *form_of(int (*check)(const char *value, struct error *err));

#endif
