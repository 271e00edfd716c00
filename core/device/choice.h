/* SPDX-License-Identifier: Apache-2.0 */
/* Which devices of a machine a job may take. */
#ifndef JOBRUN_CHOICE_H
#define JOBRUN_CHOICE_H

#include <stdbool.h>

#include "core/device/device.h"

/* What a job asks for. */
struct device_wish {
	const char *type;  /* "NVIDIA_H100_80GB"; NULL: it names none */
	const char *model; /* how that is called in models' names: "h100" */
	size_t need;
	bool strict; /* it wants that type, and no machine without devices */
};

struct device_choice {
	const struct device *items[DEVICES_MAX]; /* alike, without trouble */
	size_t count;
	bool fits; /* their model is of that type */
};

/* Chooses the first kind with enough devices, preferring the right type;
 * otherwise the kind with the most devices.  Borrows `all`. */
void device_choose(const struct devices *all, const struct device_wish *wish,
		   struct device_choice *out);

/* Returns why the job can't run as it is, in `mem`; or NULL.  `list` is the
 * command that shows the devices. */
const char *device_fault(const struct devices *all,
			 const struct device_wish *wish,
			 const struct device_choice *choice, const char *list,
			 struct arena *mem);

/* How a device is called in the vendor's variable, and to people: "0" and
 * "GPU 0", or both "MIG-...".  In `mem`. */
const char *device_id(const struct device *one, struct arena *mem);
const char *device_label(const char *id, struct arena *mem);

#endif
