/* SPDX-License-Identifier: Apache-2.0 */
/* Paths and whole files.  Files that we write are 0600, folders 0700. */
#ifndef JOBRUN_FILE_H
#define JOBRUN_FILE_H

#include <limits.h>
#include <stddef.h>

#include "core/base/error.h"

/*
 * A regular file, or /dev/null, to be read; nothing else is even opened: a FIFO
 * would be waited for, and opening a device can do things.  Returns -1 with
 * `err` set.
 */
int file_open(const char *path, struct error *err);

/*
 * The whole file, followed by a NUL that is not counted.  Returns new, or
 * NULL if it can't be read, is no regular file, or is larger than `max` bytes.
 * file_read_fd() reads pipes, too.
 */
char *file_read(const char *path, size_t max, size_t *len, struct error *err);
/* The same of an argument of a command, which the shell may have made:
 * <(program) is a pipe without a name, and that is read. */
char *file_read_argument(const char *path, size_t max, size_t *len,
			 struct error *err);
char *file_read_fd(int fd, const char *path, size_t max, size_t *len,
		   struct error *err);

/* Written beside, synced, then renamed: a reader sees the old or the new, and
 * a loss of power takes neither the name nor what is in it. */
int file_write(const char *path, const void *data, size_t len,
	       struct error *err);

/*
 * A file for others, too: with this mode, which the caller has masked.  Never
 * in the place of another, even one that appears meanwhile: then it returns 1.
 */
int file_create(const char *path, unsigned mode, const void *data, size_t len,
		struct error *err);

/* Makes names in it outlive a loss of power; not every file system can. */
int folder_sync(const char *path);

/* All of it, through short writes and EINTR.  Returns -1 with errno set. */
int fd_write(int fd, const void *data, size_t len);

/* The folder and those above it, 0700 each; there already is success. */
int folder_make(const char *path, struct error *err);
/* The same with another mode, which umask restricts. */
int folder_make_mode(const char *path, unsigned mode, struct error *err);
/* A folder and all below it, never following a link; gone is success. */
int folder_remove(const char *path, struct error *err);

/* Return new.  path_join: `name` alone if that is absolute; "./" at its start
 * is left out. */
char *path_join(const char *folder, const char *name);
char *path_absolute(const char *path); /* from the working directory */
/* "~/x" in the home directory; NULL for any other, and without a home. */
char *path_at_home(const char *path);
/* `path` as it is called from `folder`, by their texts alone; both relative to
 * one place, or both absolute.  `path` itself if it can't be said. */
char *path_relative(const char *folder, const char *path);
/* Copies the name of something below a folder, without empty and "." parts; ""
 * for the folder itself.  Returns NULL, or what such a name may not be: "an
 * absolute path", "a path with '..'", "too long a path" (64 folders). */
const char *path_clean(const char *name, char out[PATH_MAX]);
char *path_folder(const char *path); /* "a/b.yaml" gives "a", "b" gives "." */
/* Where a shell with that PATH (NULL: none) finds a program: the first regular
 * file of that name that may be executed.  Returns new, or NULL. */
char *file_find_program(const char *path, const char *name);
const char *path_base(const char *path); /* borrowed, into `path` */

#endif
