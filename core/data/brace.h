/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Brace patterns, as in shells and WebDataset, that stand for many names:
 *
 *	train-{000..639}.tar	640 names, as wide as the wider end
 *	{10..0..5}		10, 5, 0
 *	{a,b}/{x,y{1..2}}	a/x, a/y1, a/y2, b/x, b/y1, b/y2
 *
 * Other braces stand for themselves, as does any character after a backslash.
 */
#ifndef JOBRUN_BRACE_H
#define JOBRUN_BRACE_H

#include "core/base/alloc.h"
#include "core/base/error.h"

/* The limits of one pattern, and of a whole list. */
#define BRACE_NAMES_MAX 1000000
#define BRACE_NAME_MAX 4096
#define BRACE_BYTES_MAX (64u << 20)

/* A growing list of names; zeroed it is empty. */
struct brace_names {
	const char **items; /* brace_names_done() frees the list */
	size_t count;
	size_t room;
	size_t bytes;  /* of all the names */
	size_t looked; /* private: characters examined for the ends of braces */
};

void brace_names_done(struct brace_names *names);

/*
 * Adds the names that `pattern` stands for, in order; they live in `mem`.
 * ERROR_INVALID if they are too many or too long; then none is added.
 */
int brace_expand(const char *pattern, struct arena *mem,
		 struct brace_names *names, struct error *err);

/* Adds only the number and bytes of the names, to sum up many patterns. */
int brace_count(const char *pattern, struct brace_names *names,
		struct error *err);

#endif
