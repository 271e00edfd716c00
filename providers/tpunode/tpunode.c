/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/tpunode/tpunode.h"

#include <string.h>

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/base/units.h"
#include "core/job/traits.h"
#include "core/provider/placeholder.h"
#include "providers/google/tpu/gce.h"
#include "providers/google/iap_command.h"
#include "providers/google/doctor_google.h"
#include "providers/google/iap.h"
#include "providers/google/tpu/tpu_run.h"
#include "providers/tpunode/image.h"
#include "providers/tpunode/tpunode_body.h"

/* ---- the run ------------------------------------------------------------ */

static int specify_tasks(const struct job *job,
			 const struct catalogue *catalogue, struct arena *mem,
			 struct run_spec *out, const char **missing,
			 struct error *err)
{
	const struct tpu_node_block *block =
		job_block(job, provider_tpu_node.name);

	if (tpu_run_tasks(job, catalogue, TPU_NODE, mem, out, missing, err) < 0)
		return -1;
	if (block->docker_image)
		out->docker_image = block->docker_image;
	if (block->conda_env)
		out->conda_env = block->conda_env;
	return 0;
}

/* Names the VMs and the TPU as they may be called once they exist. */
static int foresee(struct run_spec *spec, const struct job *job,
		   struct arena *mem, struct error *err)
{
	const struct topology *all = &spec->topology;
	json_t *outputs = json_object();
	json_t *hosts = json_array(), *tpu = json_array();
	size_t i;
	int ret;

	for (i = 0; i < all->count; i++) {
		const char *vm = arena_printf(mem, "%s-%zu", all->tpu_name, i);
		const char *worker =
			arena_printf(mem, "%s-tpu-%zu:8470", all->tpu_name, i);

		json_array_append_new(hosts, json_text(vm));
		json_array_append_new(tpu, json_text(worker));
	}
	json_put(outputs, "hosts", hosts);
	json_put(outputs, "tpuHosts", tpu);
	ret = tpu_run_foresee(spec, job, outputs, mem, err);
	json_decref(outputs);
	return ret;
}

static int specify(const struct supervised *as, const struct job *job,
		   const struct resource *want, struct arena *mem,
		   struct run_spec *out, const char **missing,
		   struct error *err)
{
	const struct tpu_node_block *block = job_block(job, as->provider);

	if (specify_tasks(job, as->env.catalogue, mem, out, missing, err) < 0)
		return -1;
	if (!want)
		return foresee(out, job, mem, err);
	out->hosts.reach_s = block->ssh_timeout_s;
	out->hosts.proxy = block->iap ? IAP_COMMAND : NULL;
	return tpu_run_place(out, want, as->provider, block->look_every_s,
			     block->lease_s, mem, err);
}

static const struct kind *const kinds[] = { &kind_disk_image,
					    &kind_kept_image,
					    &kind_instance_template,
					    &kind_instance_group,
					    &kind_tpu_node,
					    &kind_supervised_run,
					    NULL };

/* ---- what a job wants --------------------------------------------------- */

static void put_request(struct resource *it, json_t *body)
{
	it->request = json_object();
	json_put_text(it->request, "method", "POST");
	json_put_text(it->request, "url", "");
	json_put(it->request, "body", body);
}

/* Returns the properties needed to create or find any of the resources. */
static json_t *properties_of(const struct job *job,
			     const struct tpu_node_block *block)
{
	json_t *out = json_object();

	tpu_places_put(out, job, &block->zones, 0);
	return out;
}

/* Places the group where the node is: with several zones that is known only
 * when the node exists. */
static void follow_node(const struct job *job,
			const struct tpu_node_block *block,
			struct resource *group, const struct resource *node,
			struct resources *out)
{
	json_t *zones;

	if (!block->zones.count)
		return;
	resource_needs(out, group, node);
	zones = json_object_get(group->properties, "otherZones");
	if (job->jobrun.zone)
		json_array_insert_new(zones, 0, json_text(job->jobrun.zone));
	json_put(group->properties, "zone", placeholder_output(node, "zone"));
}

static void put_duration(json_t *out, const char *key, long seconds)
{
	char text[32];

	duration_format(seconds, text, sizeof(text));
	json_put_text(out, key, text);
}

