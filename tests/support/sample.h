/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Long enumerations: with JOBRUN_TEST_ALL=1 in the environment (`make
 * test-all`) every step is taken, otherwise one of a few.
 */
#ifndef JOBRUN_SAMPLE_H
#define JOBRUN_SAMPLE_H

#include <stdlib.h>

/* How far apart the steps are: 1, or `few`. */
static inline int sample_step(int few)
{
	const char *all = getenv("JOBRUN_TEST_ALL");

	return all && *all && *all != '0' ? 1 : few;
}

#endif
