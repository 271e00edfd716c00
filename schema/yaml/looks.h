/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recognizes refused texts by their looks: an unfilled template, a paste from a
 * web page, Python.  They explain themselves badly, since they look right.
 */
#ifndef JOBRUN_LOOKS_H
#define JOBRUN_LOOKS_H

#include <stdbool.h>

struct node;

/* A hint, or NULL if the text looks like nothing of that kind. */
const char *looks_hint(const char *text);
/* The same of a value of any kind. */
const char *looks_hint_of(const struct node *value);

/*
 * Names the first letter of another script within a word of Latin ones, which
 * looks the same: "its "а" is U+0430, a Cyrillic letter".  False if there is
 * none.
 */
#define LOOKS_SIZE 96
bool looks_foreign(const char *text, char out[LOOKS_SIZE]);

#endif
