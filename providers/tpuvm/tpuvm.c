/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/tpuvm/tpuvm.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/base/units.h"
#include "core/job/misfit.h"
#include "core/job/traits.h"
#include "core/provider/listing.h"
#include "core/provider/placeholder.h"
#include "core/topology/contract.h"
#include "providers/google/tpu/gce.h"
#include "providers/google/iap_command.h"
#include "providers/google/doctor_google.h"
#include "providers/google/iap.h"
#include "providers/google/tpu/tpu_run.h"
#include "providers/tpuvm/tpuvm_fit.h"
#include "providers/tpuvm/tpuvm_node.h"
#include "providers/tpuvm/service.h"

/* ---- the run ------------------------------------------------------------ */

static long slices(const struct job *job)
{
	const struct tpu_vm_block *block = job_block(job, provider_tpu_vm.name);

	return block->slices > 1 && block->slices <= TPU_VM_SLICES_MAX
		       ? block->slices
		       : 1;
}

/* Sets the command that starts a server on each VM, as xla_dist did
 * (pytorch/xla r1.13, torch_xla/distributed/xla_dist.py and
 * core/xrt_run_server.py). */
static void put_server(enum xrt_server how, struct arena *mem,
		       struct run_spec *out)
{
	struct strings *command = &out->before.command;

	if (how == XRT_SERVER_NONE)
		return;
	out->topology.tpu_xrt = true;
	out->before.what = "the XRT server";
	command->items = arena_alloc(mem, 6 * sizeof(char *));
	command->items[command->count++] = "python3";
	command->items[command->count++] = "-m";
	command->items[command->count++] = "torch_xla.core.xrt_run_server";
	command->items[command->count++] = "--port";
	command->items[command->count++] =
		arena_printf(mem, "%d", CONTRACT_XRT_PORT);
	if (how == XRT_SERVER_RESTART)
		command->items[command->count++] = "--restart";
}

static int specify_tasks(const struct job *job,
			 const struct catalogue *catalogue, struct arena *mem,
			 struct run_spec *out, const char **missing,
			 struct error *err)
{
	const struct tpu_vm_block *block = job_block(job, provider_tpu_vm.name);

	if (tpu_run_tasks(job, catalogue, TPU_VM, mem, out, missing, err) < 0)
		return -1;
	put_server((enum xrt_server)block->xrt_server, mem, out);
	if (slices(job) > 1)
		topology_repeat(&out->topology, (unsigned)slices(job), mem);
	return 0;
}

/* Names the VMs as they may be called once they exist. */
static int foresee(struct run_spec *spec, const struct job *job,
		   struct arena *mem, struct error *err)
{
	const struct topology *all = &spec->topology;
	json_t *outputs = json_object(), *hosts = json_array();
	size_t count = topology_machines(all);
	size_t each = count / (size_t)slices(job);
	size_t i;
	int ret;

