/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/kubernetes/kubernetes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/job/boundary.h"
#include "core/job/traits.h"
#include "core/provider/checks.h"
#include "core/provider/placeholder.h"
#include "providers/kubernetes/manifest/launch_trial.h"
#include "providers/kubernetes/render.h"
#include "providers/kubernetes/manifest/kube_block.h"
#include "providers/kubernetes/companions.h"
#include "providers/kubernetes/doctor_kubernetes.h"
#include "providers/kubernetes/kube_enter.h"
#include "providers/kubernetes/kube_follow.h"
#include "providers/kubernetes/kube_internal.h"
#include "providers/kubernetes/overview.h"
#include "providers/kubernetes/rights.h"
#include "providers/kubernetes/run.h"
#include "providers/kubernetes/manifest/kube_trials.h"
#include "providers/kubernetes/watch.h"
#include "providers/kubernetes/manifest/kube_uses.h"

#define FILE_MARK " in "
/* The mark of a kubeconfig inside the job's root, which nobody has reviewed. */
#define OWN_FILE_MARK " within "

/* ---- where ------------------------------------------------------------- */

static const char *kube_place(const struct job *job, struct arena *mem)
{
	const struct kubernetes_block *block = job_block(job, "kubernetes");
	const char *name_space = block ? block->name_space : NULL;
	const char *context = block ? block->context : NULL;
	const char *file = block ? block->kubeconfig : NULL;
	static const struct boundary none = { 0 };
	const char *path = file ? job_path(job, file) : "", *mark = "";

	if (file)
		mark = boundary_side(&none, job->root, path) == BOUNDARY_WITHIN
			       ? OWN_FILE_MARK
			       : FILE_MARK;
	return arena_printf(mem, "%s@%s%s%s", name_space ? name_space : "",
			    context ? context : "", mark, path);
}

/* Returns the kubeconfig that the job's file chooses; NULL if it is the user's
 * own. */
static const char *contacts(const struct job *job,
			    const struct boundary *boundary, struct arena *mem)
{
	const struct kubernetes_block *block = job_block(job, "kubernetes");
	const char *file = block ? block->kubeconfig : NULL;
	const char *path = file ? job_path(job, file) : NULL;

	if (!file || kubeconfig_is_users(path))
		return NULL;
	if (boundary->connect &&
	    (boundary->apply ||
	     boundary_side(boundary, job->root, path) != BOUNDARY_OUTSIDE))
		return NULL;
	return arena_printf(mem, "the cluster of the kubeconfig '%s'", file);
}

/* The parts of a place, in `mem`; NULL for missing ones. */
struct place_parts {
	const char *name_space;
	struct kubeconfig_choice choice;
	const char *rest; /* the place without its namespace */
};

/* Returns the root that a file of a repository must not leave through a
 * link. */
static const char *root_of_file(const char *file, struct arena *mem)
{
	char *folder = path_folder(file), *root = boundary_root(folder);
	const char *out = root ? arena_strdup(mem, root) : NULL;

	free(root);
	free(folder);
	return out;
}

static void split_place(const char *place, struct arena *mem,
			struct place_parts *out)
{
	const char *text = place ? place : "@";
	const char *at = strchr(text, '@');
	const char *context = at ? at + 1 : text;
	const char *file = strstr(context, FILE_MARK);
	const char *own = strstr(context, OWN_FILE_MARK);
	const char *mark = FILE_MARK;

	*out = (struct place_parts){ .rest = context };
	if (own && (!file || own < file)) {
		out->choice.untrusted = true;
		file = own;
		mark = OWN_FILE_MARK;
	}
	if (at > text)
		out->name_space = arena_strndup(mem, text, (size_t)(at - text));
	if (file)
		out->choice.file = arena_strdup(mem, file + strlen(mark));
	if (*context && context != file)
		out->choice.context = arena_strndup(
			mem, context,
			file ? (size_t)(file - context) : strlen(context));
}

bool kube_is_known(const char *place)
{
	struct arena *mem = arena_new();
	struct place_parts parts;
	bool known;

	split_place(place, mem, &parts);
	known = kubeconfig_is_there(&parts.choice);
	arena_free(mem);
	return known;
}

const char *kube_place_in_context(const char *place, const char *context,
				  struct arena *mem)
{
	struct place_parts parts;
	const char *mark;

