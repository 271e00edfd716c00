/* SPDX-License-Identifier: Apache-2.0 */
/* A job as manifests that kubectl applies unchanged. */
#ifndef JOBRUN_RENDER_H
#define JOBRUN_RENDER_H

#include <jansson.h>
#include <stdbool.h>

#include "core/provider/extension.h"

/*
 * An array of objects in the order of their making; returns new, or NULL.
 * Tells the fields without a counterpart, and the Secret too, if the job needs
 * one: values of secrets are in no manifest.  The job has been digested.
 */
json_t *kube_render(const struct job *job, const struct catalogue *catalogue,
		    void (*tell)(void *arg, bool needed, const char *path,
				 const char *why),
		    void *arg, struct error *err);

/* The same as documents of YAML, as kubectl reads several in one file. */
extern const struct provider_render kubernetes_render;

#endif
