/* SPDX-License-Identifier: Apache-2.0 */
/* The places of a job's parts, and what their kinds have in common. */
#ifndef JOBRUN_TPUNODE_PLACE_H
#define JOBRUN_TPUNODE_PLACE_H

#include "core/provider/listing.h"
#include "providers/tpunode/tpunode_body.h"

/* The path of a resource, in the collection of `it->kind`.  Returns new. */
char *tpu_node_path(const struct resource *it,
		    const struct tpu_node_place *place);

/* The initial shown properties of an existing resource: the desired ones.
 * Returns new. */
json_t *tpu_node_shown(const struct resource *want);

/* Fills in what was found: `shown` are its properties, new or NULL if it does
 * not exist.  Adds project and zone, and to the outputs where it is, or will be
 * if it is available there.  `first_zone` is tried first. */
void tpu_node_set_found(struct resource *found, json_t *shown,
			const struct tpu_node_place *place,
			const char *first_zone);

/* For the kinds: adds to a request where it goes, as far as that is known. */
void tpu_node_adapt(struct resource *want, const struct resource *found);

/* Reports "it is CREATING"; fails if it has taken longer than readyTimeout
 * since it was made (RFC 3339). */
int tpu_node_pending(const struct resource *have, const char *made,
		     const char *what, struct error *err);

/* Adds a resource that is ours, by its labels and the job's original id.
 * `kept`: it exists as long as somebody needs it, as VMs see to that. */
void tpu_node_list_one(struct listing *out, const struct kind *kind,
		       const char *name, const struct tpu_node_place *place,
		       const json_t *labels, const char *job_id,
		       const char *created, bool kept);

#endif
