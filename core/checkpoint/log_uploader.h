/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uploads the raw logs of a run to the folder that jobrun.logs names, while it
 * goes on: in a thread of its own, so that a slow or failing store delays
 * nothing.  New output is uploaded in pieces, an object each, named by its
 * offset:
 *
 *	TO/1/worker-0.stderr/000000000000000	of attempt 1
 *	TO/1/worker-0.stderr/000000000004096
 *	TO/1/trials/3/master-0.stdout/…
 *
 * In the order of their names they are the file, byte for byte.  Objects appear
 * whole or not at all, and the list of them says how far the upload got: the
 * successor of a killed process resumes there.
 */
#ifndef JOBRUN_LOG_UPLOADER_H
#define JOBRUN_LOG_UPLOADER_H

#include "core/base/error.h"
#include "core/data/object_store.h"

/* A file in the run's folder, of the form of upload_event.h: that it fails, and
 * that it works again. */
#define LOG_KEEPER_EVENTS "logs.log"

struct log_uploader_deps {
	struct object_store *objects; /* borrowed; its calls are stopped at the
				       * end */
	const char *to;               /* a folder of the run's own */
	const char *attempts; /* what the folders of attempts begin with */
	const char *events;   /* where events are added */
	int first;            /* attempt */
	long every_s;         /* so often at most */
};

struct log_uploader;

/* Copies what it needs of the place.  NULL if there is no thread to be had. */
struct log_uploader *log_uploader_new(const struct log_uploader_deps *deps,
				      struct error *err);
/* There is another attempt: they are numbered on. */
void log_uploader_attempt(struct log_uploader *saver, int attempt);
/* Nothing is written any more: copies the rest, with a store that fails for
 * `patience_s`, and ends.  Returns -1 if something was not copied. */
int log_uploader_end(struct log_uploader *saver, long patience_s);

#endif
