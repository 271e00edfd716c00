/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How to reach a cluster, and as whom: what kubectl's files say, or within a
 * pod its service account.
 *
 *	jobrun.kubernetes.kubeconfig
 *	$KUBECONFIG		several files: of what is in more than one of
 *				them, the first counts
 *	~/.kube/config
 *	/var/run/secrets/kubernetes.io/serviceaccount
 *
 * (kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig
 * and docs/tasks/run-application/access-api-from-pod.)
 */
#ifndef JOBRUN_KUBECONFIG_H
#define JOBRUN_KUBECONFIG_H

#include <jansson.h>
#include <stdbool.h>

#include "core/base/error.h"

#define KUBE_SERVICE_ACCOUNT "/var/run/secrets/kubernetes.io/serviceaccount"

#define KUBE_AS_MAX 34

typedef json_t *kube_read_yaml(const char *text, size_t len, const char *name,
			       struct error *err);

struct kubeconfig {
	/* Owned; see kubeconfig_done(). */
	char *context; /* its name, for messages */
	char *user;    /* the name of its user, or NULL */
	char *server;  /* "https://1.2.3.4", without a '/' at its end */
	char *name_space;
	char *proxy;    /* or NULL */
	char *tls_name; /* what the server's certificate says; NULL: its name */
	/* Headers that say whom the user acts as. */
	char *as[KUBE_AS_MAX];
	size_t as_count;
	/* In PEM, each or NULL. */
	char *ca;
	char *certificate;
	char *key;
	/* At most one way to a token. */
	char *token;
	char *token_file;  /* read again as it is renewed */
	json_t *exec;      /* the plugin, as the file has it */
	char *exec_folder; /* what its command is relative to */
	json_t *cluster;   /* for plugins that want to know it */
};

struct kubeconfig_choice {
	const char *file;    /* instead of the usual ones, or NULL */
	const char *context; /* instead of the current one, or NULL */
	/* Nobody vouches for `file`: it may run no program, read no other
	 * file but beside it, and choose no proxy. */
	bool untrusted;
	const char *root; /* what `file` must be below, or NULL */
	/* Where a pod's service account is; NULL: KUBE_SERVICE_ACCOUNT. */
	const char *service_account;
};

/* Whether a path is one of the usual files, under whatever name. */
bool kubeconfig_is_users(const char *path);

/* Whether there is anything to read, without reading it. */
bool kubeconfig_is_there(const struct kubeconfig_choice *choice);

int kubeconfig_read(const struct kubeconfig_choice *choice,
		    kube_read_yaml *read_yaml, struct kubeconfig *out,
		    struct error *err);
void kubeconfig_done(struct kubeconfig *config);

#endif
