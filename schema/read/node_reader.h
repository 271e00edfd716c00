/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the documents of a file as trees of nodes, see node.h. */
#ifndef JOBRUN_NODE_READER_H
#define JOBRUN_NODE_READER_H

#include <stddef.h>

struct arena;
struct document;
struct node;
struct problems;
struct source;
struct node_reader; /* reads one file */

/* Borrows both. */
struct node_reader *node_reader_new(struct source *source,
				    struct problems *found);
void node_reader_free(struct node_reader *reader);

/* To be called before the first document: all documents go into `mem`, and stay
 * there even if they can't be read.  `from` is what names the file in the one
 * that extends it, or NULL. */
void node_reader_use(struct node_reader *reader, struct arena *mem,
		     const struct node *from);
/* Starts reading after the first bytes of the source, which are a part of its
 * first line and as many columns wide. */
void node_reader_skip(struct node_reader *reader, size_t offset,
		      unsigned columns);

/*
 * Reads the next document: 1 if there is one, 0 at the end, -1 if the rest of
 * the file can't be read and the reason was added to the problems.
 */
int node_reader_next(struct node_reader *reader, struct document *out);

#endif
