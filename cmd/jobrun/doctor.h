/* SPDX-License-Identifier: Apache-2.0 */
/* The checks of `doctor`: a list, in groups. */
#ifndef JOBRUN_DOCTOR_H
#define JOBRUN_DOCTOR_H

#include <stddef.h>

#include "cmd/jobrun/ui/app.h"
#include "core/base/alloc.h"

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
	struct arena *mem; /* of all texts */
	struct doctor_check *items;
	size_t count;
	enum error_code worst; /* of the first that is bad, or 0 */
};

/* Texts are borrowed, or in the arena of the list. */
struct doctor_check *checks_add(struct checks *all, const char *group,
				const char *name, enum check_state state,
				const char *value);
/* A bad one, for what `err` says. */
void checks_fail(struct checks *all, const char *group, const char *name,
		 const struct error *err);

/* Where runs are recorded.  Makes nothing. */
void doctor_state(struct checks *all);
/* Credentials, project, region, zone, and whether the services answer. */
void doctor_google(const struct app *app, struct checks *all);

#endif
