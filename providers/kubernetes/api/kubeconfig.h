/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How to reach a cluster, and as whom: from kubectl's files, or within a pod
 * from its service account.
 *
 *	jobrun.kubernetes.kubeconfig
 *	$KUBECONFIG		several files: if more than one defines
 *				something, the first counts
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
	char *proxy; /* or NULL */
	/* the name in the server's certificate; NULL: the server's */
	char *tls_name;
	/* Headers that name the user to act as. */
	char *as[KUBE_AS_MAX];
	size_t as_count;
	/* In PEM, each or NULL. */
	char *ca;
	char *certificate;
	char *key;
	/* At most one source of a token. */
	char *token;
	char *token_file;  /* read again when it is renewed */
	json_t *exec;      /* the plugin's entry in the file */
	char *exec_folder; /* the base of its relative command */
	json_t *cluster;   /* for plugins that ask for it */
};

struct kubeconfig_choice {
	const char *file;    /* replaces the usual files, or NULL */
	const char *context; /* replaces the current one, or NULL */
	/* Nobody vouches for `file`: it may run no program, read no file
	 * outside its folder, and choose no proxy. */
	bool untrusted;
	const char *root; /* the folder that `file` must be below, or NULL */
	/* The folder of a pod's service account; NULL: KUBE_SERVICE_ACCOUNT. */
	const char *service_account;
};

/* Whether a path is one of the usual files, under whatever name. */
bool kubeconfig_is_users(const char *path);

/* Whether there is any configuration, without reading it. */
bool kubeconfig_is_there(const struct kubeconfig_choice *choice);

int kubeconfig_read(const struct kubeconfig_choice *choice,
		    kube_read_yaml *read_yaml, struct kubeconfig *out,
		    struct error *err);
void kubeconfig_done(struct kubeconfig *config);

#endif
