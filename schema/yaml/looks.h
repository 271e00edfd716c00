/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recognizes rejected texts by their looks: an unfilled template, a paste from
 * a web page, Python.  Such mistakes are hard to see, since the text looks
 * right.
 */
#ifndef JOBRUN_LOOKS_H
#define JOBRUN_LOOKS_H

#include <stdbool.h>

struct node;

/* A hint, or NULL if the value is nothing of that kind. */
const char *looks_hint_of(const struct node *value);

/*
 * Describes the first letter of another script in a Latin word, which looks
 * like a Latin one: "its "а" is U+0430, a Cyrillic letter".  False if there is
 * none.
 */
#define LOOKS_SIZE 96
bool looks_foreign(const char *text, char out[LOOKS_SIZE]);

#endif
