/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the TPU of a job is, or may be: a project, and the zones in the order
 * of trying.
 */
#ifndef JOBRUN_TPU_PLACES_H
#define JOBRUN_TPU_PLACES_H

#include "core/provider/provider.h"
#include "providers/google/google.h"

struct tpu_places {
	const char *project;
	const char **zones; /* at least one */
	size_t count;
};

/* From the properties that tpu_places_put() has written, or the place of what
 * was found ("projects/P/locations/Z"); and where these say nothing, as
 * Google's tools find it.  Lives in `mem`. */
int tpu_places_find(struct google *google, const struct resource *it,
		    struct arena *mem, struct tpu_places *out,
		    struct error *err);

/* Puts the job's settings there: its project and zone, the zones to try after
 * that, and for how long to keep trying. */
void tpu_places_put(json_t *properties, const struct job *job,
		    const struct strings *others, long patience_s);

/* What the resource's sshKey must be below, or NULL: see login_key(). */
const char *tpu_key_root(const struct resource *want);

#endif
