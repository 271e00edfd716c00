/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commit of a job's source and the files that differ from it, as runs
 * record them:
 *
 *	{"commit": "1a2b...", "branch": "main", "changed": 2,
 *	 "changes": [{"path": "src/a.py", "change": "modified"}, ...],
 *	 "staged": true}
 *
 * The revision is no part of a job's digest, which covers only the contents,
 * wherever they were committed.
 */
#ifndef JOBRUN_REVISION_H
#define JOBRUN_REVISION_H

#include <jansson.h>

#include "core/base/buf.h"
#include "core/data/git_status.h"
#include "core/job/job.h"

/* The folder whose repository counts: the source, else the folder of the
 * file. */
const char *revision_folder(const struct job *job);

/* Sets job->revision; the job must have been digested. */
void revision_set(struct job *job, const struct git_status *status);

/* "commit 1a2b3c4d5e6f on main, 2 files not committed: a.py modified, b.py
 * untracked"; adds nothing if `revision` is NULL or not valid. */
void revision_text(const char *revision, struct buf *out);

/* The revision as JSON; returns new, or NULL. */
json_t *revision_json(const char *revision);

#endif
