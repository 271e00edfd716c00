/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where Google's services are.  They can be moved as gcloud's are: with
 * CLOUDSDK_API_ENDPOINT_OVERRIDES_ML and so on, or with `gcloud config set
 * api_endpoint_overrides/ml URL`; storage also with STORAGE_EMULATOR_HOST.
 */
#ifndef JOBRUN_ENDPOINT_H
#define JOBRUN_ENDPOINT_H

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

/* "ml": as in the name of its variable, in lower case. */
const char *service_name(enum google_service service);

/* Adds the URL that all its paths are below, with a '/' last; `region` may be
 * NULL where the service has none. */
void endpoint_add(enum google_service service, const char *region,
		  struct buf *out);
/* The same, but for what comes between the host and the paths of the API
 * ("storage/v1/"): uploads have another. */
void endpoint_add_root(enum google_service service, const char *region,
		       struct buf *out);

#endif