	for (i = 0; i < count; i++)
		json_array_append_new(
			hosts,
			json_text(all->tpu_slices > 1
					  ? arena_printf(mem, "%s-%zu-w-%zu",
							 all->tpu_name,
							 i / each, i % each)
					  : arena_printf(mem, "%s-w-%zu",
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

	if (specify_tasks(job, as->env.catalogue, mem, out, missing, err) < 0)
		return -1;
	if (!want)
		return foresee(out, job, mem, err);
	out->hosts.reach_s = block->ssh_timeout_s;
	out->hosts.proxy = block->iap ? IAP_COMMAND : NULL;
	return tpu_run_place(out, want, as->provider, block->look_every_s,
			     block->lease_s, mem, err);
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
			       "jobrun deletes tpu-vm '%s' when the run ends, "
			       "however it ends; nothing stays",
			       name);
	else if (job->jobrun.cleanup == CLEANUP_ON_SUCCESS)
		resources_note(out,
			       "jobrun deletes tpu-vm '%s' when the run "
			       "succeeds; otherwise it stays, and costs",
			       name);
	else
		resources_note(out,
			       "tpu-vm '%s' stays when the run has ended, and "
			       "costs, until 'jobrun delete %s'",
			       name, job->job_id);
	resources_note(out,
		       "tpu-vm '%s' deletes itself when it has not heard from "
		       "jobrun for %s",
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
		body = tpu_vm_queue_body(name, job, block, body);
	url = mem_printf("/%s?%s=%s", queued ? "queuedResources" : "nodes",
			 queued ? "queuedResourceId" : "nodeId", name);
	node->request = json_object();
	json_put_text(node->request, "method", "POST");
	json_put_text(node->request, "url", url);
	json_put(node->request, "body", body);
	node->properties = tpu_vm_wanted(job, block, slice, body);
	free(url);
	return node;
}

static void check_server(const struct tpu_vm_block *block,
			 const struct tpu *tpu, struct resources *out)
{
	static const char *const known[] = { "v2", "v3", "v4" };
	size_t i = 0;

	if (block->xrt_server == XRT_SERVER_NONE)
		return;
	while (i < COUNT(known) && strcmp(tpu->generation, known[i]) != 0)
		i++;
	if (i == COUNT(known))
		resources_miss(out,
			       "XRT knows v2, v3 and v4, and no %s: remove "
			       "jobrun.tpu-vm.xrtServer",
			       tpu->generation);
	if (block->slices > 1)
		resources_miss(out, "XRT knows one slice: remove "
				    "jobrun.tpu-vm.slices or xrtServer");
}

/* Checks how and when the TPU is to be had: some of it excludes the rest. */
static void check_queue(const struct job *job, const struct tpu_vm_block *block,
			struct resources *out)
{
	if (block->flex_start &&
	    (block->spot || block->preemptible || block->reservation))
		resources_miss(out, "a flex-start TPU is neither spot nor "
				    "reserved: remove jobrun.tpu-vm.flexStart, "
				    "or spot, preemptible and reservation");
	if (block->flex_start && tpu_vm_flex_start_s(job) > TPU_VM_FLEX_START_S)
		resources_miss(out,
			       "a flex-start TPU stays for a week at most: set "
			       "trainingInput.scheduling.maxRunningTime to "
			       "%ds or less",
			       TPU_VM_FLEX_START_S);
	if (block->valid_for_s && (block->valid_after || block->valid_until))
		resources_miss(out, "the queue takes jobrun.tpu-vm.validFor, "
				    "or validAfter and validUntil: remove one "
				    "of them");
	if (block->valid_after && block->valid_until &&
	    time_parse(block->valid_after) >= time_parse(block->valid_until))
		resources_miss(out, "jobrun.tpu-vm.validUntil must be later "
				    "than validAfter");
}

static void note_flex_start(const struct job *job, const char *name,
			    struct resources *out)
{
	char limit[32];

	duration_format(tpu_vm_flex_start_s(job), limit, sizeof(limit));
	resources_note(out,
		       "tpu-vm '%s' is a flex-start TPU, which takes "
		       "preemptible quota: the service deletes it after %s",
		       name, limit);
}

static int desire(const struct job *job, const struct provider_env *env,
		  struct resources *out, struct error *err)
{
	const struct tpu_vm_block *block = job_block(job, provider_tpu_vm.name);
	struct resource *node;
	struct run_spec spec;
	struct tpu_run run;
	struct misfits misfits = { .mem = out->mem };
	const char *missing;
	size_t i;

	if (specify_tasks(job, env->catalogue, out->mem, &spec, &missing, err) <
	    0)
		return -1;
	run = tpu_run_add(job, env, &spec, missing, out);
	if (!run.slice)
		return 0;
	if (block->slices != slices(job))
		resources_miss(out,
			       "jobrun.tpu-vm.slices is %ld: it must be "
			       "1 to %d",
			       block->slices, TPU_VM_SLICES_MAX);
	if (!run.tpu->vm_runtime && !block->runtime_version && run.tpu->origin)
		resources_miss(out,
			       "jobrun.tpu-vm.runtimeVersion: the row of %s in "
			       "catalogue %s has no vmRuntime",
			       run.tpu->type, run.tpu->origin);
	else if (!run.tpu->vm_runtime && !block->runtime_version)
		resources_miss(out, "the Cloud TPU API has no %s",
			       run.tpu->type);
	tpu_vm_fit(job, env->catalogue, &misfits);
	for (i = 0; i < misfits.count; i++)
		resources_miss(out, "%s", misfits.items[i].text);
	node = add_node(job, block, run.tpu, run.slice, out);
	/* The API allows 63 characters. */
	if (block->slices > 1 && strlen(node->name) > TPU_NAME_MAX - 5)
		resources_miss(out,
			       "the jobId is too long: its slices are "
			       "called '%s-0' and so on",
			       node->name);
	resource_needs(out, run.resource, node);
	json_put(run.resource->properties, "hosts",
		 placeholder_output(node, "hosts"));
	check_server(block, run.tpu, out);
	check_queue(job, block, out);
	note_cost(job, block, node->name, out);
	if (block->flex_start)
		note_flex_start(job, node->name, out);
	tpu_run_check(job, &spec, out);
	if (block->iap)
		tpu_run_note_iap(out);
	resources_note_unused(out, job, &provider_tpu_vm);
	return 0;
}

/* ---- its life ----------------------------------------------------------- */

static void *open_ctx(const struct provider_env *env, struct error *err)
{
	const struct tpu_maker maker = { .api = TPU_API_V2,
					 .request = tpu_vm_request };

	return tpu_ctx_open(env, provider_tpu_vm.name, &maker, specify, err);
}

static void doctor_job(const struct job *job, const struct provider_env *env,
		       struct checks *out)
{
	const struct google_need need = { .service = SERVICE_TPU,
					  .zone = true };

	doctor_google_job(job, env, &need, out);
}

const struct provider provider_tpu_vm = {
	.name = "tpu-vm",
	.summary = "Cloud TPU VMs and pod slices, over ssh",
	.traits = TRAIT_MAKES_MACHINES | TRAIT_GOOGLE_CLOUD | TRAIT_SUPERVISED |
		  TRAIT_STARTS_PROGRAM | TRAIT_BESIDE_TASKS | TRAIT_PROCESSES,
	.kinds = kinds,
	.block = &tpu_vm_message,
	.uses = tpu_vm_uses,
	.asks = true,
	.slices = slices,
	.desire = desire,
	.place = tpu_run_where,
	.environment = supervised_environment,
	.open = open_ctx,
	.close = tpu_ctx_close,
	.reader = &reader_tpu_vm,
	.platform = &platform_gce,
	.commands = iap_commands,
	.doctor = doctor_google,
	.doctor_job = doctor_job,
};
