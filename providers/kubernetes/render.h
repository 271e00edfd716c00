/* SPDX-License-Identifier: Apache-2.0 */
/* A job as manifests for kubectl. */
#ifndef JOBRUN_RENDER_H
#define JOBRUN_RENDER_H

#include <jansson.h>
#include <stdbool.h>

#include "core/provider/extension.h"

/*
 * Makes an array of objects in the order of their creation; returns new, or
 * NULL.  Reports the fields without a counterpart, and the Secret if the job
 * needs one: manifests never contain secrets.  The job must have been digested.
 */
json_t *kube_render(const struct job *job, const struct catalogue *catalogue,
		    void (*tell)(void *arg, bool needed, const char *path,
				 const char *why),
		    void *arg, struct error *err);

/* The same as a multi-document YAML file for kubectl. */
extern const struct provider_render kubernetes_render;

#endif
