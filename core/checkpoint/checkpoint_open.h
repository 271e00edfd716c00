/* SPDX-License-Identifier: Apache-2.0 */
/* Whether somebody still writes to a checkpoint. */
#ifndef JOBRUN_CHECKPOINT_OPEN_H
#define JOBRUN_CHECKPOINT_OPEN_H

#include <stdbool.h>

struct checkpoint;

/* Whether anybody on this machine has a file of it open for writing, below the
 * directory with this descriptor.  False where that can't be told, as on most
 * network file systems and for files of other users. */
bool checkpoint_is_open(int folder, const struct checkpoint *what);

#endif
