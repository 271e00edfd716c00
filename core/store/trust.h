/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a state directory can be trusted.  Commands that look at it act on
 * its contents: they resume runs, and call the proxies that these name.  So
 * whoever can write there can run commands as whoever looks.
 */
#ifndef JOBRUN_TRUST_H
#define JOBRUN_TRUST_H

#include "core/base/error.h"

/* An operator sets this to 1 where owners and modes mean little: in containers
 * and on some file systems. */
#define TRUST_VARIABLE "JOBRUN_TRUST_STATE_DIR"

/*
 * Fails if the directory, its database or its runs belong to anyone but this
 * user or root, or if others can write there.  Missing files are no failure.
 */
int trust_check(const char *folder, struct error *err);

#endif
