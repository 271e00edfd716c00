/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `jobrun.source` in a ConfigMap: each file is a key, and the pods' volume maps
 * keys back to paths.  Nothing has to be unpacked, and no image needs a tool
 * for it.  The contents of a ConfigMap never change: another source has another
 * name.
 */
#ifndef JOBRUN_KUBE_SOURCE_H
#define JOBRUN_KUBE_SOURCE_H

#include <jansson.h>

#include "providers/kubernetes/manifest/kube_translate.h"

/* The name of its volume. */
#define SOURCE_VOLUME "jobrun-source"

/* Makes the ConfigMap without the files' contents, for plans.  Reports what
 * does not fit.  Returns new, or NULL if the job has no source. */
json_t *source_config_map(const struct job *job, struct arena *mem,
			  struct kube_job *out);
json_t *source_volume(const struct job *job, struct arena *mem);

/* Adds the contents of the files. */
int source_fill(const struct job *job, json_t *config_map, struct error *err);

#endif
