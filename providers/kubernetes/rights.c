/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/kubernetes/rights.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/json.h"

#define ACCESS_ROOT "/apis/authorization.k8s.io/v1"
#define IDENTITY_ROOT "/apis/authentication.k8s.io/v1"

struct kube_rights {
	const struct apiserver *api;
	char name_space[KUBE_NAMESPACE_MAX];
	json_t *rules; /* of a SelfSubjectRulesReview; NULL: none */
	json_t *known; /* {"get secrets": true}, asked one by one */
	struct kube_rights *next;
};

struct right {
	unsigned needs; /* 0: every job needs it */
	const struct kube_type *type;
	const char *part;         /* "log", or NULL */
	const char *const *verbs; /* ends with NULL */
	/* What goes on without this right; NULL: nothing does. */
	const char *without;
};

static const char *const verbs_run[] = { "get", "create", "patch", "delete",
					 NULL };
static const char *const verbs_get[] = { "get", NULL };
static const char *const verbs_list[] = { "list", NULL };
static const char *const verbs_watch[] = { "watch", NULL };
static const char *const verbs_kill[] = { "deletecollection", NULL };

static const struct right rights[] = {
	{ NEED_JOBSET, &type_jobset, NULL, verbs_run, NULL },
	{ NEED_JOB, &type_job, NULL, verbs_run, NULL },
	{ 0, &type_pod, NULL, verbs_list, NULL },
	{ NEED_SECRET, &type_secret, NULL, verbs_run, NULL },
	{ NEED_SOURCE, &type_config_map, NULL, verbs_run, NULL },
	{ NEED_SERVICE, &type_service, NULL, verbs_run, NULL },
	{ 0, &type_pod, "log", verbs_get, "there are no logs" },
	{ NEED_JOBSET, &type_jobset, NULL, verbs_watch,
	  "it is looked at every 2 seconds" },
	{ NEED_JOB, &type_job, NULL, verbs_watch,
	  "it is looked at every 2 seconds" },
	{ NEED_JOBSET, &type_jobset, NULL, verbs_list,
	  "gc, prune and other machines do not find it" },
	{ NEED_JOB, &type_job, NULL, verbs_list,
	  "gc, prune and other machines do not find it" },
	{ NEED_SOURCE, &type_config_map, NULL, verbs_list,
	  "gc does not find what a lost run has left" },
	{ NEED_SERVICE, &type_service, NULL, verbs_list,
	  "gc does not find what a lost run has left" },
	{ NEED_QUEUE, &type_local_queue, KUEUE_PENDING, verbs_get,
	  "status can't say at what place of its queue it waits" },
	{ 0, &type_event, NULL, verbs_list, "status can't say why it waits" },
	{ NEED_QUEUE, &type_workload, NULL, verbs_list,
	  "status can't say what it waits for in its queue" },
	{ NEED_LABELS, &type_namespace, NULL, verbs_get,
	  "pods may lack what its PodSecurity asks of them" },
	{ NEED_TTL, &type_config_map, NULL, verbs_run,
	  "other machines run it again when its ttl has passed" },
	{ 0, &type_pod, NULL, verbs_kill,
	  "'cancel --now' waits for the grace" },
};

static bool is_queued(const struct kube_job *made)
{
	return *object_label(made->jobset ? made->jobset : made->indexed,
			     KUEUE_LABEL);
}

unsigned rights_need(const struct kube_job *made, const struct kube_type *type)
{
	return (type == &type_job ? NEED_JOB : NEED_JOBSET) |
	       (made->secret ? NEED_SECRET : 0) |
	       (made->config_map ? NEED_SOURCE : 0) |
	       (made->service && type == &type_job ? NEED_SERVICE : 0) |
	       (is_queued(made) ? NEED_QUEUE : 0) |
	       (made->asks_namespace ? NEED_LABELS : 0) |
	       (made->has_ttl ? NEED_TTL : 0);
}

/* ---- asking ------------------------------------------------------------ */

/* Returns the API group, "batch" of "/apis/batch/v1", "" of "/api/v1"; in
 * `mem`. */
static const char *group_of(const struct kube_type *type, struct arena *mem)
{
	static const char apis[] = "/apis/";
	const char *from = type->root + sizeof(apis) - 1;

	if (strncmp(type->root, apis, sizeof(apis) - 1) != 0)
		return "";
	return arena_strndup(mem, from, strcspn(from, "/"));
}

static const struct kube_type rules_review = { "SelfSubjectRulesReview",
					       ACCESS_ROOT,
					       "selfsubjectrulesreviews" };
static const struct kube_type access_review = { "SelfSubjectAccessReview",
						ACCESS_ROOT,
						"selfsubjectaccessreviews" };
static const struct kube_type identity_review = { "SelfSubjectReview",
						  IDENTITY_ROOT,
						  "selfsubjectreviews" };

/* Returns the status of a review as a new value, or NULL.  Takes `spec`. */
static json_t *review(struct apiserver *api, const struct kube_type *type,
		      json_t *spec)
{
	char *path = mem_printf("%s/%s", type->root, type->plural);
	json_t *body = json_object(), *out = NULL;
	struct apiserver_request request = {
		.method = "POST", .path = path, .body = body, .repeatable = true
	};
	struct apiserver_answer answer = { 0 };
	struct error ignored;

	json_put_text(body, "apiVersion", type->root + strlen("/apis/"));
	json_put_text(body, "kind", type->kind);
	if (spec)
		json_put(body, "spec", spec);
	if (apiserver_call(api, &request, &answer, &ignored) == 0)
		out = json_incref(json_object_get(answer.body, "status"));
	apiserver_answer_done(&answer);
	json_decref(body);
	free(path);
	return out;
}

