/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must hold between the fields of a job.  Rules follow where the job is
 * to run: with no provider given, those of AI Platform Training hold, for
 * which most files were written.
 *
 * A file is often a part of a job, the rest of which came from flags: that
 * something is missing breaks no rule, unless no flag could mend it.
 */
#ifndef JOBRUN_RULES_H
#define JOBRUN_RULES_H

#include "core/job/job.h"
#include "schema/problem/problem.h"

struct check;

struct rule {
	const char *id; /* "tpu-count", in brackets behind a message */
	/* How bad its finds are; less so where a rule is not certain. */
	enum severity severity;
	const char *doc;    /* why, in one line */
	const char *source; /* who says so: a public document */
	/* What it looks at, as paths, up to NULL. */
	const char *const *fields;
	/* It holds where a provider has all of `traits` (core/job/traits.h)
	 * and none of `unless`. */
	unsigned traits, unless;
	void (*check)(const struct check *check);
};

/* Up to a row with no id. */
extern const struct rule rules[];

/* Whether it holds for a provider of these traits; for any. */
bool rule_holds(const struct rule *rule, unsigned traits);
bool rule_is_everywhere(const struct rule *rule);

/* `traits` are those of the provider that was asked for, or, if nobody did,
 * TRAITS_AI_PLATFORM. */
void rules_check(const struct job *job, unsigned traits,
		 struct problems *found);

#endif
