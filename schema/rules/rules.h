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

enum condition_op {
	RULE_GIVEN,
	RULE_ABSENT,
	RULE_IS,  /* one of the values */
	RULE_NOT, /* none of them */
	RULE_NOT_STARTS,
	RULE_ENDS, /* of a list: one of its items */
	RULE_LACKS,
	RULE_OVER, /* a number, or of a list or a map: how many */
	RULE_UNDER,
	RULE_LEGACY,  /* a machine type of AI Platform's own */
	RULE_COMPUTE, /* one of Compute Engine */
	RULE_HAS,     /* a tier: this role */
	RULE_HAS_NO,
};

/* One of those that make a problem together. */
struct condition {
	const char *path; /* {role} is a role of the rule */
	enum condition_op op;
	const char *const *values; /* up to NULL */
	const char *label; /* what is said of the place; NULL: nothing */
};

/* A kind of problem.  They are data, in the YAML files beside this,
 * with these keys. */
struct rule {
	const char *id; /* "tpu-count", in brackets behind a message */
	/* How bad its finds are; less so where a rule is not certain. */
	enum severity severity;
	const char *doc;           /* what must hold, in one line */
	const char *why;           /* or NULL, if that says it */
	const char *source;        /* who says so: a public document; or NULL */
	const char *wrong, *right; /* a job file of either kind, or both NULL */
	/* What it looks at, as paths, up to NULL; NULL: the file. */
	const char *const *fields;
	/* It holds where a provider has all of `traits` (core/job/traits.h)
	 * and none of `unless`. */
	unsigned traits, unless;
	bool note; /* no more than that if the job names no provider */

	/* Either a function, or what is said where all conditions hold, for
	 * each role: {PATH} in it is a value. */
	void (*check)(const struct check *check);
	const struct condition *when; /* up to a row without a path */
	const char *const *roles;     /* NULL: all */
	const char *at, *message, *hint;
};

/* Between fields, and of any file; up to a row with no id. */
extern const struct rule rules[], general_rules[];

const struct rule *rule_find(const char *id); /* of both, or NULL */

/* Whether it holds for a provider of these traits; for any. */
bool rule_holds(const struct rule *rule, unsigned traits);
bool rule_is_everywhere(const struct rule *rule);

/* `traits` are those of the provider that was asked for; NULL: nobody did, and
 * the rules are those of AI Platform. */
void rules_check(const struct job *job, const unsigned *traits,
		 struct problems *found);

#endif
