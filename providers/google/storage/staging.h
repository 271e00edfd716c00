/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uploads Python packages for a managed service: local files of packageUris,
 * and jobrun.source packed as a source distribution.  Each is an object
 * `<staging>/<its SHA-256>/<file>`, as in gcloud, which is uploaded once and
 * never changes.
 */
#ifndef JOBRUN_STAGING_H
#define JOBRUN_STAGING_H

#include "core/provider/provider.h"
#include "providers/google/google.h"

/*
 * Adds a resource of `kind` for each package, and sets `urls` (in all->mem) to
 * the replacement for packageUris.  `bucket` is the gs:// directory; if it is
 * NULL but needed, adds to `all` what is missing.  Reads the files, and packs
 * the source to know its digest.
 */
int staging_desire(const struct job *job, const char *bucket,
		   const struct kind *kind, struct resources *all,
		   struct strings *urls, struct error *err);

/* For the calls of that kind: */
int staging_read(struct google *google, const struct resource *want,
		 struct resource *found, struct error *err);
int staging_create(struct google *google, const struct resource *want,
		   struct error *err);
int staging_delete(struct google *google, const struct resource *have,
		   struct error *err);

#endif
