/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a process still writes to a checkpoint. */
#ifndef JOBRUN_CHECKPOINT_OPEN_H
#define JOBRUN_CHECKPOINT_OPEN_H

#include <stdbool.h>

struct checkpoint;

/* Whether any process on this machine has a file of the checkpoint open for
 * writing, below the directory with this descriptor.  Returns false where that
 * is not visible, as on most network file systems and for files of other
 * users. */
bool checkpoint_is_open(int folder, const struct checkpoint *what);

#endif
