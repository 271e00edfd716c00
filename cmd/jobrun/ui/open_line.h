/* SPDX-License-Identifier: Apache-2.0 */
/* The line that a task has begun and not ended: a prompt, a progress bar. */
#ifndef JOBRUN_OPEN_LINE_H
#define JOBRUN_OPEN_LINE_H

#include <stdbool.h>

#include "core/log/log.h"

/* The newest of them, as app_stand() can show it.  False: there is none. */
bool open_line_format(struct log_reader *reader, int width, struct buf *out);

#endif
