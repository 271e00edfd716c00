/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a job needs the right to do in its namespace, and whether whoever asks
 * has it.  The table is all that jobrun asks a cluster for; a Role that grants
 * it is examples/kubernetes/role.yaml.
 */
#ifndef JOBRUN_RIGHTS_H
#define JOBRUN_RIGHTS_H

#include "providers/kubernetes/kube_internal.h"
#include "providers/kubernetes/kube_translate.h"

/* What has been asked, kept for the length of a command. */
struct kube_rights;
void rights_free_all(struct kube_rights *all);

/* What of the table a job needs. */
enum right_need {
	NEED_JOBSET = 1 << 0, /* runs as a JobSet */
	NEED_JOB = 1 << 1,    /* as a Job */
	NEED_SECRET = 1 << 2,
	NEED_SOURCE = 1 << 3,
	NEED_SERVICE = 1 << 4,
	NEED_QUEUE = 1 << 5,
	NEED_LABELS = 1 << 6, /* of its namespace */
	NEED_TTL = 1 << 7,    /* leaves word of its success */
};

unsigned rights_need(const struct kube_job *made, const struct kube_type *type);
/*
 * Adds to `missing` what is lacking to run such a job, and to `notes` what it
 * can do without: lists of texts.  Nothing is added where the cluster does not
 * say.
 */
void rights_check(struct kube *kube, const struct kube_at *at, unsigned needs,
		  json_t *missing, json_t *notes);
/* Whether one of them is granted, or may be. */
bool rights_may(struct kube *kube, const struct kube_at *at, const char *verb,
		const struct kube_type *type);
/* What `ask` says of a namespace, asked once for each under that key. */
bool rights_remember(struct kube *kube, const struct kube_at *at,
		     const char *key, bool (*ask)(const struct kube_at *at));

#endif
