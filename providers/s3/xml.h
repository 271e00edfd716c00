/* SPDX-License-Identifier: Apache-2.0 */
/* As much XML as the answers of S3 and STS need: elements without attributes,
 * found by name. */
#ifndef JOBRUN_XML_H
#define JOBRUN_XML_H

#include <stddef.h>

/* A piece of a document: what is in one element. */
struct xml {
	const char *at;
	size_t len;
};

/* Finds the next element of that name from `*from` on; on success moves it
 * behind the element.  Returns 0 if there is none. */
int xml_next(struct xml *from, const char *name, struct xml *out);

/* The text of the first element of that name, decoded.  Returns new; "" if
 * there is none. */
char *xml_text(struct xml in, const char *name);

#endif
