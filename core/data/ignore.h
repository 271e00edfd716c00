/* SPDX-License-Identifier: Apache-2.0 */
/* Decides which paths of a source folder are left out.  The patterns are
 * described in tree.h. */
#ifndef JOBRUN_IGNORE_H
#define JOBRUN_IGNORE_H

#include <stdbool.h>

#include "core/base/alloc.h"
#include "core/base/error.h"

#define IGNORE_FILE ".jobrunignore"

struct ignore; /* lives in the arena that it was made from */

/* Makes the built-in patterns, then those of `also` (ours, or NULL), then those
 * of `text`.  Errors call the text `name`. */
struct ignore *ignore_parse(const char *also, const char *text,
			    const char *name, struct arena *mem,
			    struct error *err);

/* The pattern for a folder that is at `path` below the one that has patterns,
 * with its newline.  Returns new, or NULL if it is no folder below it. */
char *ignore_pattern(const char *path);

/* `path` is relative to the folder; ask for each folder before its contents. */
bool ignore_match(const struct ignore *ignore, const char *path,
		  bool is_folder);

#endif
