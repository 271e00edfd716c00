/* SPDX-License-Identifier: Apache-2.0 */
/* A job file from a file of another tool, for 'import' and 'init'. */
#ifndef JOBRUN_IMPORT_FILE_H
#define JOBRUN_IMPORT_FILE_H

#include "cmd/jobrun/ui/app.h"

/* Adds the text of a job file that will stand in `folder`, an absolute path.
 * What has no counterpart is a comment in it, and is said. */
int import_file(struct app *app, const char *path, const char *folder,
		struct buf *text, struct error *err);

#endif
