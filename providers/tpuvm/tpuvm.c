/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/tpuvm/tpuvm.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/listing.h"
#include "core/placeholder.h"
#include "core/run/allocation.h"
#include "providers/tpuvm/making.h"
#include "providers/tpuvm/node.h"

/* ---- the run ------------------------------------------------------------ */

static struct strings read_hosts(const json_t *properties, struct arena *mem)
{
	const json_t *list = json_object_get(properties, "hosts"), *item;
	struct strings out = { 0 };
	size_t i;

	out.items = arena_alloc(mem, (json_array_size(list) + 1) *
					     sizeof(*out.items));
	json_array_foreach(list, i, item) if (json_is_string(item))
		out.items[out.count++] =
		arena_strdup(mem, json_string_value(item));
	return out;
}

/* What every way to say it has in common; nobody knows the hosts yet. */
static int specify_tasks(const struct job *job,
			 const struct catalogue *catalogue, struct arena *mem,
			 struct run_spec *out, const char **missing,
			 struct error *err)
{
	char name[TPU_NAME_MAX];

	if (spec_from_job(job, catalogue, mem, out, missing, err) < 0)
		return -1;
	tpu_name(job->job_id, name);
	out->topology.tpu_kind = TPU_VM;
	out->topology.tpu_name = arena_strdup(mem, name);
	return 0;
}

/* The VMs as they may be called before they are there. */
static struct strings foresee(const struct topology *all, struct arena *mem)
{
	struct strings out = { .count = all->count };
	size_t i;

	out.items = arena_alloc(mem, (out.count + 1) * sizeof(*out.items));
	for (i = 0; i < out.count; i++)
		out.items[i] = arena_printf(mem, "%s-w-%zu", all->tpu_name, i);
	return out;
}

static int specify(const struct supervised *as, const struct job *job,
		   const struct resource *want, struct arena *mem,
		   struct run_spec *out, const char **missing,
		   struct error *err)
{
	const struct tpu_vm_block *block = job_block(job, as->provider);
	struct strings hosts;
	json_t *kept;
	char *text;

	if (specify_tasks(job, as->env.catalogue, mem, out, missing, err) < 0)
		return -1;
	if (!want) {
		hosts = foresee(&out->topology, mem);
		return spec_set_hosts(out, job, &hosts, mem, err);
	}
	hosts = read_hosts(want->properties, mem);
	if (!hosts.count)
		return error_set(err, ERROR_TRY_AGAIN,
				 "the TPU has no VMs that could be reached");
	kept = allocation_json(want, as->provider, block->look_every_s);
	text = json_canonical(kept);
	out->allocation = arena_strdup(mem, text);
	free(text);
	json_decref(kept);
	return spec_set_hosts(out, job, &hosts, mem, err);
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

static void check_run(const struct job *job, const struct run_spec *spec,
		      struct resources *out)
{
	if (job->training_input.hyperparameters.params.count)
		resources_miss(out, "trials of hyperparameters do not run on "
				    "TPU VMs: remove "
				    "trainingInput.hyperparameters, or set "
				    "jobrun.provider to vertex-ai");
	if (job->jobrun.hosts.count)
		resources_miss(out, "the hosts are those of the TPU: remove "
				    "jobrun.hosts");
	if (!job->jobrun.source && !spec->packages.count)
		resources_note(out, "jobrun.source is not set: nothing is "
				    "copied to the VMs, and the program "
				    "starts in the home directory there");
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
	struct resource *node, *run;
	const struct slice *slice = NULL;
	const struct tpu *tpu = NULL;
	struct run_spec spec;
	const char *missing;

	if (specify_tasks(job, env->catalogue, out->mem, &spec, &missing, err) <
	    0)
		return -1;
	if (spec.topology.tpu_slice)
		slice = catalogue_slice(env->catalogue, spec.topology.tpu_slice,
					&tpu);
	run = resources_add(out, &kind_supervised_run, job->job_id, job);
	run->properties = supervised_describe(job, &spec);
	if (missing)
		resources_miss(out, "%s", missing);
	if (!slice) {
		resources_miss(out, "which TPU: set trainingInput.workerConfig."
				    "acceleratorConfig to its type and count");
		return 0;
	}
	node = add_node(job, block, tpu, slice, out);
	resource_needs(out, run, node);
	json_put(run->properties, "hosts", placeholder_output(node, "hosts"));
	note_cost(job, block, node->name, out);
	check_run(job, &spec, out);
	resources_note_unused(out, job, provider_tpu_vm.name);
	return 0;
}

static const char *place_of(const struct job *job, struct arena *mem)
{
	return job->jobrun.project
		       ? arena_printf(mem, "projects/%s", job->jobrun.project)
		       : NULL;
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
	.place = place_of,
	.environment = supervised_environment,
	.open = tpu_vm_open,
	.close = tpu_vm_close,
};
