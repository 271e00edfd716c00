/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/kubernetes/whereabouts.h"

#include <stdio.h>
#include <string.h>

#include "core/base/json.h"

const char *whereabouts_words(const struct kube_at *at, struct arena *mem)
{
	return arena_printf(mem, "cluster '%s' (context '%s'), namespace '%s'",
			    apiserver_server(at->api),
			    apiserver_identity(at->api)->context,
			    at->name_space);
}

void whereabouts_put(const struct kube_at *at, json_t *properties)
{
	const struct apiserver_identity *identity = apiserver_identity(at->api);
	struct arena *mem = arena_new();

	json_put_text(properties, "server", apiserver_server(at->api));
	json_put_text(properties, "ca", identity->ca);
	json_put_text(properties, "context", identity->context);
	json_put_text(properties, "user", identity->user);
	json_put_text(properties, "namespace", at->name_space);
	json_put_text(properties, "where", whereabouts_words(at, mem));
	arena_free(mem);
}

static bool is_same_server(const struct kube_record *record,
			   const struct kube_at *at)
{
	return !strcmp(record->server, apiserver_server(at->api));
}

/* Whether the clusters have the same authority; without one only the server
 * counts. */
static bool is_same_ca(const struct kube_record *record,
		       const struct kube_at *at)
{
	return !strcmp(record->ca, apiserver_identity(at->api)->ca);
}

/* Whether the cluster may be the same: with another way to it (a tunnel, a
 * proxy) or a changed authority the uid decides. */
static bool may_be_same(const struct kube_record *record,
			const struct kube_at *at)
{
	return is_same_server(record, at) ||
	       (*record->ca && is_same_ca(record, at));
}

bool whereabouts_differ(const struct kube_record *record,
			const struct kube_at *at)
{
	return *record->server &&
	       (!is_same_server(record, at) || !is_same_ca(record, at) ||
		strcmp(record->name_space, at->name_space) != 0);
}

/* Looks for the cluster by the name of its context; returns 1 if that leads
 * elsewhere. */
static int find_by_context(struct kube *kube, const struct kube_record *record,
			   struct kube_at *out)
{
	struct arena *mem = arena_new();
	struct error ignored;
	const char *place =
		kube_place_in_context(record->place, record->context, mem);
	int ret = kube_find(kube, place, out, &ignored);

	arena_free(mem);
	return ret == 0 && may_be_same(record, out) ? 0 : 1;
}

int whereabouts_find(struct kube *kube, const struct kube_record *record,
		     struct kube_at *out, bool *sure, struct error *err)
{
	int ret = kube_find(kube, record->place, out, err);

	if (sure)
		*sure = true;
	/* Older versions recorded only the place. */
	if (!*record->server)
		return ret;
	if ((ret < 0 || !may_be_same(record, out)) &&
	    find_by_context(kube, record, out) != 0)
		return error_set(err, ERROR_INVALID,
				 "it is in %s, and the kubeconfig leads to "
				 "another cluster, or to none",
				 record->where);
	snprintf(out->name_space, sizeof(out->name_space), "%s",
		 record->name_space);
	if (sure)
		*sure = is_same_server(record, out) &&
			is_same_ca(record, out) &&
			!strcmp(record->user,
				apiserver_identity(out->api)->user);
	return 0;
}
