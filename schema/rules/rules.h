/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules between the fields of a job.  They depend on where the job is to run:
 * if no provider is given, those of AI Platform Training apply, for which most
 * files were written.
 *
 * A file is often only a part of a job, whose rest came from flags: so a
 * missing value breaks no rule, unless no flag could supply it.
 */
#ifndef JOBRUN_RULES_H
#define JOBRUN_RULES_H

#include "core/job/job.h"
#include "schema/problem/problem.h"

struct check;

enum condition_op {
	RULE_GIVEN,
	RULE_ABSENT,
	RULE_IS,  /* is one of the values */
	RULE_NOT, /* is none of the values */
	RULE_NOT_STARTS,
	RULE_ENDS, /* for a list: one of its items */
	RULE_LACKS,
	RULE_OVER, /* a number, or the length of a list or a map */
	RULE_UNDER,
	RULE_LEGACY,  /* a machine type of AI Platform's own */
	RULE_COMPUTE, /* a machine type of Compute Engine */
	RULE_HAS,     /* for a tier: has this role */
	RULE_HAS_NO,
};

/* One of the conditions that together make a problem. */
struct condition {
	const char *path; /* {role} stands for a role of the rule */
	enum condition_op op;
	const char *const *values; /* NULL-terminated */
	const char *label;         /* the label of the place; NULL: none */
};

/* A kind of problem.  Rules are data, in the YAML files beside this one, with
 * these keys. */
struct rule {
	const char *id; /* "tpu-count", shown in brackets after a message */
	/* The severity of its problems; lower if a rule is not certain. */
	enum severity severity;
	const char *doc;    /* the requirement, in one line */
	const char *why;    /* the reason, or NULL if `doc` has it */
	const char *source; /* a public document as evidence; or NULL */
	/* a job file that breaks and one that keeps the rule, or both NULL */
	const char *wrong, *right;
	/* The fields that it checks, as NULL-terminated paths; NULL: the
	 * file. */
	const char *const *fields;
	/* The rule applies if a provider has all of `traits`
	 * (core/job/traits.h) and none of `unless`. */
	unsigned traits, unless;
	bool note; /* only a note if the job names no provider */
	/* Rules of AI Platform are notes for a job of another provider: those
	 * with `note`, and those that are in part about its past.  `quiet`: only
	 * if every note was asked for. */
	bool dated, quiet;

	/* Either a function, or a sentence for each role for which all
	 * conditions hold; {PATH} in it is replaced by a value. */
	void (*check)(const struct check *check);
	const struct condition *when; /* up to a row without a path */
	/* The part of `check` that an editor can know by a JSON Schema: a
	 * problem at `at` if all of these hold.  Or NULL. */
	const struct condition *editor;
	const char *const *roles; /* NULL: all */
	const char *at, *message, *hint;
};

/* Rules between fields, and for any file; up to a row without an id. */
extern const struct rule rules[], general_rules[];

const struct rule *rule_find(const char *id); /* searches both; or NULL */

/* Enough for the path of any field in a rule. */
#define RULE_PATH_SIZE 128
/* The roles that the rule is for, up to NULL; "" alone if its place has no
 * {role}. */
const char *const *rule_roles(const struct rule *rule);
/* Replaces {role} in a path of a rule; returns `out`. */
const char *rule_path(const char *path, const char *role,
		      char out[RULE_PATH_SIZE]);

/* Whether the rule applies to providers with these traits, or to any. */
bool rule_holds(const struct rule *rule, unsigned traits);
bool rule_is_everywhere(const struct rule *rule);

/* `traits` are those of the requested provider; NULL: none was requested, and
 * the rules of AI Platform apply. */
void rules_check(const struct job *job, const unsigned *traits,
		 struct problems *found);

/* Adds what AI Platform would refuse or ignore of a job that was written for
 * another provider: one note, or with `each` a note for each problem. */
void rules_note_elsewhere(const struct job *job, bool each,
			  struct problems *found);

#endif
