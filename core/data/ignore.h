/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns of paths that are left out, in the form of Git's ignore files; what
 * they mean is described in tree.h.  Lists are stacked: the newest one that
 * has a pattern for a path decides.
 */
#ifndef JOBRUN_IGNORE_H
#define JOBRUN_IGNORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/alloc.h"
#include "core/base/error.h"

#define IGNORE_FILE ".jobrunignore"

struct ignore; /* lives in the arena that it was made from */

enum ignore_verdict {
	IGNORE_SILENT, /* no pattern is about it */
	IGNORE_OUT,
	IGNORE_IN, /* taken back */
};

/*
 * Puts the patterns of `text` upon those of `under` (or NULL): they hold for
 * what is below the folder `below`, "" or "a/b", and have no leading slash
 * from there.  Errors call the text `name`.
 */
const struct ignore *ignore_put(const struct ignore *under, const char *below,
				const char *text, size_t len, const char *name,
				struct arena *mem, struct error *err);

/* The built-in patterns. */
const struct ignore *ignore_built_in(struct arena *mem, struct error *err);

/* `ignore` may be NULL.  Ask for each folder before its contents.  Adds to
 * `*steps` what it took. */
enum ignore_verdict ignore_decide(const struct ignore *ignore, const char *path,
				  bool is_folder, uint64_t *steps);

/* The pattern for a folder that is at `path` below the one that has patterns,
 * with its newline.  Returns new, or NULL if it is no folder below it. */
char *ignore_pattern(const char *path);

#endif
