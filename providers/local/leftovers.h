/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leftovers on this machine of a killed process or a lost store: folders
 * without a record and records without a folder, processes without a
 * supervisor, locks without a holder, unfinished files.
 */
#ifndef JOBRUN_LEFTOVERS_H
#define JOBRUN_LEFTOVERS_H

#include "core/provider/provider.h"
#include "core/store/store.h"

int local_leftovers(struct store *store, struct leftovers *out,
		    struct error *err);
int local_sweep(struct store *store, const struct leftover *one,
		struct error *err);

#endif
