/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens files below a folder and nowhere else, whatever links others create
 * there meanwhile: the path is resolved once, following links, and then walked
 * without following any.  `.git` at any depth counts as outside, as it holds
 * the credentials of the checkout, among other things.
 */
#ifndef JOBRUN_BENEATH_H
#define JOBRUN_BENEATH_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/error.h"

/* The part of `path` below `folder`, or NULL if it is not below.  Compares only
 * the strings. */
const char *path_below(const char *folder, const char *path);
/* Whether `.git` is in the path. */
bool path_has_git(const char *path);

/* Resolves a path: returns it without links, new, if it is below `root` (NULL:
 * wherever it is). */
char *beneath_find(const char *root, const char *path, struct error *err);
/* Opens a path found by beneath_find() without following any link that has
 * appeared since. -1 with errno set. */
int beneath_open_found(const char *real, int flags);
/* The same for a regular file. */
int beneath_open_found_file(const char *real, struct error *err);

/* Opens a path with the given flags of open(2).  `root` is absolute and without
 * links; NULL: the path may lead anywhere.  Returns -1 with `err` set. */
int beneath_open(const char *root, const char *path, int flags,
		 struct error *err);

/* Opens a regular file for reading and refuses anything else without opening
 * it.  Everything that a job names is opened with this. */
int beneath_open_file(const char *root, const char *path, struct error *err);

/* Reads a whole regular file, as file_read() does. */
char *beneath_read(const char *root, const char *path, size_t max, size_t *len,
		   struct error *err);

#endif
