/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Describes how the new plan differs from a saved one: a line for each
 * difference, added to `out`.  `was` and `is` are jobs or actions as
 * saved_json() has them; their contents are not trusted, only shown.
 */
#ifndef JOBRUN_PLAN_FILE_WORDS_H
#define JOBRUN_PLAN_FILE_WORDS_H

#include <jansson.h>
#include <stdbool.h>

#include "core/base/buf.h"

/* Says how the job's file or its source differs, in at least one line. */
void saved_say_job(struct buf *out, const char *job_id, const json_t *was,
		   const json_t *is);
/* `seen`: the resource existed then and does now, so that fields can be
 * compared. */
void saved_say_action(struct buf *out, const char *job_id, const json_t *was,
		      const json_t *is, bool seen);

/* The member's string, or "" if there is none.  Borrowed. */
const char *saved_text(const json_t *object, const char *key);
/* Compares one member, which may be missing in both. */
bool saved_is_same(const json_t *a, const json_t *b, const char *key);
/* Makes {"a": ...} from [{key: "a", ...}].  Only a job to be deleted can occur
 * twice, at two providers.  Returns new. */
json_t *saved_index(const json_t *array, const char *key);

#endif
