/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens what lies below a folder, and nothing else, whatever links others put
 * there meanwhile: the way is found once, links followed, and then walked
 * without following any.  `.git` at any depth is not below: it holds what was
 * checked out with, credentials among it.
 */
#ifndef JOBRUN_BENEATH_H
#define JOBRUN_BENEATH_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/error.h"

/* What follows `folder` in a path below it, or NULL; by their texts alone. */
const char *path_below(const char *folder, const char *path);
/* Whether `.git` is in the path. */
bool path_has_git(const char *path);

/* The path without links, new, if it is below `root` (NULL: wherever it is). */
char *beneath_find(const char *root, const char *path, struct error *err);
/* Opens what has been found so: a link that is there by now is followed no
 * more.  -1 with errno set. */
int beneath_open_found(const char *real, int flags);
/* The same of a regular file. */
int beneath_open_found_file(const char *real, struct error *err);

/* Opens with these flags of open(2).  `root` is absolute and without links;
 * NULL: the path may lead anywhere.  Returns -1 with `err` set. */
int beneath_open(const char *root, const char *path, int flags,
		 struct error *err);

/* A regular file, to be read: nothing else is even opened.  Whoever reads what
 * a job names opens it by this. */
int beneath_open_file(const char *root, const char *path, struct error *err);

/* The whole of one, as file_read() does it. */
char *beneath_read(const char *root, const char *path, size_t max, size_t *len,
		   struct error *err);

#endif
