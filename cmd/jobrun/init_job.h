/* SPDX-License-Identifier: Apache-2.0 */
/* The first job of a repository: from its training script, or from a file of
 * another tool. */
#ifndef JOBRUN_INIT_JOB_H
#define JOBRUN_INIT_JOB_H

#include "cmd/jobrun/ui/app.h"

struct init_job {
	const char *from;     /* a file to convert, or NULL */
	const char *script;   /* relative to the folder, or NULL: look for it */
	const char *provider; /* or NULL: ask, if there is a terminal */
};

/*
 * Writes the text of the job to `text`, and its id to `name`, which the caller
 * frees.  Returns 1 if there is neither a script nor a file, or if the folder
 * has jobs already and none is asked for.  Asks what it does not know, on a
 * terminal.
 */
int init_job_make(struct app *app, const char *folder,
		  const struct init_job *how, char **name, struct buf *text,
		  struct error *err);

#endif
