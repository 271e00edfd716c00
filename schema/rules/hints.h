/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps names from elsewhere, such as other services and common habits, to what
 * they mean here.  The data are in schema/rules/hints.yaml.
 */
#ifndef JOBRUN_HINTS_H
#define JOBRUN_HINTS_H

#include <stdbool.h>

struct node;
struct problems;

struct hint {
	const char *field; /* "acceleratorConfig.type"; "": the name is a key */
	const char *given; /* "NVIDIA_T4" */
	/* A name, the path of a field, or, if it contains a blank, a
	 * sentence. */
	const char *meant;
};

extern const struct hint hints[]; /* up to a row without a field */

/* The path of the field that such a key means, or NULL.  Case, "_" and "-" do
 * not matter. */
const char *hint_key(const char *key);
/* The meaning of such a value of a field, or NULL.  The field is the end of a
 * path: "workerType". */
const char *hint_value(const char *field, const char *value);

/* Adds to the last problem, which is about this value, a hint by the looks of
 * it (schema/yaml/looks.h); false if it looks like nothing known. */
bool hint_looks(struct problems *found, const struct node *value);

#endif
