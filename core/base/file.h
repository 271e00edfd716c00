/* SPDX-License-Identifier: Apache-2.0 */
/* Paths and whole files.  Files that we write have mode 0600, folders 0700. */
#ifndef JOBRUN_FILE_H
#define JOBRUN_FILE_H

#include <limits.h>
#include <stddef.h>

#include "core/base/error.h"

/*
 * Opens a regular file or /dev/null for reading and refuses anything else
 * without opening it: a FIFO would block, and opening a device can have
 * effects.  Returns -1 with `err` set.
 */
int file_open(const char *path, struct error *err);

/*
 * Reads the whole file; a NUL follows that is not counted.  Returns new, or
 * NULL if the file can't be read, is not regular, or is larger than `max`
 * bytes.  file_read_fd() also reads pipes.
 */
char *file_read(const char *path, size_t max, size_t *len, struct error *err);
/* The same for a path given as a command's argument, which may come from the
 * shell: <(program) is an unnamed pipe, and is read. */
char *file_read_argument(const char *path, size_t max, size_t *len,
			 struct error *err);
char *file_read_fd(int fd, const char *path, size_t max, size_t *len,
		   struct error *err);

/* Writes a new file beside the old one, syncs it and renames it: a reader sees
 * the old or the new contents, and a power failure loses neither the name nor
 * the contents. */
int file_write(const char *path, const void *data, size_t len,
	       struct error *err);

/*
 * Creates a file that others may read, with this mode, which the caller has
 * masked.  Never replaces a file, even one that appears meanwhile: then it
 * returns 1.
 */
int file_create(const char *path, unsigned mode, const void *data, size_t len,
		struct error *err);

/* Makes an empty file in $TMPDIR, or /tmp, that loses its name at once.  If that
 * fails, the error has the name, which begins with `prefix`, and `what` the file
 * is for.  Returns the descriptor, or -1. */
int file_nameless(const char *prefix, const char *what, struct error *err);

/* Makes the names in a folder survive a power failure, where the file system
 * can. */
int folder_sync(const char *path);

/* Writes all bytes despite short writes and EINTR.  Returns -1 with errno
 * set. */
int fd_write(int fd, const void *data, size_t len);

/* Closes all descriptors from this one on; also between fork() and exec(). */
void fd_close_from(int first);

/* Makes the folder and its parents, with mode 0700; existing ones are no
 * error. */
int folder_make(const char *path, struct error *err);
/* The same with another mode, which umask restricts. */
int folder_make_mode(const char *path, unsigned mode, struct error *err);
/* Removes a folder and all below it without following links; a missing one is
 * no error. */
int folder_remove(const char *path, struct error *err);

/* Return new.  path_join() returns `name` alone if that is absolute, and drops
 * "./" at its start. */
char *path_join(const char *folder, const char *name);
char *path_absolute(const char *path); /* from the working directory */
/* "~/x" resolved in the home directory; NULL for any other path, and without a
 * home. */
char *path_at_home(const char *path);
/* `path` relative to `folder`, from the strings alone; both must be relative to
 * one place, or both absolute.  Returns `path` itself if that is impossible. */
char *path_relative(const char *folder, const char *path);
/* Copies a path below a folder without empty and "." parts; "" for the folder
 * itself.  Returns NULL, or why such a path is refused: "an absolute path", "a
 * path with '..'", "too long a path" (64 folders). */
const char *path_clean(const char *name, char out[PATH_MAX]);
char *path_folder(const char *path); /* "a/b.yaml" gives "a", "b" gives "." */
/* Finds a program as a shell with that PATH (NULL: none) does: the first
 * regular file of that name that may be executed.  Returns new, or NULL. */
char *file_find_program(const char *path, const char *name);
const char *path_base(const char *path); /* borrowed, points into `path` */

#endif
