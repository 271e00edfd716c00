/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The catalogue: the compiled-in schema/catalogue/, and over it those of users,
 * each over the ones before: the files of ~/.config/jobrun/catalogue by name
 * (of $XDG_CONFIG_HOME, if that is set), jobrun.catalogue at the top of the
 * repository, and the file that $JOBRUN_CATALOGUE names.  Such a file has the
 * same lists, any of them; of two entries with one name the later one's holds.
 */
#ifndef JOBRUN_CATALOGUE_GET_H
#define JOBRUN_CATALOGUE_GET_H

#include "core/base/error.h"
#include "core/job/catalogue.h"

/* Made by schema/generate/catalogue.c. */
extern const struct catalogue catalogue_shipped;

/* The repository is that of this file or folder, not of the working directory.
 * Means nothing once the catalogue was asked for. */
void catalogue_beside(const char *path);

/*
 * From any thread; lives as long as the process.  Borrowed.  Users' files
 * are read at the first call; if that can't be done, NULL, at each call.
 */
const struct catalogue *catalogue_get(struct error *err);

#endif
