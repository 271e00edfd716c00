/* SPDX-License-Identifier: Apache-2.0 */
/* Devices as JSON, for other programs. */
#ifndef JOBRUN_DEVICE_JSON_H
#define JOBRUN_DEVICE_JSON_H

#include <jansson.h>

#include "core/device/device.h"

/* An object for each device.  Returns new. */
json_t *devices_json(const struct devices *all);

#endif
