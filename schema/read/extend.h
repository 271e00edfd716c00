/* SPDX-License-Identifier: Apache-2.0 */
/* jobrun.extends: merges a document over the files that it names. */
#ifndef JOBRUN_EXTEND_H
#define JOBRUN_EXTEND_H

#include <stdbool.h>

struct document;
struct node;
struct reading;

/* Whether the document says that it extends something. */
bool extend_is_asked(const struct node *root);

/* Replaces the document's root.  Returns -1 on failure, after adding the reason
 * to the problems. */
int extend(struct reading *reading, struct document *doc);

#endif
