/* SPDX-License-Identifier: Apache-2.0 */
/* Lists everything that jobrun made in a namespace, by its labels: for pruning
 * and deleting on a machine without records of it. */
#ifndef JOBRUN_LIST_H
#define JOBRUN_LIST_H

struct error;
struct kind;
struct kube_at;
struct kube_type;
struct listing;

/* Adds the objects with a label.  `place` may be NULL: anywhere. */
int list_objects(const struct kube_at *at, const struct kube_type *type,
		 const char *label, const struct kind *kind, const char *place,
		 struct listing *out, struct error *err);

/* Adds the Secrets of jobs that have something else there. */
int list_secrets(const struct kube_at *at, const struct kind *kind,
		 const char *place, struct listing *out, struct error *err);

/* Lists runs, including those that only this machine remembers. */
int run_list(void *ctx, const char *place, struct listing *out,
	     struct error *err);

#endif
