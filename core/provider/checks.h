/* SPDX-License-Identifier: Apache-2.0 */
/* The results of `jobrun doctor`: a list of checks, in groups. */
#ifndef JOBRUN_CHECKS_H
#define JOBRUN_CHECKS_H

#include <stddef.h>

#include "core/base/alloc.h"
#include "core/base/error.h"

enum check_state {
	CHECK_OK,
	CHECK_MISSING, /* missing; some jobs need it */
	CHECK_BAD,     /* present but does not work */
};

struct doctor_check {
	const char *group;
	const char *name;
	enum check_state state;
	const char *value;  /* what was found, or NULL */
	const char *source; /* where that was found, or NULL */
	const char *advice; /* what to do unless it is ok, or NULL */
};

struct checks {
	struct arena *mem;          /* owns all strings */
	struct doctor_check *items; /* owned */
	size_t count;
	enum error_code worst; /* of the first bad check, or 0 */
};

/* Adds a check at the end of its group, or as the first of a new one.  Strings
 * are borrowed, or in the arena of the list; the result is valid until the next
 * check is added. */
struct doctor_check *checks_add(struct checks *all, const char *group,
				const char *name, enum check_state state,
				const char *value);
/* Adds a bad check with the reason in `err`. */
void checks_fail(struct checks *all, const char *group, const char *name,
		 const struct error *err);
/* The same; `advice` says what to do. */
void checks_bad(struct checks *all, const char *group, const char *name,
		enum error_code code, const char *advice);
/* Checks whether PATH has a program, in the group of programs. */
void checks_program(struct checks *all, const char *name, const char *advice);
/* Copies all of `from` to `all`; a `group` that is not NULL replaces theirs. */
void checks_copy(const struct checks *from, const char *group,
		 struct checks *all);

#endif
