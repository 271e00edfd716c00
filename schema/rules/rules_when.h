/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that consist of conditions and a sentence, without code. */
#ifndef JOBRUN_RULES_WHEN_H
#define JOBRUN_RULES_WHEN_H

struct check;
struct node;

/* The value of a field, also of one in the block of a provider; NULL if the
 * file has it not. */
const struct node *when_node(const struct check *check, const char *path);

/* Adds a problem for each role for which all conditions of the rule hold.  A
 * condition on a rejected value never holds. */
void check_when(const struct check *check);

#endif
