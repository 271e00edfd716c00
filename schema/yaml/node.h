/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job file as a tree that remembers every position.  It is made from
 * libyaml's events: aliases share the node that they name, merge keys are
 * merged, duplicate keys are reported and dropped. scalar.h, not this file,
 * decides the type of a plain scalar (a number, a boolean).
 */
#ifndef JOBRUN_NODE_H
#define JOBRUN_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/alloc.h"

struct problems;
struct source;

#define NODE_DEPTH_MAX 100 /* the deepest nesting of collections */
/* per file, and per document with its aliases expanded */
#define NODE_COUNT_MAX 100000
#define NODE_DOCUMENTS_MAX 1000 /* of a file */

enum node_kind {
	NODE_BAD, /* already reported: say nothing more */
	NODE_SCALAR,
	NODE_LIST,
	NODE_MAP,
};

/* The file of a node.  Outlives the text of the file. */
struct origin {
	const char *name;
	unsigned order;
	struct source *source;   /* NULL once the file was checked */
	const struct node *root; /* of its document, once that was read */
	bool has_aliases;
	/* of a base: what names it in the file that extends it */
	const struct node *from;
	struct origin *next; /* another file that the job was made from */
};

struct node {
	uint8_t kind;
	bool plain;            /* a scalar without quotes */
	bool loose;            /* from an option: needs no quotes */
	bool broken;           /* a scalar on several lines */
	uint32_t line, column; /* from 1, in code points */
	/* of the text at that position, if on one line */
	uint32_t length;
	uint32_t count; /* items of a collection, bytes of a scalar */
	/* the number of nodes, aliases expanded; saturates */
	uint32_t weight;
	struct origin *origin;
	/* for an alias: where the value is defined */
	const struct node *anchor;
	union {
		const char *text; /* followed by a NUL */
		struct item *items;
	};
};

struct item {
	struct item *next;
	const struct node *key; /* NULL in a list */
	const struct node *value;
	/* The merge key's value, if the item came from one; explicit items come
	 * first. */
	const struct node *merged;
};

/* A document of a file; owns its arena until somebody takes it. */
struct document {
	struct arena *mem;
	struct origin *origin;
	const struct node *root; /* NULL: an empty document */
};

/* The value of a map's key, spelled exactly so; NULL if there is none. */
const struct node *node_get(const struct node *map, const char *key);
const struct item *node_item(const struct node *map, const char *key);

/* The aliases and merged maps below `root` that use a node, or a key; up to
 * `max`.  Returns their number. */
size_t node_uses(const struct node *root, const struct node *node,
		 const struct node **out, size_t max);

/* To be called before the texts of all files of a job are freed, while their
 * nodes stay.  `node` is the root of the job's own file. */
void node_forget_source(const struct node *node);

#endif
