/* SPDX-License-Identifier: Apache-2.0 */
/* What `jobrun doctor` has looked at: a list of checks, in groups. */
#ifndef JOBRUN_CHECKS_H
#define JOBRUN_CHECKS_H

#include <stddef.h>

#include "core/base/alloc.h"
#include "core/base/error.h"

enum check_state {
	CHECK_OK,
	CHECK_MISSING, /* not there; some jobs need it */
	CHECK_BAD,     /* there, and does not work */
};

struct doctor_check {
	const char *group;
	const char *name;
	enum check_state state;
	const char *value;  /* what there is, or NULL */
	const char *source; /* who says so, or NULL */
	const char *advice; /* what to do if it is not ok, or NULL */
};

struct checks {
	struct arena *mem;          /* of all texts */
	struct doctor_check *items; /* owned */
	size_t count;
	enum error_code worst; /* of the first that is bad, or 0 */
};

/* Behind the others of its group, or as the first of a new one.  Texts are
 * borrowed, or in the arena of the list; what is returned holds until the next
 * one is added. */
struct doctor_check *checks_add(struct checks *all, const char *group,
				const char *name, enum check_state state,
				const char *value);
/* A bad one, for what `err` says. */
void checks_fail(struct checks *all, const char *group, const char *name,
		 const struct error *err);
/* Whether PATH has a program, in the group of those. */
void checks_program(struct checks *all, const char *name, const char *advice);

#endif
