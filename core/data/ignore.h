/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns of paths to leave out, in the form of Git's ignore files; tree.h
 * describes what they mean.  Lists are stacked: the newest list with a pattern
 * for a path decides.
 */
#ifndef JOBRUN_IGNORE_H
#define JOBRUN_IGNORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/alloc.h"
#include "core/base/error.h"

#define IGNORE_FILE ".jobrunignore"

struct ignore; /* lives in the arena it was made from */

enum ignore_verdict {
	IGNORE_SILENT, /* no pattern matches it */
	IGNORE_OUT,
	IGNORE_IN, /* taken back */
};

/*
 * Stacks the patterns of `text` on those of `under` (or NULL).  They hold below
 * the folder `below`, "" or "a/b", and have no leading slash from there.
 * Errors call the text `name`.
 */
const struct ignore *ignore_put(const struct ignore *under, const char *below,
				const char *text, size_t len, const char *name,
				struct arena *mem, struct error *err);

/* The built-in patterns. */
const struct ignore *ignore_built_in(struct arena *mem, struct error *err);

/* `ignore` may be NULL.  Ask for each folder before its contents.  Adds its
 * cost to `*steps`. */
enum ignore_verdict ignore_decide(const struct ignore *ignore, const char *path,
				  bool is_folder, uint64_t *steps);

/* The pattern, with its newline, that ignores the folder at `path` below the
 * folder with the patterns.  Returns new, or NULL if `path` is not a folder
 * below it. */
char *ignore_pattern(const char *path);

#endif
