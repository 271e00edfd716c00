/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/kubernetes/doctor_kubernetes.h"

#include <string.h>

#include "core/base/json.h"
#include "core/provider/checks.h"
#include "providers/kubernetes/kube_internal.h"
#include "providers/kubernetes/manifest/kube_block.h"
#include "providers/kubernetes/rights.h"
#include "providers/kubernetes/run.h"
#include "providers/kubernetes/whereabouts.h"

#define GROUP "kubernetes"

static void add(struct checks *all, const char *name, const char *value,
		const char *advice)
{
	struct doctor_check *check = checks_add(
		all, GROUP, name, value ? CHECK_OK : CHECK_MISSING, value);

	if (!value)
		check->advice = advice;
}

#define NO_KUBECONFIG "set KUBECONFIG or write ~/.kube/config"

void doctor_missing(struct checks *all)
{
	add(all, "kubeconfig", NULL,
	    "needed for the provider kubernetes: " NO_KUBECONFIG);
}

/* Returns the version, in the arena of the list, or NULL with `err` set if the
 * cluster does not answer. */
static const char *ask_version(const struct kube_at *at, struct checks *all,
			       struct error *err)
{
	struct apiserver_request request = { .method = "GET",
					     .path = "/version",
					     .once = true };
	struct apiserver_answer answer = { 0 };
	const char *version = NULL;

	if (apiserver_call(at->api, &request, &answer, err) == 0)
		version = arena_strdup(all->mem,
				       json_get_text(answer.body, "gitVersion",
						     "it does not say which"));
	apiserver_answer_done(&answer);
	return version;
}

/* Finds the cluster of a place (NULL: the present context), and adds where that
 * is and its version.  False: it can't be used, which was added. */
static bool reach(struct kube *kube, const char *place, struct kube_at *at,
		  struct checks *all)
{
	const char *version;
	struct error err;

	if (kube_find(kube, place, at, &err) < 0) {
		checks_fail(all, GROUP, "kubeconfig", &err);
		return false;
	}
	add(all, "kubeconfig", whereabouts_words(at, all->mem), NULL);
	version = ask_version(at, all, &err);
	if (!version) {
		checks_fail(all, GROUP, "version", &err);
		return false;
	}
	add(all, "version", version, NULL);
	return true;
}

/* Returns "jobset.x-k8s.io/v1alpha2" of the root of such objects. */
static const char *group_of(const struct kube_type *type)
{
	return type->root + strlen("/apis/");
}

/* Adds the rights that are missing, or that none is. */
static void look_for_rights(struct kube *kube, const struct kube_at *at,
			    bool has_jobset, bool has_kueue, struct checks *all)
{
	unsigned needs = NEED_ALL & ~((has_jobset ? 0u : NEED_JOBSET) |
				      (has_kueue ? 0u : NEED_QUEUE));
	json_t *missing = json_array(), *one;
	size_t i;

	rights_check(kube, at, needs, missing, missing);
	json_array_foreach(missing, i, one)
		add(all, "right", NULL,
		    arena_strdup(all->mem, json_string_value(one)));
	if (!i)
		add(all, "rights",
		    "all that examples/kubernetes/role.yaml grants", NULL);
	json_decref(missing);
}

void doctor_cluster(struct kube *kube, struct checks *all)
{
	const struct kube_type *kueue;
	struct kube_at at;
	struct error err;
	int jobset, queues;

	if (!reach(kube, NULL, &at, all))
		return;
	add(all, "identity", rights_who(&at, all->mem),
	    "the cluster does not say: it is older than 1.28");
	jobset = apiserver_has(at.api, JOBSET_GROUP, &err);
	add(all, "JobSet", jobset > 0 ? JOBSET_GROUP : NULL,
	    "needed for jobs whose pods are not all alike: install JobSet");
	queues = kueue_type(&at, KUEUE_GROUP, &kueue);
	add(all, "Kueue", queues > 0 ? group_of(kueue) : NULL,
	    "needed for jobrun.kubernetes.queue: install Kueue");
	look_for_rights(kube, &at, jobset > 0, queues > 0, all);
}

/* ---- a job ---- */

static void check_queue(const struct kube_at *at, const char *queue,
			struct checks *all)
{
	const struct kube_type *kueue;

	if (kueue_type(at, KUEUE_GROUP, &kueue) == 0)
		checks_bad(all, GROUP, "queue", ERROR_FAILED,
			   arena_printf(all->mem,
					"the cluster has no Kueue: nothing "
					"waits in queue '%s'",
					queue));
	else
		add(all, "queue", queue, NULL);
}

/* Adds the rights that the job lacks, and those that it can do without. */
static void check_rights(struct kube *kube, const struct kube_at *at,
			 const struct kube_type *type, const struct job *job,
			 struct checks *all)
{
	json_t *missing = json_array(), *notes = json_array(), *one;
	struct kube_job made;
	struct error err;
	size_t i;

	if (kube_translate(job, kube->env.catalogue, all->mem, &made, &err) <
	    0) {
		checks_fail(all, GROUP, "settings", &err);
		goto out;
	}
	rights_check(kube, at, rights_need(&made, type), missing, notes);
	kube_job_done(&made);
	json_array_foreach(missing, i, one)
		checks_bad(all, GROUP, "right", ERROR_DENIED,
			   arena_strdup(all->mem, json_string_value(one)));
	json_array_foreach(notes, i, one)
		add(all, "right", NULL,
		    arena_strdup(all->mem, json_string_value(one)));
out:
	json_decref(missing);
	json_decref(notes);
}

void doctor_cluster_job(struct kube *kube, const char *place,
			const struct job *job, struct checks *all)
{
	const struct kubernetes_block *block = job_block(job, "kubernetes");
	const struct kube_type *type;
	const char *who;
	struct kube_at at;
	struct error err;

	if (!kube_is_known(place)) {
		checks_bad(all, GROUP, "kubeconfig", ERROR_UNREACHABLE,
			   NO_KUBECONFIG);
		return;
	}
	if (!reach(kube, place, &at, all))
		return;
	who = rights_who(&at, all->mem);
	if (who)
		add(all, "identity", who, NULL);
	if (run_choose_type(&at, job, &type, &err) < 0) {
		checks_fail(all, GROUP, "runs as", &err);
		return;
	}
	if (type == &type_jobset &&
	    apiserver_has(at.api, JOBSET_GROUP, &err) <= 0)
		checks_bad(all, GROUP, "JobSet", ERROR_FAILED,
			   "this job needs it: install JobSet, or set "
			   "jobrun.kubernetes.controller: job");
	else
		add(all, "runs as",
		    arena_printf(all->mem, "a %s in namespace '%s'", type->kind,
				 at.name_space),
		    NULL);
	if (block && block->queue)
		check_queue(&at, block->queue, all);
	check_rights(kube, &at, type, job, all);
}
