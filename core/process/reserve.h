/* SPDX-License-Identifier: Apache-2.0 */
/* What a supervisor puts by, so that it does not run out of it later. */
#ifndef JOBRUN_RESERVE_H
#define JOBRUN_RESERVE_H

#include <sys/resource.h>

#include "core/base/error.h"

/* Each task takes several descriptors here.  Returns the limit as it was: for
 * the tasks, as select() of theirs may not expect more. */
struct rlimit reserve_files(void);

/* Room that is given back when the disk is full, for the last words.  Fails
 * only if there is no space; taken already is success. */
int reserve_take(const char *home, struct error *err);
void reserve_drop(const char *home);

#endif
