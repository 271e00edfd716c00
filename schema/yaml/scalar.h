/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The meaning of a scalar.  Without quotes YAML 1.1 decides, as in the
 * service's own tools (`on` is a boolean, 010 is eight); with quotes it is
 * text, which may still be read as a number.
 */
#ifndef JOBRUN_SCALAR_H
#define JOBRUN_SCALAR_H

#include <stdbool.h>

struct node;

enum scalar_kind {
	SCALAR_TEXT,
	SCALAR_NULL,
	SCALAR_BOOL,
	SCALAR_INT,
	SCALAR_FLOAT,
};

/* The kind of any node; SCALAR_TEXT for a list or a map. */
enum scalar_kind scalar_kind(const struct node *node);
bool scalar_is_null(const struct node *node);

/* Returns true if it is a whole number.  `odd`: it is not written as people
 * write numbers (0x10, 1_000, 010, 8.0), so its author may have meant something
 * else. */
bool scalar_int(const struct node *node, long *out, bool *odd);
bool scalar_double(const struct node *node, double *out);
bool scalar_bool(const struct node *node, bool *out);

#endif
