/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which files of a directory are meant to be jobs.  Beside job files lie other
 * programs' YAML, templates that are no YAML at all, and job files with a slip
 * in their first key: those must not be passed over as if they were gone.
 */
#ifndef JOBRUN_LIKENESS_H
#define JOBRUN_LIKENESS_H

#include <stdbool.h>

struct node;
struct source;

enum likeness {
	LIKENESS_NONE,     /* of something else, by its text */
	LIKENESS_POSSIBLE, /* only its YAML can tell */
	LIKENESS_JOB,      /* a key of a job starts a line of it */
};

/* By the text alone, as it may be no YAML. */
enum likeness likeness_of_text(const struct source *source);

/*
 * Whether a document without a trainingInput is a job with a slip: it has a
 * jobId, a jobrun or a misspelt trainingInput at the top, or two or more
 * fields that belong under trainingInput and no key that another program's
 * files begin with.
 */
bool likeness_of_document(const struct node *root);

#endif
