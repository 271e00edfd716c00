/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/kubernetes/namespace.h"

#include <string.h>

#include "core/base/alloc.h"
#include "providers/kubernetes/api/apiserver.h"
#include "providers/kubernetes/rights.h"

#define RESTRICTED "restricted"

static bool read_labels(const struct kube_at *at)
{
	static const char *const modes[] = {
		"pod-security.kubernetes.io/enforce",
		"pod-security.kubernetes.io/warn",
	};
	struct arena *mem = arena_new();
	struct apiserver_request request = {
		.method = "GET",
		.path = arena_printf(mem, "%s/%s/%s", type_namespace.root,
				     type_namespace.plural, at->name_space),
	};
	struct apiserver_answer answer = { 0 };
	struct error ignored;
	bool restricted = false;
	size_t i;

	if (apiserver_call(at->api, &request, &answer, &ignored) == 0)
		for (i = 0; i < COUNT(modes); i++)
			restricted |=
				!strcmp(object_label(answer.body, modes[i]),
					RESTRICTED);
	apiserver_answer_done(&answer);
	arena_free(mem);
	return restricted;
}

bool namespace_is_restricted(struct kube *kube, const struct kube_at *at)
{
	return rights_may(kube, at, "get", &type_namespace) &&
	       rights_remember(kube, at, RESTRICTED, read_labels);
}
