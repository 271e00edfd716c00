/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recognizes refused texts by their looks: an unfilled template, a paste from a
 * web page, Python.  They explain themselves badly, since they look right.
 */
#ifndef JOBRUN_LOOKS_H
#define JOBRUN_LOOKS_H

struct node;

/* A hint, or NULL if the text looks like nothing of that kind. */
const char *looks_hint(const char *text);
/* The same of a value of any kind. */
const char *looks_hint_of(const struct node *value);

#endif
