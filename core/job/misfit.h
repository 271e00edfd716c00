/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What does not fit between the fields of a provider's block and the rest of a
 * job.  The provider finds it, without I/O; validate shows it at its place, and
 * the provider's own plan refuses the same.
 */
#ifndef JOBRUN_MISFIT_H
#define JOBRUN_MISFIT_H

#include <stdbool.h>
#include <stddef.h>

struct arena;

#define MISFITS_MAX 16

struct misfit {
	bool certain;     /* the job is refused there; else it may be */
	const char *path; /* "trainingInput.masterType"; an item: "a.b[1]" */
	const char *text; /* lower case or a name, no full stop */
	const char *hint; /* what to do */
};

/* What is added to a full list is dropped. */
struct misfits {
	struct arena *mem; /* texts live there; borrowed */
	struct misfit items[MISFITS_MAX];
	size_t count;
};

/* `path` and `hint` are borrowed. */
void misfit_add(struct misfits *all, bool certain, const char *path,
		const char *hint, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

#endif
