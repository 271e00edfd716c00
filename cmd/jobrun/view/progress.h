/* SPDX-License-Identifier: Apache-2.0 */
/* Reports the progress of a run's preparation: "12/64 hosts ready".  Reports
 * nothing if preparing takes only a moment. */
#ifndef JOBRUN_PROGRESS_H
#define JOBRUN_PROGRESS_H

#include "cmd/jobrun/ui/app.h"
#include "core/base/loop.h"
#include "core/store/store.h"

struct progress;

/* Borrows its arguments. */
struct progress *progress_new(struct app *app, struct store *store,
			      const struct run_record *run, struct loop *loop);
void progress_free(struct progress *progress); /* accepts NULL */

#endif
