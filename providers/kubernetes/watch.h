/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches of objects: a descriptor that is readable when one has changed.  A
 * watch goes on where it was (resourceVersion, with bookmarks) when its
 * connection breaks or its time is over, and from now on where that is
 * forgotten (410 Gone): whoever hears of a change looks at the object anyhow.
 *
 * (kubernetes.io/docs/reference/using-api/api-concepts, "Efficient detection
 * of changes".)
 */
#ifndef JOBRUN_WATCH_H
#define JOBRUN_WATCH_H

#include "providers/kubernetes/kube_internal.h"

/* `*fd` is new.  With more than a few objects it is never readable: they are
 * polled. */
int watch_open(struct kube *kube, const struct kube_at *at,
	       const struct kube_type *type, const char *name, int *fd,
	       struct error *err);
/* Goes on with it, if it has broken.  Returns whether it is open: then somebody
 * follows. */
bool watch_keep(struct kube *kube, const struct kube_at *at,
		const struct kube_type *type, const char *name);
void watch_end(struct kube *kube, const struct kube_at *at,
	       const struct kube_type *type, const char *name);
void watch_end_all(struct kube *kube);

#endif
