/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gcloud's own files: its folder (CLOUDSDK_CONFIG, else ~/.config/gcloud), and
 * the properties of its active configuration.
 */
#ifndef JOBRUN_GCLOUD_H
#define JOBRUN_GCLOUD_H

#include "core/base/alloc.h"

/* The path of a file in gcloud's folder.  Returns new; NULL if there is no
 * HOME. */
char *gcloud_path(const char *name);

/*
 * A property, as `gcloud config set SECTION/KEY` sets it: from its variable
 * (CLOUDSDK_SECTION_KEY), else from the configuration that
 * CLOUDSDK_ACTIVE_CONFIG_NAME or the file active_config names.  NULL if it is
 * not set.  `*source`, if not NULL, is set to its origin.  Both live in `mem`.
 */
const char *gcloud_property(const char *section, const char *key,
			    struct arena *mem, const char **source);

#endif
