/* SPDX-License-Identifier: Apache-2.0 */
/* Resources that a supervisor reserves, so that it does not run out of them
 * later. */
#ifndef JOBRUN_RESERVE_H
#define JOBRUN_RESERVE_H

#include <sys/resource.h>

#include "core/base/error.h"

/* Raises the limit on descriptors, as each task takes several here.  Returns
 * the old limit, for the tasks, whose select() may not support more. */
struct rlimit reserve_files(void);

/* Reserves disk space that is released when the disk is full, for the last
 * messages.  Fails only if there is no space; an existing reserve is no
 * error. */
int reserve_take(const char *home, struct error *err);
void reserve_drop(const char *home);

#endif