/* Finds or adds the rights in a namespace; the lock is held. */
static struct kube_rights *find(struct kube *kube, const struct kube_at *at)
{
	struct kube_rights *one;
	json_t *status;

	for (one = kube->rights; one; one = one->next)
		if (one->api == at->api &&
		    !strcmp(one->name_space, at->name_space))
			return one;
	one = mem_alloc(sizeof(*one));
	one->api = at->api;
	memcpy(one->name_space, at->name_space, sizeof(one->name_space));
	one->known = json_object();
	status = review(at->api, &rules_review,
			json_pack("{s:s}", "namespace", at->name_space));
	one->rules = json_incref(json_object_get(status, "resourceRules"));
	json_decref(status);
	one->next = kube->rights;
	kube->rights = one;
	return one;
}

void rights_free_all(struct kube_rights *all)
{
	struct kube_rights *next;

	for (; all; all = next) {
		next = all->next;
		json_decref(all->rules);
		json_decref(all->known);
		free(all);
	}
}

static bool list_has(const json_t *list, const char *text)
{
	const json_t *one;
	size_t i;

	json_array_foreach(list, i, one)
	{
		const char *value = json_string_value(one);

		if (value && (!strcmp(value, "*") || !strcmp(value, text)))
			return true;
	}
	return false;
}

/* Whether a rule grants the verb.  Rules for particular names do not count. */
static bool rules_grant(const json_t *rules, const char *verb,
			const char *group, const char *resource)
{
	const json_t *one;
	size_t i;

	json_array_foreach(rules, i, one)
	{
		if (list_has(json_object_get(one, "verbs"), verb) &&
		    list_has(json_object_get(one, "apiGroups"), group) &&
		    list_has(json_object_get(one, "resources"), resource) &&
		    !json_array_size(json_object_get(one, "resourceNames")))
			return true;
	}
	return false;
}

/* Whether the user may do something; the lock is held.  The rules may be
 * incomplete, so a SelfSubjectAccessReview decides what they do not grant. */
static bool may(struct kube *kube, const struct kube_at *at, const char *verb,
		const struct kube_type *type, const char *part)
{
	struct kube_rights *all = find(kube, at);
	struct arena *mem = arena_new();
	const char *group = group_of(type, mem);
	const char *resource = arena_printf(mem, "%s%s%s", type->plural,
					    part ? "/" : "", part ? part : "");
	const char *key = arena_printf(mem, "%s %s", verb, resource);
	json_t *known = json_object_get(all->known, key), *status, *ask;
	bool granted = known ? json_is_true(known)
			     : rules_grant(all->rules, verb, group, resource);

	if (!known && !granted) {
		ask = json_pack("{s:{s:s, s:s, s:s, s:s}}",
				"resourceAttributes", "namespace",
				at->name_space, "verb", verb, "group", group,
				"resource", type->plural);
		if (part)
			json_put_text(
				json_object_get(ask, "resourceAttributes"),
				"subresource", part);
		status = review(at->api, &access_review, ask);
		granted = !status ||
			  json_is_true(json_object_get(status, "allowed"));
		json_decref(status);
	}
	json_object_set_new(all->known, key, json_boolean(granted));
	arena_free(mem);
	return granted;
}

bool rights_may(struct kube *kube, const struct kube_at *at, const char *verb,
		const struct kube_type *type)
{
	bool granted;

	pthread_mutex_lock(&kube->lock);
	granted = may(kube, at, verb, type, NULL);
	pthread_mutex_unlock(&kube->lock);
	return granted;
}

const char *rights_who(const struct kube_at *at, struct arena *mem)
{
	json_t *status = review(at->api, &identity_review, NULL);
	const char *name = json_get_text(json_object_get(status, "userInfo"),
					 "username", "");
	const char *out = *name ? arena_strdup(mem, name) : NULL;

	json_decref(status);
	return out;
}

bool rights_remember(struct kube *kube, const struct kube_at *at,
		     const char *key, bool (*ask)(const struct kube_at *at))
{
	const json_t *known;
	json_t *all;
	bool is;

	pthread_mutex_lock(&kube->lock);
	all = find(kube, at)->known;
	known = json_object_get(all, key);
	is = known ? json_is_true(known) : ask(at);
	json_object_set_new(all, key, json_boolean(is));
	pthread_mutex_unlock(&kube->lock);
	return is;
}

/* ---- a job ------------------------------------------------------------- */

/* Adds the verbs of a right that are not granted: "get, patch". */
static void add_lacking(struct kube *kube, const struct kube_at *at,
			const struct right *right, struct buf *out)
{
	const char *const *verb;

	for (verb = right->verbs; *verb; verb++)
		if (!may(kube, at, *verb, right->type, right->part))
			buf_printf(out, "%s%s", out->len ? ", " : "", *verb);
}

void rights_check(struct kube *kube, const struct kube_at *at, unsigned needs,
		  json_t *missing, json_t *notes)
{
	size_t i;

	pthread_mutex_lock(&kube->lock);
	for (i = 0; i < COUNT(rights); i++) {
		const struct right *right = &rights[i];
		struct buf verbs = { 0 };
		json_t *text;

		if (right->needs && !(right->needs & needs))
			continue;
		add_lacking(kube, at, right, &verbs);
		if (!verbs.len)
			continue;
		text = json_sprintf(
			"the right to %s %s%s%s in namespace '%s'%s%s",
			verbs.data, right->type->plural, right->part ? "/" : "",
			right->part ? right->part : "", at->name_space,
			right->without ? ": without it " : "",
			right->without ? right->without : "");
		json_array_append_new(right->without ? notes : missing, text);
		buf_done(&verbs);
	}
	pthread_mutex_unlock(&kube->lock);
}
