/* SPDX-License-Identifier: Apache-2.0 */
/* Checks what a catalogue's form does not ensure: that names are valid, that
 * numbers agree, and that everything a row refers to exists. */
#ifndef JOBRUN_CATALOGUE_CHECK_H
#define JOBRUN_CATALOGUE_CHECK_H

#include "core/base/error.h"
#include "core/job/catalogue.h"

/* `under` is the catalogue below this one; NULL: it stands alone.  Returns -1
 * with the first problem. */
int catalogue_check(const struct catalogue *all, const struct catalogue *under,
		    struct error *err);

#endif