static struct resource *add_template(const struct job *job,
				     const struct tpu_node_block *block,
				     const char *name, struct resources *out)
{
	struct resource *it =
		resources_add(out, &kind_instance_template, name, job);
	json_t *body = tpu_node_template(job, block, name);
	const json_t *properties = json_object_get(body, "properties");
	const json_t *disk =
		json_array_get(json_object_get(properties, "disks"), 0);

	put_request(it, body);
	it->properties = properties_of(job, block);
	json_put_text(it->properties, "machineType",
		      json_get_text(properties, "machineType", ""));
	json_put_text(it->properties, "image",
		      json_get_text(json_object_get(disk, "initializeParams"),
				    "sourceImage", ""));
	if (block->disks.count)
		json_put(it->properties, "disks",
			 json_texts(block->disks.items, block->disks.count));
	if (block->tags.count)
		json_put(it->properties, "tags",
			 json_texts(block->tags.items, block->tags.count));
	if (block->ssh_user)
		json_put_text(it->properties, "sshUser", block->ssh_user);
	if (block->ssh_key)
		json_put_text(it->properties, "sshKey",
			      job_path(job, block->ssh_key));
	put_duration(it->properties, "lease", block->lease_s);
	return it;
}

static struct resource *add_group(const struct job *job,
				  const struct tpu_node_block *block,
				  const char *name, const struct slice *slice,
				  struct resources *out)
{
	struct resource *it =
		resources_add(out, &kind_instance_group, name, job);

	put_request(it, tpu_node_group(job, name, slice->hosts));
	it->properties = properties_of(job, block);
	json_put_int(it->properties, "size", slice->hosts);
	if (block->ssh_user)
		json_put_text(it->properties, "sshUser", block->ssh_user);
	if (block->iap)
		json_put(it->properties, "iap", json_true());
	put_duration(it->properties, "readyTimeout", block->ready_timeout_s);
	return it;
}

static struct resource *add_node(const struct job *job,
				 const struct tpu_node_block *block,
				 const char *name, const struct slice *slice,
				 struct resources *out)
{
	struct resource *it = resources_add(out, &kind_tpu_node, name, job);

	put_request(it, tpu_node_node(job, block, slice));
	it->properties = json_object();
	tpu_places_put(it->properties, job, &block->zones,
		       block->wait_for_capacity_s);
	json_put_text(it->properties, "acceleratorType", slice->name);
	tpu_node_expect(it->properties, slice);
	if (block->runtime_version)
		json_put_text(it->properties, "tensorflowVersion",
			      block->runtime_version);
	if (block->cidr_block)
		json_put_text(it->properties, "cidrBlock", block->cidr_block);
	if (block->preemptible)
		json_put(it->properties, "preemptible", json_true());
	if (block->reserved)
		json_put(it->properties, "reserved", json_true());
	put_duration(it->properties, "lease", block->lease_s);
	put_duration(it->properties, "readyTimeout", block->ready_timeout_s);
	return it;
}

static void check(const struct tpu_node_block *block, const struct tpu *tpu,
		  const struct slice *slice, struct resources *out)
{
	size_t i;

	for (i = 0; i < block->disks.count; i++)
		if (slice->hosts > 1 &&
		    !text_ends(block->disks.items[i], ":ro"))
			resources_miss(out,
				       "disk '%s' can be written to by one VM "
				       "only, and there are %u: write '%s:ro' "
				       "in jobrun.tpu-node.disks",
				       block->disks.items[i], slice->hosts,
				       block->disks.items[i]);
	if (block->image_from.vm && (block->image || block->image_project))
		resources_miss(out, "the VMs have one image: remove "
				    "jobrun.tpu-node.image or imageFrom");
	if (strcmp(tpu->generation, "v2") != 0 &&
	    strcmp(tpu->generation, "v3") != 0)
		resources_miss(out,
			       "TPU nodes are v2 and v3: for %s set "
			       "jobrun.provider to tpu-vm",
			       tpu->generation);
	if (!block->runtime_version)
		resources_miss(out, "the software of the TPU: set "
				    "jobrun.tpu-node.runtimeVersion, for "
				    "instance to pytorch-1.13");
}

static void note(const struct job *job, const struct tpu_node_block *block,
		 struct resources *out)
{
	char lease[32];