	split_place(place, mem, &parts);
	mark = parts.choice.untrusted ? OWN_FILE_MARK : FILE_MARK;
	return arena_printf(mem, "%s@%s%s%s",
			    parts.name_space ? parts.name_space : "", context,
			    parts.choice.file ? mark : "",
			    parts.choice.file ? parts.choice.file : "");
}

/* Connects to a cluster; the lock is held, so that a plugin runs only once. */
static struct apiserver *connect_to(struct kube *kube,
				    struct place_parts *parts,
				    struct arena *mem, struct error *err)
{
	struct kube_cluster *one;
	struct apiserver *api;

	for (one = kube->clusters; one; one = one->next)
		if (!strcmp(one->key, parts->rest))
			return one->api;
	if (parts->choice.untrusted)
		parts->choice.root = root_of_file(parts->choice.file, mem);
	api = apiserver_open(&parts->choice, kube->env.read_yaml,
			     kube->env.trace_http, err);
	if (!api)
		return NULL;
	one = mem_alloc(sizeof(*one));
	one->key = mem_strdup(parts->rest);
	one->api = api;
	one->next = kube->clusters;
	kube->clusters = one;
	return api;
}

int kube_find(struct kube *kube, const char *place, struct kube_at *out,
	      struct error *err)
{
	struct arena *mem = arena_new();
	struct place_parts parts;

	split_place(place, mem, &parts);
	pthread_mutex_lock(&kube->lock);
	out->api = connect_to(kube, &parts, mem, err);
	pthread_mutex_unlock(&kube->lock);
	if (out->api)
		snprintf(out->name_space, sizeof(out->name_space), "%s",
			 parts.name_space ? parts.name_space
					  : apiserver_name_space(out->api));
	arena_free(mem);
	return out->api ? 0 : -1;
}

static const char *place(const struct job *job, struct arena *mem)
{
	return kube_place(job, mem);
}

/* ---- what a job wants -------------------------------------------------- */

static struct resource *add(struct resources *out, const struct kind *kind,
			    const struct kube_type *type, const struct job *job,
			    const json_t *object)
{
	struct resource *one =
		resources_add(out, kind, object_meta(object, "name"), job);

	one->place = kube_place(job, out->mem);
	one->request = json_object();
	json_put_text(one->request, "method", "PATCH");
	json_put(one->request, "url",
		 json_sprintf("%s/namespaces/…/%s/%s", type->root, type->plural,
			      object_meta(object, "name")));
	json_put(one->request, "body", json_deep_copy(object));
	one->properties = json_object();
	return one;
}

static void add_secret(struct resources *out, const struct job *job,
		       const json_t *object)
{
	const struct secret *all = job->jobrun.secrets.items;
	struct resource *one =
		add(out, &kind_kube_secret, &type_secret, job, object);
	json_t *values = json_object();
	size_t i;

	for (i = 0; i < job->jobrun.secrets.count; i++)
		json_object_set_new(values, all[i].name,
				    placeholder_secret(all[i].name));
	json_put(one->properties, "values", values);
}

static void add_companions(struct resources *out, const struct job *job,
			   const struct kube_job *made)
{
	struct resource *one;

	if (made->secret)
		add_secret(out, job, made->secret);
	if (made->config_map) {
		one = add(out, &kind_kube_config_map, &type_config_map, job,
			  made->config_map);
		json_put(one->properties, "immutable", json_true());
	}
	/* For a JobSet the cluster creates the service.  If the file leaves
	 * open whether it is a Job or a JobSet, that is known when the run is
	 * created. */
	if (made->service && kube_wants_job(job)) {
		one = add(out, &kind_kube_service, &type_service, job,
			  made->service);
		json_put_text(one->properties, "clusterIP", "None");
	}
}

static void note_left_out(const struct kube_job *made, struct resources *out)
{
	size_t i;

	for (i = 0; i < made->left_count; i++) {
		const struct kube_left_out *left = &made->left[i];

		if (left->needed)
			resources_miss(out, "%s: %s", left->path, left->why);
		else
			resources_note(out, "%s is left out: %s", left->path,
				       left->why);
	}
}

/* Tells the reader of a plan where the job would run, without asking the
 * cluster.  A kubeconfig that the job's file chooses is not read for that, so
 * that the note does not depend on who reads the plan. */
