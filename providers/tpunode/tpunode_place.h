/* SPDX-License-Identifier: Apache-2.0 */
/* Where the parts of a job are, and what their kinds do alike. */
#ifndef JOBRUN_TPUNODE_PLACE_H
#define JOBRUN_TPUNODE_PLACE_H

#include "core/provider/listing.h"
#include "providers/tpunode/tpunode_body.h"

/* The path of a thing; `it->kind` says in which collection.  Returns new. */
char *tpu_node_path(const struct resource *it,
		    const struct tpu_node_place *place);

/* The shown properties of an existing resource, to begin with: the desired
 * ones.  Returns new. */
json_t *tpu_node_shown(const struct resource *want);

/* Fills in what is found: `shown` are its properties, new or NULL if it is not
 * there; project and zone are added, and to the outputs: where it is, or will
 * be if it can be had there.  `first_zone` is the first that is tried. */
void tpu_node_set_found(struct resource *found, json_t *shown,
			const struct tpu_node_place *place,
			const char *first_zone);

/* For the kinds: where a request goes, as far as it is known. */
void tpu_node_adapt(struct resource *want, const struct resource *found);

/* "it is CREATING", unless it has taken longer than readyTimeout since it was
 * made (RFC 3339), which is a failure. */
int tpu_node_pending(const struct resource *have, const char *made,
		     const char *what, struct error *err);

/* Adds one of ours, by its labels and the job's id as it was written.  `kept`:
 * it is there as long as somebody needs it, as there are VMs that see to
 * that. */
void tpu_node_list_one(struct listing *out, const struct kind *kind,
		       const char *name, const struct tpu_node_place *place,
		       const json_t *labels, const char *job_id,
		       const char *created, bool kept);

#endif
