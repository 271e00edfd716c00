/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uploads the raw logs of a run to the folder that jobrun.logs names, while the
 * run goes on.  It has its own thread, so that a slow or failing store delays
 * nothing.  New output is uploaded in pieces, each an object named by its
 * offset:
 *
 *	TO/1/worker-0.stderr/000000000000000	of attempt 1
 *	TO/1/worker-0.stderr/000000000004096
 *	TO/1/trials/3/master-0.stdout/…
 *
 * Joined in the order of their names, the pieces are the file, byte for byte.
 * Objects appear complete or not at all, and their list says how far the upload
 * got: the successor of a killed process resumes there.
 */
#ifndef JOBRUN_LOG_UPLOADER_H
#define JOBRUN_LOG_UPLOADER_H

#include "core/base/error.h"
#include "core/data/object_store.h"

/* A file in the run's folder, in the form of upload_event.h: records that the
 * upload fails, and that it works again. */
#define LOG_KEEPER_EVENTS "logs.log"

struct log_uploader_deps {
	/* borrowed; its calls are stopped at the end */
	struct object_store *objects;
	const char *to;       /* a folder of this run only */
	const char *attempts; /* the prefix of the attempts' folders */
	const char *events;   /* the file to which events are appended */
	int first;            /* attempt */
	long every_s;         /* the shortest interval between uploads */
};

struct log_uploader;

/* Copies what it needs of `deps`.  NULL if no thread could be started. */
struct log_uploader *log_uploader_new(const struct log_uploader_deps *deps,
				      struct error *err);
/* Tells it that another attempt has begun; attempts are numbered
 * consecutively. */
void log_uploader_attempt(struct log_uploader *saver, int attempt);
/* To be called when nothing is written any more: copies the rest, with a store
 * that may fail for `patience_s`, and stops.  Returns -1 if something was not
 * copied. */
int log_uploader_end(struct log_uploader *saver, long patience_s);

#endif
