/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The endpoints of Google's services.  They can be overridden as gcloud's are:
 * with CLOUDSDK_API_ENDPOINT_OVERRIDES_ML and so on, or with `gcloud config set
 * api_endpoint_overrides/ml URL`; storage also with STORAGE_EMULATOR_HOST.
 */
#ifndef JOBRUN_ENDPOINT_H
#define JOBRUN_ENDPOINT_H

#include <stdbool.h>

#include "core/base/buf.h"

enum google_service {
	SERVICE_ML,         /* AI Platform Training */
	SERVICE_AIPLATFORM, /* Vertex AI; each region has its own */
	SERVICE_COMPUTE,
	SERVICE_TPU,
	SERVICE_STORAGE,
	SERVICE_LOGGING,
	SERVICE_SERVICEUSAGE,
	SERVICE_RESOURCEMANAGER,
	SERVICE_COUNT,
};

/* "ml": the part in the name of its variable, in lower case. */
const char *service_name(enum google_service service);

/* Adds the base URL of all its paths, with a '/' at the end; `region` may be
 * NULL for a service without regions. */
void endpoint_add(enum google_service service, const char *region,
		  struct buf *out);
/* The same without the part between the host and the API's paths
 * ("storage/v1/"), which differs for uploads. */
void endpoint_add_root(enum google_service service, const char *region,
		       struct buf *out);

/* Whether the URL is of a storage emulator, which needs no credentials. */
bool endpoint_is_emulated(const char *url);

#endif
