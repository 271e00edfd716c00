/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is meant by names that are not ours: those of other services and of
 * people's habits.  They are data: schema/rules/hints.yaml.
 */
#ifndef JOBRUN_HINTS_H
#define JOBRUN_HINTS_H

struct hint {
	const char *field; /* "acceleratorConfig.type"; "": it is a key */
	const char *given; /* "NVIDIA_T4" */
	/* A name, the path of a field, or, with a blank in it, a sentence. */
	const char *meant;
};

extern const struct hint hints[]; /* up to a row without a field */

/* The path of the field that such a key means, or NULL.  Case, "_" and "-" do
 * not count. */
const char *hint_key(const char *key);
/* What such a value of a field means, or NULL.  The field is the end of a path:
 * "workerType". */
const char *hint_value(const char *field, const char *value);

#endif
