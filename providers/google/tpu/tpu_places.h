/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The possible places of a job's TPU: a project, and the zones in the order in
 * which they are tried.
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

/* Finds them in the properties written by tpu_places_put(), or in the place of
 * a found resource ("projects/P/locations/Z"); otherwise as Google's tools do.
 * Lives in `mem`. */
int tpu_places_find(struct google *google, const struct resource *it,
		    struct arena *mem, struct tpu_places *out,
		    struct error *err);

/* Where a TPU is, or will be if there is capacity. */
struct tpu_place_known {
	const char *project;
	const char *zone;
	const char *first_zone; /* that the plan shows */
};

/* By what a read has found, or if nothing was looked at, by what the file says;
 * "-", Google's word for any, where it does not.  Borrowed. */
void tpu_place_known(const struct resource *want, const struct resource *found,
		     struct tpu_place_known *out);

/* Adds the job's settings: its project and zone, the zones to try after that,
 * and for how long to keep trying. */
void tpu_places_put(json_t *properties, const struct job *job,
		    const struct strings *others, long patience_s);

/* The folder that the resource's sshKey must be below, or NULL: see
 * login_key(). */
const char *tpu_key_root(const struct resource *want);

#endif
