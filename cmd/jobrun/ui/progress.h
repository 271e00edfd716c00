/* SPDX-License-Identifier: Apache-2.0 */
/* How far the preparing of a run is, said while that lasts: "12/64 hosts
 * ready".  Says nothing of a run that is prepared in a moment. */
#ifndef JOBRUN_PROGRESS_H
#define JOBRUN_PROGRESS_H

#include "cmd/jobrun/ui/app.h"
#include "core/base/loop.h"
#include "core/store/store.h"

struct progress;

/* Borrows all of it. */
struct progress *progress_new(struct app *app, struct store *store,
			      const struct run_record *run, struct loop *loop);
void progress_free(struct progress *progress); /* NULL does nothing */

#endif
