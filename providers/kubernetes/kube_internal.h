/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of the provider. */
#ifndef JOBRUN_KUBE_INTERNAL_H
#define JOBRUN_KUBE_INTERNAL_H

#include <pthread.h>

#include "core/provider/provider.h"
#include "core/store/store.h"
#include "providers/kubernetes/manifest/objects.h"

#define KUBE_POLL_MS 2000

struct kube_logs;
struct kube_overview;
struct kube_rights;
struct kube_watch;

/* A cluster that was contacted. */
struct kube_cluster {
	char *key; /* its place without the namespace */
	struct apiserver *api;
	struct kube_cluster *next;
};

struct kube {
	struct provider_env env;
	pthread_mutex_t lock; /* for the lists */
	struct kube_cluster *clusters;
	struct kube_overview *overviews;
	struct kube_rights *rights;
	struct kube_watch *watches;
	struct kube_logs *logs; /* streams that are open */
};

extern const struct topology_reader reader_kubernetes;

/*
 * A place is "NAMESPACE@CONTEXT in KUBECONFIG": parts that the file does not
 * give are left out, and so is " in " without a kubeconfig; " within " replaces
 * it for a kubeconfig below the root of the job's file.
 */
#define KUBE_ANYWHERE "@"
/* NULL: the default place. */
int kube_find(struct kube *kube, const char *place, struct kube_at *out,
	      struct error *err);
/* The same place with the context of that name; in `mem`. */
const char *kube_place_in_context(const char *place, const char *context,
				  struct arena *mem);
/* Whether the cluster of a place is configured anywhere. */
bool kube_is_known(const char *place);

#endif
