/* SPDX-License-Identifier: Apache-2.0 */
/* Included after cmocka.h. */
#ifndef JOBRUN_SKIP_H
#define JOBRUN_SKIP_H

#include <stdio.h>

/* Ends the test as skipped, and says why in the form that tests/run reads.
 * `test` is __func__. */
static inline void skip_because(const char *test, const char *why)
{
	printf("# skipped %s: %s\n", test, why);
	skip();
}

#endif
