/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/kubernetes/manifest/launcher.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/spec/describe.h"
#include "core/spec/spec.h"
#include "providers/kubernetes/manifest/env.h"
#include "providers/kubernetes/manifest/kube_trials.h"

#define CHECKPOINTS "checkpoints"

bool launcher_is_used(const struct pod_maker *maker)
{
	return maker->block && maker->block->launcher;
}

/* Fills in the job's part of the specification that is known before a pod
 * exists. */
static void make_spec(const struct pod_maker *maker, struct run_spec *out)
{
	const struct job *job = maker->job;

	*out = (struct run_spec){ .job_id = job->job_id,
				  .topology = maker->out->tasks,
				  .metrics = job->jobrun.metrics.patterns };
	spec_checkpoints_from_job(job, maker->mem, &out->checkpoints);
	spec_data_from_job(job, maker->mem, &out->data);
}

long launcher_grace_s(const struct job *job)
{
	return (job_has(job, "checkpoints") ? 2 : 1) * job->jobrun.grace_s;
}

/* ---- processes --------------------------------------------------------- */

/* Returns their number, or 0 if machines differ in it. */
static long count_processes(const struct pod_maker *maker)
{
	struct machine_groups machines;
	struct error ignored;
	long count = 0, own;
	size_t i;

	if (machines_of(maker->job, maker->catalogue, &machines, &ignored) < 0)
		return 1;
	for (i = 0; i < machines.count; i++) {
		const struct machine_group *group = &machines.items[i];

		if (group->role != ROLE_MASTER && group->role != ROLE_WORKER)
			continue;
		own = machines_processes(maker->job, group);
		if (count && own != count)
			return 0;
		count = own;
	}
	return count ? count : 1;
}

static const char *why_not_several(const struct pod_maker *maker, long count)
{
	if (!count)
		return "the machines have different numbers of devices: set a "
		       "number";
	if (!launcher_is_used(maker))
		return "jobrun starts them in the pods: name an image that has "
		       "jobrun in jobrun.kubernetes.launcher";
	if (job_has(maker->job, "checkpoints") || trials_are_wanted(maker->job))
		return "several processes in a pod do not go with "
		       "jobrun.checkpoints and hyperparameters there";
	return NULL;
}

void launcher_check_processes(const struct pod_maker *maker)
{
	long count = count_processes(maker);
	const char *why = count == 1 ? NULL : why_not_several(maker, count);

	if (why)
		kube_leave_out(maker->out, true, "jobrun.processesPerHost",
			       why);
}

/* ---- what has no place ------------------------------------------------- */

/* Whether a URL can be used in a pod; files of this machine cannot. */
static bool is_elsewhere(const char *url)
{
	return strstr(url, "://") || url[0] == '/';
}

static void check_data(const struct pod_maker *maker)
{
	const struct messages *all = &maker->job->jobrun.data;
	const struct data_set *sets = all->items;
	size_t i, j;

	for (i = 0; i < all->count; i++) {
		const char *bad = sets[i].index && !is_elsewhere(sets[i].index)
					  ? sets[i].index
					  : NULL;

		for (j = 0; !bad && j < sets[i].urls.count; j++)
			if (!is_elsewhere(sets[i].urls.items[j]))
				bad = sets[i].urls.items[j];
		if (bad)
			kube_leave_out(
				maker->out, true,
				arena_printf(maker->mem, "jobrun.data.%s",
					     sets[i].name),
				arena_printf(maker->mem,
					     "'%s' is a file of this machine: "
					     "name a URL, or an absolute path "
					     "in one of "
					     "jobrun.kubernetes.volumes",
					     bad));
	}
}

/* Whether a path is in a volume, which outlives the pod. */
static bool is_in_volume(const struct pod_maker *maker, const char *path)
{
	const struct kube_volume *all = maker->block->volumes.items;
	size_t i, len;

	for (i = 0; i < maker->block->volumes.count; i++) {
		len = strlen(all[i].path);
		if ((all[i].claim || all[i].host_path) && !all[i].read_only &&
		    text_starts(path, all[i].path) &&
		    (!path[len] || path[len] == '/'))
			return true;
	}
	return false;
}

static void check_checkpoints(const struct pod_maker *maker,
			      const struct run_checkpoints *from)
{
	const char *run = pod_run_folder(maker);

	if (from->directory && from->directory[0] != '/' &&
	    maker->job->jobrun.source)
		kube_leave_out(maker->out, true, "jobrun.checkpoints.directory",
			       "the program starts in its source, which can't "
			       "be written to there: name an absolute path, or "
			       "leave it out");
	if (from->to && !strstr(from->to, "://") &&
	    !is_in_volume(maker, from->to))
		kube_leave_out(maker->out, true, "jobrun.checkpoints.to",
			       "no volume there outlives the pods: give a "
			       "gs:// or s3:// URL, or a path in one of "
			       "jobrun.kubernetes.volumes");
	if (from->to || from->resume == CHECKPOINT_RESUME_NONE)
		return;
	if (maker->out->tasks.count > 1)
		kube_leave_out(maker->out, false, "jobrun.checkpoints.to",
			       "a restarted run of several tasks starts from "
			       "scratch");
	else if (!is_in_volume(maker, from->directory ? from->directory : run))
		kube_leave_out(maker->out, false, "jobrun.checkpoints.to",
			       "checkpoints are lost with their pod, and a "
			       "restarted run starts from scratch");
}

