/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/tpuvm/tpuvm.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/listing.h"
#include "core/placeholder.h"
#include "providers/google/tpu_run.h"
#include "providers/tpuvm/making.h"
#include "providers/tpuvm/node.h"

/* ---- the run ------------------------------------------------------------ */

/* The VMs as they may be called before they are there. */
static int foresee(struct run_spec *spec, const struct job *job,
		   struct arena *mem, struct error *err)
{
	const struct topology *all = &spec->topology;
	json_t *outputs = json_object(), *hosts = json_array();
	size_t i;
	int ret;

	for (i = 0; i < all->count; i++)
		json_array_append_new(
			hosts, json_text(arena_printf(mem, "%s-w-%zu",
						      all->tpu_name, i)));
	json_put(outputs, "hosts", hosts);
	ret = tpu_run_foresee(spec, job, outputs, mem, err);
	json_decref(outputs);
	return ret;
}

static int specify(const struct supervised *as, const struct job *job,
		   const struct resource *want, struct arena *mem,
		   struct run_spec *out, const char **missing,
		   struct error *err)
{
	const struct tpu_vm_block *block = job_block(job, as->provider);

	if (tpu_run_tasks(job, as->env.catalogue, TPU_VM, mem, out, missing,
			  err) < 0)
		return -1;
	if (!want)
		return foresee(out, job, mem, err);
	out->hosts.reach_s = block->ssh_timeout_s;
	return tpu_run_place(out, want, as->provider, block->look_every_s, mem,
			     err);
}

static const struct kind *const kinds[] = { &kind_tpu_vm, &kind_supervised_run,
					    NULL };

/* ---- what a job wants --------------------------------------------------- */

static void note_cost(const struct job *job, const struct tpu_vm_block *block,
		      const char *name, struct resources *out)
{
	char lease[32];

	duration_format(block->lease_s, lease, sizeof(lease));
	if (job->jobrun.cleanup == CLEANUP_ALWAYS)
		resources_note(out,
			       "tpu-vm '%s' is deleted when the run ends, "
			       "whatever way; nothing stays",
			       name);
	else if (job->jobrun.cleanup == CLEANUP_ON_SUCCESS)
		resources_note(out,
			       "tpu-vm '%s' is deleted when the run succeeds; "
			       "else it stays, and costs",
			       name);
	else
		resources_note(out,
			       "tpu-vm '%s' stays when the run has ended, and "
			       "costs, until 'jobrun delete %s'",
			       name, job->job_id);
	resources_note(out,
		       "tpu-vm '%s' deletes itself when it has heard nothing "
		       "of jobrun for %s",
		       name, lease);
}

static struct resource *add_node(const struct job *job,
				 const struct tpu_vm_block *block,
				 const struct tpu *tpu,
				 const struct slice *slice,
				 struct resources *out)
{
	bool queued = tpu_vm_is_queued(block);
	char name[TPU_NAME_MAX];
	struct resource *node;
	json_t *body;
	char *url;

	tpu_name(job->job_id, name);
	node = resources_add(out, &kind_tpu_vm, arena_strdup(out->mem, name),
			     job);
	body = tpu_vm_body(job, block, tpu, slice);
	if (queued)
		body = tpu_vm_queue_body(name, block, body);
	url = mem_printf("/%s?%s=%s", queued ? "queuedResources" : "nodes",
			 queued ? "queuedResourceId" : "nodeId", name);
	node->request = json_object();
	json_put_text(node->request, "method", "POST");
	json_put_text(node->request, "url", url);
	json_put(node->request, "body", body);
	node->properties = tpu_vm_wanted(job, block, body);
	free(url);
	return node;
}

static int desire(const struct job *job, const struct provider_env *env,
		  struct resources *out, struct error *err)
{
	const struct tpu_vm_block *block = job_block(job, provider_tpu_vm.name);
	struct resource *node;
	struct run_spec spec;
	struct tpu_run run;
	const char *missing;

	if (tpu_run_tasks(job, env->catalogue, TPU_VM, out->mem, &spec,
			  &missing, err) < 0)
		return -1;
	run = tpu_run_add(job, env, &spec, missing, out);
	if (!run.slice)
		return 0;
	node = add_node(job, block, run.tpu, run.slice, out);
	resource_needs(out, run.resource, node);
	json_put(run.resource->properties, "hosts",
		 placeholder_output(node, "hosts"));
	note_cost(job, block, node->name, out);
	tpu_run_check(job, &spec, out);
	resources_note_unused(out, job, provider_tpu_vm.name);
	return 0;
}

/* ---- its life ----------------------------------------------------------- */

void *tpu_vm_open(const struct provider_env *env, struct error *err)
{
	const struct http_options options = { .trace = env->trace_http };
	struct tpu_vm *ctx = mem_alloc(sizeof(*ctx));

	pthread_mutex_init(&ctx->lock, NULL);
	if (supervised_init(&ctx->supervised, env, provider_tpu_vm.name, err) ==
	    0)
		ctx->http = http_new(&options, err);
	if (!ctx->http) {
		tpu_vm_close(ctx);
		return NULL;
	}
	ctx->supervised.specify = specify;
	ctx->google = google_open(ctx->http);
	return ctx;
}

void tpu_vm_close(void *arg)
{
	struct tpu_vm *ctx = arg;

	if (!ctx)
		return;
	makings_free(ctx->makings);
	google_close(ctx->google);
	http_free(ctx->http);
	pthread_mutex_destroy(&ctx->lock);
	free(ctx);
}

const struct provider provider_tpu_vm = {
	.name = "tpu-vm",
	.summary = "Cloud TPU VMs and pod slices, over ssh",
	.kinds = kinds,
	.block = &tpu_vm_message,
	.uses = tpu_vm_uses,
	.asks = true,
	.desire = desire,
	.place = tpu_run_where,
	.environment = supervised_environment,
	.open = tpu_vm_open,
	.close = tpu_vm_close,
};
