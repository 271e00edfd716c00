/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The permissions that a job needs in its namespace, and whether the user has
 * them.  The table covers everything that jobrun asks of a cluster, except for
 * commands beside tasks and their ports (pods/exec, pods/portforward), which
 * are beyond what a job needs; examples/kubernetes/role.yaml is a Role that
 * grants it.
 */
#ifndef JOBRUN_RIGHTS_H
#define JOBRUN_RIGHTS_H

#include "providers/kubernetes/kube_internal.h"
#include "providers/kubernetes/manifest/kube_translate.h"

/* Answers from the cluster, kept for one command. */
struct kube_rights;
void rights_free_all(struct kube_rights *all);

/* The rows of the table that a job needs. */
enum right_need {
	NEED_JOBSET = 1 << 0, /* runs as a JobSet */
	NEED_JOB = 1 << 1,    /* runs as a Job */
	NEED_SECRET = 1 << 2,
	NEED_SOURCE = 1 << 3,
	NEED_SERVICE = 1 << 4,
	NEED_QUEUE = 1 << 5,
	NEED_LABELS = 1 << 6, /* of its namespace */
	NEED_TTL = 1 << 7,    /* records its success */
	NEED_ALL = (1 << 8) - 1,
};

unsigned rights_need(const struct kube_job *made, const struct kube_type *type);
/*
 * Adds to `missing` the permissions that such a job lacks, and to `notes` those
 * that it can do without: lists of strings.  Adds nothing if the cluster does
 * not say.
 */
void rights_check(struct kube *kube, const struct kube_at *at, unsigned needs,
		  json_t *missing, json_t *notes);
/* Whether one of them is granted, or may be. */
bool rights_may(struct kube *kube, const struct kube_at *at, const char *verb,
		const struct kube_type *type);
/* The name under which the cluster knows the user, in `mem`; NULL if it does not
 * say. */
const char *rights_who(const struct kube_at *at, struct arena *mem);
/* The answer of `ask` about a namespace, asked once for each under that key. */
bool rights_remember(struct kube *kube, const struct kube_at *at,
		     const char *key, bool (*ask)(const struct kube_at *at));

#endif
