/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks the metadata server and, with the machine's own credentials, the TPU API
 * about the machine that this process runs on.  The calls have the forms that
 * core/topology/topology_read.h and core/topology/tpu_wait.h ask for; their
 * `arg` is the machine.
 */
#ifndef JOBRUN_GCE_H
#define JOBRUN_GCE_H

#include "core/topology/tpu_wait.h"

struct gce;

/* No I/O: all is opened at its first use.  `trace` is that of struct
 * http_options, borrowed, or NULL. */
struct gce *gce_new(const char *trace);
void gce_free(struct gce *gce); /* NULL does nothing */

/* Asks nobody on a machine that does not look like one of Google's. */
bool gce_has_metadata(void *arg);
int gce_metadata(void *arg, const char *path, struct arena *mem,
		 const char **out, struct error *err);

/* Looks at the TPU node that `all` names. */
int gce_look(void *arg, const struct topology *all, struct arena *mem,
	     struct tpu_view *out, struct error *err);

/*
 * Makes `all` name a TPU node: "projects/P/locations/Z/nodes/NAME", or "NAME"
 * for one in this machine's project and zone.
 */
int gce_name_tpu(struct gce *gce, const char *name, struct arena *mem,
		 struct topology *all, struct error *err);

#endif
