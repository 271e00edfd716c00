/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the source tree that are embedded in the program: the Makefile lists
 * them, cmd/jobrun/generate/embed makes them C tables. */
#ifndef JOBRUN_EMBEDDED_H
#define JOBRUN_EMBEDDED_H

#include <stdbool.h>

struct embedded {
	const char *path; /* relative to their folder */
	bool executable;
	const char *text;
};

/* Each up to a row without a path. */
extern const struct embedded starter_files[];    /* examples/gitops */
extern const struct embedded completion_files[]; /* cmd/jobrun/completion */
extern const struct embedded page_files[];       /* cmd/jobrun/page */

#endif
