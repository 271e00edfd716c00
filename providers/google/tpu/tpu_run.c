/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/google/tpu/tpu_run.h"

#include "core/base/file.h"
#include "core/spec/describe.h"
#include "core/spec/spec.h"
#include "core/supervise/allocation.h"
#include "core/supervise/ended.h"
#include "core/supervise/supervised.h"
#include "providers/google/tpu/tpu.h"

/* Returns the firewall rule that a custom network needs before it lets anything
 * through.  https://cloud.google.com/firewall/docs/using-firewalls */
static const char *firewall_rule(const struct job *job, struct arena *mem)
{
	const char *network =
		job->jobrun.network ? job->jobrun.network : "default";
	const char *project = job->jobrun.project;

	network = path_base(network);
	return arena_printf(mem,
			    "gcloud compute firewall-rules create %s-jobrun "
			    "--network=%s --allow=tcp "
			    "--source-ranges=10.0.0.0/8%s%s",
			    network, network, project ? " --project=" : "",
			    project ? project : "");
}

int tpu_run_tasks(const struct job *job, const struct catalogue *catalogue,
		  enum tpu_kind kind, struct arena *mem, struct run_spec *out,
		  const char **missing, struct error *err)
{
	char name[TPU_NAME_MAX];

	if (spec_from_job(job, catalogue, IMAGES_IF_ASKED, mem, out, missing,
			  err) < 0)
		return -1;
	tpu_name(job->job_id, name);
	out->hosts.rule = firewall_rule(job, mem);
	out->topology.tpu_kind = kind;
	out->topology.tpu_name = arena_strdup(mem, name);
	return 0;
}

int tpu_run_foresee(struct run_spec *spec, const struct job *job,
		    const json_t *outputs, struct arena *mem, struct error *err)
{
	if (spec_set_outputs(spec, outputs, mem, err) < 0)
		return -1;
	return spec_set_hosts(spec, job, &spec->hosts.names, mem, err);
}

int tpu_run_place(struct run_spec *spec, const struct resource *run,
		  const char *provider, long interval_s, long lease_s,
		  struct arena *mem, struct error *err)
{
	/* The run itself has the machines created, and then knows their
	 * addresses. */
	spec->allocation = allocation_text(run, provider, interval_s, mem);
	spec->ended = ended_url(run->job, mem);
	if (spec_set_hosts(spec, run->job, &spec->hosts.names, mem, err) < 0)
		return -1;
	/* Tasks go on no longer than the machines that they are on. */
	if (lease_s && lease_s < spec->hosts.lease_s)
		spec->hosts.lease_s = lease_s;
	return 0;
}

struct tpu_run tpu_run_add(const struct job *job,
			   const struct provider_env *env,
			   const struct run_spec *spec, const char *missing,
			   struct resources *out)
{
	struct tpu_run run = { 0 };

	if (spec->topology.tpu_slice)
		run.slice = catalogue_slice(env->catalogue,
					    spec->topology.tpu_slice, &run.tpu);
	run.resource =
		resources_add(out, &kind_supervised_run, job->job_id, job);
	run.resource->properties = describe_run(job, spec);
	if (missing)
		resources_miss(out, "%s", missing);
	if (!run.slice)
		resources_miss(out, "which TPU: set trainingInput.workerConfig."
				    "acceleratorConfig to its type and count");
	return run;
}

void tpu_run_check(const struct job *job, const struct run_spec *spec,
		   struct resources *out)
{
	if (job->training_input.hyperparameters.params.count)
		resources_miss(out,
			       "hyperparameter trials do not run on TPU %s: "
			       "remove trainingInput.hyperparameters, or set "
			       "jobrun.provider to vertex-ai",
			       spec->topology.tpu_kind == TPU_NODE ? "nodes"
								   : "VMs");
	if (job->jobrun.hosts.count)
		resources_miss(out, "the hosts are those of the TPU: remove "
				    "jobrun.hosts");
	if (!job->jobrun.staging)
		resources_note(out, "jobrun.staging is not set: how the run "
				    "ends is kept on this machine only, two "
				    "clients at once are not kept apart, and "
				    "another machine would run the job again");
	if (!job->jobrun.source && !spec->packages.count)
		resources_note(out, "jobrun.source is not set: jobrun copies "
				    "nothing to the VMs, and the program "
				    "starts in the home directory there");
}

void tpu_run_note_iap(struct resources *out)
{
	resources_note(out, "the VMs are reached through Identity-Aware Proxy: "
			    "that takes the role "
			    "roles/iap.tunnelResourceAccessor, and a firewall "
			    "rule that lets 35.235.240.0/20 in at port 22");
}

const char *tpu_run_where(const struct job *job, struct arena *mem)
{
	return job->jobrun.project
		       ? arena_printf(mem, "projects/%s", job->jobrun.project)
		       : NULL;
}