static void note_where(const struct job *job, const struct provider_env *env,
		       const char *place, struct resources *out)
{
	static const struct boundary none = { 0 };
	struct place_parts parts;
	struct kubeconfig config = { 0 };
	struct error ignored;

	split_place(place, out->mem, &parts);
	if (contacts(job, &none, out->mem) ||
	    kubeconfig_read(&parts.choice, env->read_yaml, &config, &ignored) <
		    0)
		return;
	resources_note(out, "in cluster '%s' (context '%s'), namespace '%s'",
		       config.server, config.context,
		       parts.name_space ? parts.name_space : config.name_space);
	kubeconfig_done(&config);
}

static int desire(const struct job *job, const struct provider_env *env,
		  struct resources *out, struct error *err)
{
	bool plain = kube_wants_job(job);
	struct kube_job made;
	struct resource *run;
	size_t i;

	if (kube_translate(job, env->catalogue, out->mem, &made, err) < 0)
		return -1;
	add_companions(out, job, &made);
	run = add(out, &kind_kube_run, plain ? &type_job : &type_jobset, job,
		  plain && made.indexed ? made.indexed : made.jobset);
	/* Runs have the names of their jobs. */
	run->name = arena_strdup(out->mem, job->job_id);
	for (i = 0; i < run->index; i++)
		resource_needs(out, run, out->items[i]);
	json_decref(run->properties);
	run->properties = json_incref(made.properties);
	note_left_out(&made, out);
	if (plain && !made.indexed && !trials_are_wanted(job))
		resources_miss(out, "jobrun.kubernetes.controller: %s",
			       kube_why_no_jobset(&made));
	if (kube_is_known(run->place))
		note_where(job, env, run->place, out);
	kube_job_done(&made);
	resources_note_unused(out, job, &provider_kubernetes);
	return 0;
}

/* ---- life -------------------------------------------------------------- */

static void *kube_open(const struct provider_env *env, struct error *err)
{
	struct kube *kube = mem_alloc(sizeof(*kube));

	(void)err;
	kube->env = *env;
	pthread_mutex_init(&kube->lock, NULL);
	return kube;
}

static void kube_close(void *ctx)
{
	struct kube *kube = ctx;

	if (!kube)
		return;
	pod_log_end_all(kube);
	watch_end_all(kube);
	overview_free_all(kube->overviews);
	rights_free_all(kube->rights);
	while (kube->clusters) {
		struct kube_cluster *one = kube->clusters;

		kube->clusters = one->next;
		apiserver_close(one->api);
		free(one->key);
		free(one);
	}
	pthread_mutex_destroy(&kube->lock);
	free(kube);
}

static void doctor(const struct provider_env *env, struct checks *out)
{
	const struct kubeconfig_choice usual = { 0 };
	struct error ignored;
	struct kube *kube;

	if (!kubeconfig_is_there(&usual)) {
		doctor_missing(out);
		return;
	}
	kube = kube_open(env, &ignored);
	doctor_cluster(kube, out);
	kube_close(kube);
}

static void doctor_job(const struct job *job, const struct provider_env *env,
		       struct checks *out)
{
	struct error ignored;
	struct kube *kube = kube_open(env, &ignored);

	doctor_cluster_job(kube, kube_place(job, out->mem), job, out);
	kube_close(kube);
}

static const struct kind *const kinds[] = { &kind_kube_secret,
					    &kind_kube_config_map,
					    &kind_kube_service, &kind_kube_run,
					    NULL };

const struct provider provider_kubernetes = {
	.name = "kubernetes",
	.summary = "a Kubernetes cluster",
	.traits = TRAIT_BESIDE_TASKS | TRAIT_LAUNCHER | TRAIT_QUEUE |
		  TRAIT_PRIORITY | TRAIT_PROCESSES,
	.uses = kubernetes_uses,
	.kinds = kinds,
	.block = &kubernetes_message,
	.asks = true,
	.desire = desire,
	.place = place,
	.contacts = contacts,
	.open = kube_open,
	.close = kube_close,
	.reader = &reader_kubernetes,
	.commands = kubernetes_commands,
	.render = &kubernetes_render,
	.trials = &kubernetes_trials,
	.doctor = doctor,
	.doctor_job = doctor_job,
};
