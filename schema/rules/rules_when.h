/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that are conditions and a sentence, and no code. */
#ifndef JOBRUN_RULES_WHEN_H
#define JOBRUN_RULES_WHEN_H

struct check;

/* Adds a problem for each role for which all conditions of the rule hold.
 * What is not known, as it was refused, holds for none. */
void check_when(const struct check *check);

#endif
