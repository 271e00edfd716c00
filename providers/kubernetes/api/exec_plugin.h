/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Credentials from a program named in the kubeconfig: it writes an
 * ExecCredential of client.authentication.k8s.io/v1 or v1beta1 to its standard
 * output (kubernetes.io/docs/reference/access-authn-authz/authentication,
 * "client-go credential plugins"; gke-gcloud-auth-plugin is one).
 */
#ifndef JOBRUN_EXEC_PLUGIN_H
#define JOBRUN_EXEC_PLUGIN_H

#include <stdint.h>

#include "providers/kubernetes/api/kubeconfig.h"

/* Owned; each or NULL.  Wiped by exec_credential_done(). */
struct exec_credential {
	char *token;
	char *certificate; /* with `key` */
	char *key;
	int64_t ends_ms; /* expiry since 1970; 0: until it is refused */
};

/* Runs the program for a minute at most.  It has no terminal to ask at; its
 * standard error is shown. */
int exec_plugin_run(const struct kubeconfig *config,
		    struct exec_credential *out, struct error *err);
void exec_credential_done(struct exec_credential *credential);

#endif
