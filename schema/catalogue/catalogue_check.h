/* SPDX-License-Identifier: Apache-2.0 */
/* What the form of a catalogue does not say: that names are names, that numbers
 * agree, and that what a row refers to is there. */
#ifndef JOBRUN_CATALOGUE_CHECK_H
#define JOBRUN_CATALOGUE_CHECK_H

#include "core/base/error.h"
#include "core/job/catalogue.h"

/* `under` is the catalogue that it goes over; NULL: it stands alone.  Returns
 * -1 with the first problem. */
int catalogue_check(const struct catalogue *all, const struct catalogue *under,
		    struct error *err);

#endif