/* ---- the program ------------------------------------------------------- */

static void add_word(json_t *command, const char *text)
{
	json_array_append_new(command, env_text(text));
}

static void add_checkpoints(const struct pod_maker *maker,
			    const struct run_spec *spec, json_t *command)
{
	const struct run_checkpoints *from = &spec->checkpoints;
	const char *directory = from->directory;
	struct strings options;
	size_t i;

	if (!from->is_used)
		return;
	check_checkpoints(maker, from);
	if (!directory)
		directory = arena_printf(maker->mem, "%s/" CHECKPOINTS,
					 pod_run_folder(maker));
	add_word(command, arena_printf(maker->mem, "--grace=%lds",
				       maker->job->jobrun.grace_s));
	spec_checkpoints_options(spec, directory, maker->mem, &options);
	for (i = 0; i < options.count; i++)
		add_word(command, options.items[i]);
}

static void add_data(const struct pod_maker *maker, const struct run_spec *spec,
		     json_t *command)
{
	json_t *sets = spec_data_json(&spec->data);
	char *text;

	if (!sets)
		return;
	check_data(maker);
	text = json_canonical(sets);
	add_word(command, arena_printf(maker->mem, "--data=%s", text));
	free(text);
	json_decref(sets);
}

static void wrap_command(const struct pod_maker *maker, json_t *container)
{
	json_t *given = json_object_get(container, "command");
	/* The command gives where it runs, as the file may set variables of
	 * other systems; a trial has no peers. */
	json_t *command =
		json_pack("[s, s, s]", LAUNCHER_PROGRAM, "launch",
			  trials_are_wanted(maker->job) ? "--from=local"
							: "--from=kubernetes");
	struct run_spec spec;

	make_spec(maker, &spec);
	if (trials_are_wanted(maker->job))
		trials_add_command(maker, command);
	else
		add_checkpoints(maker, &spec, command);
	add_data(maker, &spec, command);
	if (count_processes(maker) > 1)
		add_word(command, arena_printf(maker->mem, "--processes=%ld",
					       count_processes(maker)));
	add_word(command, "--");
	if (given)
		json_array_extend(command, given);
	else
		kube_leave_out(maker->out, true, "jobrun.command",
			       "a launcher replaces the image's entry point: "
			       "set the program to run");
	json_put(container, "command", command);
}

/* ---- what puts it there ------------------------------------------------ */

/* Returns a small request.  The init container runs before the program, so it
 * adds nothing to the pod's needs, but with a quota every container must have a
 * request. */
static json_t *small_resources(const struct pod_maker *maker,
			       const json_t *container)
{
	json_t *out = json_pack("{s: {s: s, s: s}}", "requests", "cpu", "100m",
				"memory", "64M");
	json_t *limits = json_object_get(
		json_object_get(container, "resources"), "requests");

	if (maker->block->limits && json_object_get(limits, "cpu")) {
		limits = json_pack("{s: O, s: O}", "cpu",
				   json_object_get(limits, "cpu"), "memory",
				   json_object_get(limits, "memory"));
		json_put(out, "limits", limits);
	}
	return out;
}

void launcher_add(const struct pod_maker *maker, json_t *spec,
		  json_t *container)
{
	json_t *one = json_object();

	wrap_command(maker, container);
	json_put_text(one, "name", "jobrun");
	json_put_text(one, "image", maker->block->launcher);
	json_put(one, "command",
		 json_pack("[s, s, s, s]", "jobrun", "launch", "--install",
			   LAUNCHER_FOLDER));
	/* On failure its status then has the last lines of its log. */
	json_put_text(one, "terminationMessagePolicy", "FallbackToLogsOnError");
	json_put(one, "resources", small_resources(maker, container));
	json_put(one, "volumeMounts",
		 json_pack("[{s: s, s: s}]", "name", LAUNCHER_VOLUME,
			   "mountPath", LAUNCHER_FOLDER));
	json_put(spec, "initContainers", json_pack("[o]", one));
}

void launcher_describe(const struct pod_maker *maker, json_t *properties)
{
	struct run_spec spec;
	size_t i;

	if (!launcher_is_used(maker))
		return;
	make_spec(maker, &spec);
	/* A file with that path on this machine is not the pod's. */
	for (i = 0; i < spec.data.count; i++)
		if (spec.data.sets[i].index &&
		    !strstr(spec.data.sets[i].index, "://"))
			spec.data.sets[i].index = NULL;
	json_put_text(properties, "launcher", maker->block->launcher);
	if (count_processes(maker) > 1)
		json_put_int(properties, "processesPerPod",
			     count_processes(maker));
	describe_files(maker->job, &spec, properties);
}
