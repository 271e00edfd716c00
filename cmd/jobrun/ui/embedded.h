/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the source tree that are in the program, too: the Makefile says
 * which, cmd/jobrun/generate/embed makes them tables of C. */
#ifndef JOBRUN_EMBEDDED_H
#define JOBRUN_EMBEDDED_H

#include <stdbool.h>

struct embedded {
	const char *path; /* from the folder they stand in */
	bool executable;
	const char *text;
};

/* Each up to a row without a path. */
extern const struct embedded starter_files[];    /* examples/gitops */
extern const struct embedded completion_files[]; /* cmd/jobrun/completion */
extern const struct embedded page_files[];       /* cmd/jobrun/page */

#endif
