/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JOBRUN_TEMPLATE_H
#define JOBRUN_TEMPLATE_H

#include "core/provider/listing.h"
#include "core/provider/provider.h"

/* For the kinds of templates and groups: listing a group needs its zone, but a
 * group never exists without its template. */
int tpu_node_list_by_templates(void *ctx, const char *where,
			       const struct kind *kind, struct listing *out,
			       struct error *err);

#endif
