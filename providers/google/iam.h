/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The roles in a project: its IAM policy, of Resource Manager v1.
 *
 * A policy is one document that is read, changed and written as a whole.  Its
 * etag protects everybody's changes: the second writer is refused, and reads
 * again.
 */
#ifndef JOBRUN_IAM_H
#define JOBRUN_IAM_H

#include <stdbool.h>

#include "providers/google/google.h"

/* A role that somebody has in a project, without conditions. */
struct iam_grant {
	const char *project;
	const char *role;   /* "roles/ml.serviceAgent" */
	const char *member; /* "serviceAccount:NAME@…" */
};

int iam_is_granted(struct google *google, const struct iam_grant *grant,
		   bool *out, struct error *err);

/* Already granted is success.  ERROR_TRY_AGAIN: others keep changing the
 * policy, or IAM does not know the member yet. */
int iam_give(struct google *google, const struct iam_grant *grant,
	     struct error *err);

#endif
