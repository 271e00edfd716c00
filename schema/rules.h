/* SPDX-License-Identifier: Apache-2.0 */
/* What must hold between the fields of a job. */
#ifndef JOBRUN_RULES_H
#define JOBRUN_RULES_H

#include "core/job.h"
#include "schema/problem.h"

struct rule {
	const char *id;     /* "secret", in brackets behind a message */
	const char *doc;    /* why, in one line */
	const char *source; /* who says so */
	void (*check)(const struct rule *rule, const struct job *job,
		      struct problems *found);
};

/* Up to a row with no id. */
extern const struct rule rules[];

void rules_check(const struct job *job, struct problems *found);

#endif
