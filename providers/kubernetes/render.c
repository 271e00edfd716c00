/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/kubernetes/render.h"

#include "core/base/buf.h"
#include "providers/kubernetes/manifest/kube_source.h"
#include "providers/kubernetes/manifest/kube_translate.h"
#include "providers/kubernetes/manifest/kube_trials.h"

/* Returns "TOKEN, KEY", the names that the Secret must have. */
static const char *secret_names(const struct job *job, const char *name,
				struct arena *mem)
{
	const struct secret *all = job->jobrun.secrets.items;
	struct buf text = { 0 };
	const char *out;
	size_t i;

	for (i = 0; i < job->jobrun.secrets.count; i++)
		buf_printf(&text, "%s%s", i ? ", " : "", all[i].name);
	out = arena_printf(mem,
			   "no manifest holds their values: 'kubectl create "
			   "secret generic %s' with %s",
			   name, buf_text(&text));
	buf_done(&text);
	return out;
}

static void add(json_t *all, json_t *one, const char *name_space)
{
	if (!one)
		return;
	if (name_space)
		json_object_set_new(json_object_get(one, "metadata"),
				    "namespace", json_string(name_space));
	json_array_append(all, one);
}

json_t *kube_render(const struct job *job, const struct catalogue *catalogue,
		    void (*tell)(void *arg, bool needed, const char *path,
				 const char *why),
		    void *arg, struct error *err)
{
	struct arena *mem = arena_new();
	struct kube_job made = { 0 };
	json_t *out = NULL;
	bool plain;
	size_t i;

	if (kube_translate(job, catalogue, mem, &made, err) < 0)
		goto out;
	plain = kube_wants_job(job) && made.indexed;
	if (made.config_map && source_fill(job, made.config_map, err) < 0)
		goto out;
	out = json_array();
	add(out, made.config_map, made.name_space);
	if (plain)
		add(out, made.service, made.name_space);
	add(out, plain ? made.indexed : made.jobset, made.name_space);
	if (kube_wants_job(job) && !plain && !trials_are_wanted(job))
		tell(arg, true, "jobrun.kubernetes.controller",
		     kube_why_no_jobset(&made));
	for (i = 0; i < made.left_count; i++)
		tell(arg, made.left[i].needed, made.left[i].path,
		     made.left[i].why);
	if (made.secret)
		tell(arg, true, "jobrun.secrets",
		     secret_names(job, made.name, mem));
	if (!made.has_image) {
		json_decref(out);
		out = NULL;
		error_set(err, ERROR_INVALID,
			  "job '%s': no manifest without an image: set "
			  "trainingInput.masterConfig.imageUri",
			  job->job_id);
	}
out:
	kube_job_done(&made);
	arena_free(mem);
	return out;
}

static int render(const struct job *job, const struct render_env *env,
		  struct buf *out, struct error *err)
{
	json_t *all, *one;
	size_t i;
	int ret = 0;

	all = kube_render(job, env->catalogue, env->tell, env->arg, err);
	if (!all)
		return -1;
	json_array_foreach(all, i, one)
	{
		if (out->len)
			buf_puts(out, "---\n");
		if (ret == 0)
			ret = env->write_yaml(one, out, err);
	}
	json_decref(all);
	return ret;
}

const struct provider_render kubernetes_render = {
	.many = true,
	.digest = true,
	.render = render,
};
