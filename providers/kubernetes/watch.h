/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches objects: a descriptor becomes readable when one has changed.  If its
 * connection breaks or times out, a watch resumes where it was
 * (resourceVersion, with bookmarks), or at the present if that version is
 * forgotten (410 Gone), as the reader of a change looks at the object anyway.
 *
 * (kubernetes.io/docs/reference/using-api/api-concepts, "Efficient detection of
 * changes".)
 */
#ifndef JOBRUN_WATCH_H
#define JOBRUN_WATCH_H

#include "providers/kubernetes/kube_internal.h"

/* `*fd` is new.  With more than a few objects it never becomes readable: they
 * are polled. */
int watch_open(struct kube *kube, const struct kube_at *at,
	       const struct kube_type *type, const char *name, int *fd,
	       struct error *err);
/* Reopens a broken watch.  Returns whether the watch is open, which means that
 * somebody follows. */
bool watch_keep(struct kube *kube, const struct kube_at *at,
		const struct kube_type *type, const char *name);
void watch_end(struct kube *kube, const struct kube_at *at,
	       const struct kube_type *type, const char *name);
void watch_end_all(struct kube *kube);

#endif
