/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides which files of a directory are meant to be jobs.  Beside job files
 * there may be YAML of other programs, templates that are not YAML, and job
 * files with a typo in their first key, which must not be skipped silently.
 */
#ifndef JOBRUN_LIKENESS_H
#define JOBRUN_LIKENESS_H

#include <stdbool.h>

struct node;
struct source;

enum likeness {
	LIKENESS_NONE,     /* of something else, by its text */
	LIKENESS_POSSIBLE, /* only parsing its YAML can tell */
	LIKENESS_JOB,      /* one of its lines starts with a key of a job */
};

/* Judges by the text alone, as it may not be YAML. */
enum likeness likeness_of_text(const struct source *source);

/*
 * Whether a document without a trainingInput is a job with a typo: it has a
 * jobId, a jobrun or a misspelt trainingInput at the top, or two or more fields
 * that belong under trainingInput and no key with which another program's files
 * begin.
 */
bool likeness_of_document(const struct node *root);

#endif
