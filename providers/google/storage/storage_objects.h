/* SPDX-License-Identifier: Apache-2.0 */
/* gs:// as core/data/object_store.h wants it. */
#ifndef JOBRUN_STORAGE_OBJECTS_H
#define JOBRUN_STORAGE_OBJECTS_H

#include "core/data/object_store.h"

extern const struct object_scheme object_scheme_google;

#endif