	resources_note(out, "Google deprecated TPU nodes in April 2025: the "
			    "provider tpu-vm has their successors");
	if (block->zones.count)
		resources_note(out, "the VMs are made when the TPU is ready, "
				    "in the zone where it could be had");
	if (block->image_from.stop)
		resources_note(out,
			       "VM '%s' is stopped if it runs, and not started "
			       "again",
			       block->image_from.vm);
	if (block->image_from.keep)
		resources_note(out,
			       "the image stays, and costs, until 'jobrun "
			       "delete %s'",
			       job->job_id);
	duration_format(block->lease_s, lease, sizeof(lease));
	if (job->jobrun.cleanup == CLEANUP_ALWAYS && block->image_from.keep)
		resources_note(out, "jobrun deletes TPU and VMs when the run "
				    "ends, however it ends");
	else if (job->jobrun.cleanup == CLEANUP_ALWAYS)
		resources_note(out, "jobrun deletes TPU and VMs when the run "
				    "ends, however it ends; nothing stays");
	else
		resources_note(out,
			       "TPU and VMs may stay when the run has ended, "
			       "and cost, until 'jobrun delete %s'",
			       job->job_id);
	resources_note(out,
		       "the VMs delete the TPU and themselves when nothing "
		       "has been heard of jobrun for %s",
		       lease);
}

static int desire(const struct job *job, const struct provider_env *env,
		  struct resources *out, struct error *err)
{
	const struct tpu_node_block *block =
		job_block(job, provider_tpu_node.name);
	struct resource *image, *template, *group, *node;
	struct run_spec spec;
	struct tpu_run run;
	const char *missing, *name;

	if (specify_tasks(job, env->catalogue, out->mem, &spec, &missing, err) <
	    0)
		return -1;
	run = tpu_run_add(job, env, &spec, missing, out);
	if (!run.slice)
		return 0;
	name = spec.topology.tpu_name;
	image = tpu_node_add_image(job, block, name, out);
	template = add_template(job, block, name, out);
	if (image)
		resource_needs(out, template, image);
	group = add_group(job, block, name, run.slice, out);
	node = add_node(job, block, name, run.slice, out);
	/* Wait for the image, as the node would cost money without being
	 * used. */
	if (image)
		resource_needs(out, node, image);
	resource_needs(out, group, template);
	follow_node(job, block, group, node, out);
	resource_needs(out, run.resource, group);
	resource_needs(out, run.resource, node);
	json_put(run.resource->properties, "hosts",
		 placeholder_output(group, "hosts"));
	json_put(run.resource->properties, "tpuHosts",
		 placeholder_output(node, "tpuHosts"));
	check(block, run.tpu, run.slice, out);
	tpu_run_check(job, &spec, out);
	note(job, block, out);
	if (block->iap)
		tpu_run_note_iap(out);
	resources_note_unused(out, job, &provider_tpu_node);
	return 0;
}

/* ---- its life ----------------------------------------------------------- */

static void *open_ctx(const struct provider_env *env, struct error *err)
{
	const struct tpu_maker maker = { .api = TPU_API_V1,
					 .request = tpu_node_request };

	return tpu_ctx_open(env, provider_tpu_node.name, &maker, specify, err);
}

static void doctor_job(const struct job *job, const struct provider_env *env,
		       struct checks *out)
{
	const struct google_need need = { .service = SERVICE_TPU,
					  .zone = true };

	doctor_google_job(job, env, &need, out);
}

const struct provider provider_tpu_node = {
	.name = "tpu-node",
	.summary = "Cloud TPU nodes, with VMs beside them",
	.traits = TRAIT_MAKES_MACHINES | TRAIT_GOOGLE_CLOUD | TRAIT_SUPERVISED |
		  TRAIT_STARTS_PROGRAM | TRAIT_BESIDE_TASKS,
	.kinds = kinds,
	.block = &tpu_node_message,
	.uses = tpu_node_uses,
	.asks = true,
	.desire = desire,
	.place = tpu_run_where,
	.environment = supervised_environment,
	.open = open_ctx,
	.close = tpu_ctx_close,
	.platform = &platform_gce,
	.commands = iap_commands,
	.doctor = doctor_google,
	.doctor_job = doctor_job,
};
