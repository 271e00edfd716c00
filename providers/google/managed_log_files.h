/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that the log of a managed run goes to, and "cloud-log.json" beside
 * them: what its reader remembers from one look to the next, an object.
 */
#ifndef JOBRUN_MANAGED_LOG_FILES_H
#define JOBRUN_MANAGED_LOG_FILES_H

#include <jansson.h>

#include "core/base/error.h"
#include "core/run/topology.h"

struct log_files {
	const char *folder; /* of the run */
	const struct topology *all;
	json_t *state; /* see log_files_read_state() */
};

/* Returns new; empty if there is none that can be read. */
json_t *log_files_read_state(const char *folder);
int log_files_write_state(const struct log_files *files, struct error *err);

/*
 * Adds lines, a list of {"trial": 0, "task": ordinal, "stream", "timeMs",
 * "text"}, which it takes: each whole and once, also when this process is
 * killed while it does so.  Those of a trial go to its folder.
 */
int log_files_add(const struct log_files *files, json_t *lines,
		  struct error *err);
/* Adds what somebody who was killed has not; to be called first. */
int log_files_finish(const struct log_files *files, struct error *err);

#endif
