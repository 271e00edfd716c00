/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a state directory can be believed.  Any look at it acts on what it
 * says: it resumes runs, and calls the proxies that they name.  So whoever can
 * write there runs commands as whoever looks.
 */
#ifndef JOBRUN_TRUST_H
#define JOBRUN_TRUST_H

#include "core/base/error.h"

/* Set to 1 by an operator who knows better: in containers and on some file
 * systems owners and modes mean little. */
#define TRUST_VARIABLE "JOBRUN_TRUST_STATE_DIR"

/*
 * Fails if the directory, its database or its runs belong to another user than
 * this one or root, or if others can write there.  What is not there is no
 * failure.
 */
int trust_check(const char *folder, struct error *err);

#endif
