/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/local/local_devices.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/device/choice.h"
#include "core/device/device.h"
#include "core/device/lease.h"
#include "core/device/look.h"
#include "core/job/machines.h"
#include "core/provider/checks.h"
#include "core/store/store.h"
#include "core/supervise/host_devices.h"
#include "core/supervise/hosts.h"
#include "providers/local/local.h"
#include "providers/local/local_block.h"

#define MODEL_MAX 64
#define LIST "jobrun devices"

static enum local_devices how_of(const struct job *job)
{
	const struct local_block *block = job_block(job, provider_local.name);

	return block ? (enum local_devices)block->devices : LOCAL_DEVICES_ANY;
}

/* Sets how many devices each machine of the job needs, and the type. */
static int ask(const struct job *job, const struct provider_env *env,
	       struct arena *mem, struct run_spec *spec,
	       struct device_wish *out, struct error *err)
{
	const struct machine_group *master, *worker;
	struct machine_groups machines;
	char model[MODEL_MAX];

	if (machines_of(job, env->catalogue, &machines, err) < 0)
		return -1;
	master = machines_find(&machines, ROLE_MASTER);
	worker = machines_find(&machines, ROLE_WORKER);
	*out = (struct device_wish){ .strict = how_of(job) ==
					       LOCAL_DEVICES_STRICT };
	if ((master && master->slice) || (worker && worker->slice))
		return 0;
	if (master && master->accelerator_count > 0) {
		spec->devices.first = master->accelerator_count;
		out->type = master->accelerator_type;
	}
	if (worker && worker->accelerator_count > 0) {
		spec->devices.each = worker->accelerator_count;
		if (!out->type)
			out->type = worker->accelerator_type;
	}
	out->need = spec_devices_needed(spec);
	if (out->type) {
		catalogue_model(env->catalogue, out->type, model,
				sizeof(model));
		out->model = arena_strdup(mem, model);
	}
	return 0;
}

/* Limits the trials at a time to those that have enough devices; returns
 * whether that changes anything. */
static bool limit_trials(size_t count, size_t need, struct run_spec *spec)
{
	long most = (long)(count / need);

	if (!spec->tuning.params.count ||
	    spec->tuning.max_parallel_trials <= most)
		return false;
	spec->tuning.max_parallel_trials = most;
	return true;
}

/* Looks for devices in the kernel first, as a driver may take seconds; but the
 * kernel does not know of slices. */
static const struct devices *look_quickly(const struct device_wish *wish,
					  struct arena *mem,
					  struct device_choice *choice)
{
	struct devices *all = devices_seen("", mem);
	struct error ignored;

	device_choose(all, wish, choice);
	if (choice->count >= wish->need || !devices_expected())
		return all;
	all = devices_look(mem, &ignored);
	if (all)
		device_choose(all, wish, choice);
	return all;
}

static void note_choice(const struct provider_env *env,
			const struct device_wish *wish,
			const struct device_choice *choice,
			struct run_spec *spec, struct resources *out)
{
	const char *folder, *note;
	struct error ignored;

	if (!choice->fits)
		resources_note(out, "it asks for %s, and gets %s here",
			       wish->type, choice->items[0]->model);
	if (limit_trials(choice->count, wish->need, spec))
		resources_note(out,
			       "%ld trials run at a time, on %zu GPUs each",
			       spec->tuning.max_parallel_trials, wish->need);
	if (env->store &&
	    lease_folder(store_folder(env->store), out->mem, &folder, &note,
			 &ignored) == 0 &&
	    note)
		resources_note(out, "%s", note);
}

int local_devices_note(const struct job *job, const struct provider_env *env,
		       struct run_spec *spec, struct resources *out,
		       struct error *err)
{
	const struct devices *all;
	struct device_choice choice;
	struct device_wish wish;
	const char *fault;

	if (how_of(job) == LOCAL_DEVICES_IGNORE)
		return 0;
	if (ask(job, env, out->mem, spec, &wish, err) < 0)
		return -1;
	if (!wish.need)
		return 0;
	/* A plan asks no other machine. */
	if (spec->hosts.names.count) {
		resources_note(out, "'apply' looks for the GPUs of its hosts "
				    "before it starts the run: one that does "
				    "not answer holds it up for some seconds");
		return 0;
	}
	all = look_quickly(&wish, out->mem, &choice);
	if (!all)
		return 0;
	fault = device_fault(all, &wish, &choice, LIST, out->mem);
	if (fault)
		resources_miss(out, "%s", fault);
	else if (all->count)
		note_choice(env, &wish, &choice, spec, out);
	return 0;
}

static void write_choice(const struct device_choice *choice, struct arena *mem,
			 struct run_devices *out)
{
	size_t i;

	out->vendor = choice->items[0]->vendor;
	out->names.items =
		arena_alloc(mem, choice->count * sizeof(*out->names.items));
	out->ids.items =
		arena_alloc(mem, choice->count * sizeof(*out->ids.items));
	for (i = 0; i < choice->count; i++) {
		out->names.items[i] = lease_name(choice->items[i], mem);
		out->ids.items[i] = device_id(choice->items[i], mem);
	}
	out->names.count = out->ids.count = choice->count;
}

/* ---- other machines ---- */

/* Asks the hosts of a run; NULL: they can't be asked now. */
static const struct host_devices *ask_hosts(const struct provider_env *env,
					    const struct run_spec *spec,
					    size_t count, struct arena *mem)
{
	char *known = hosts_known_path(store_folder(env->store), spec->job_id);
	const struct host_devices_call call = {
		.hosts = spec->hosts.names.items,
		.count = count,
		.known = known,
		.directory = spec->hosts.directory,
	};
	const struct host_devices *out = NULL;
	char *folder = path_folder(known);
	struct error ignored;

	if (folder_make(folder, &ignored) == 0)
		out = host_devices_look(&call, mem, &ignored);
	free(folder);
	free(known);
	return out;
}

/* Says what a host lacks, in `mem`.  What a host that does not answer now has
 * is seen when the run reaches it. */
static const char *find_host_fault(const struct host_devices *host,
				   const struct device_wish *wish,
				   struct device_choice *choice,
				   struct arena *mem)
{
	const char *list, *fault;

	*choice = (struct device_choice){ 0 };
	if (!host->all || !wish->need)
		return NULL;
	device_choose(host->all, wish, choice);
	list = arena_printf(mem, LIST " --hosts %s", host->host);
	fault = device_fault(host->all, wish, choice, list, mem);
	return fault ? arena_printf(mem, "host '%s': %s", host->host, fault)
		     : NULL;
}

/* How many hosts may lack devices: others take their places in the attempts
 * after, unless trials may be on those. */
static size_t count_spares(const struct run_spec *spec, size_t count)
{
	if (!spec->restart.max_restarts || spec->tuning.params.count)
		return 0;
	return spec->hosts.names.count - count;
}

/* Sets what each host must lease, and what is missing there. */
static void set_hosts(const struct provider_env *env,
		      const struct device_wish *all, struct arena *mem,
		      struct run_spec *spec, const char **missing)
{
	size_t count = spec_host_count(spec), i;
	size_t spares = count_spares(spec, count);
	struct device_wish wish = *all;
	const struct host_devices *told = ask_hosts(env, spec, count, mem);
	struct device_choice choice;

	spec->devices.folder = spec->devices.vendor = "";
	spec->devices.type = all->type;
	spec->devices.model = all->model;
	spec->devices.strict = all->strict;
	spec->devices.share = env->share_devices;
	for (i = 0; told && i < count && !*missing; i++) {
		const char *fault;

		wish.need = spec_devices_on(spec, i, count);
		fault = find_host_fault(&told[i], &wish, &choice, mem);
		if (fault && spares)
			spares--;
		else
			*missing = fault;
		/* Trials take the hosts in turn. */
		if (choice.count)
			limit_trials(choice.count * spec->hosts.names.count /
					     count,
				     wish.need, spec);
	}
}

int local_devices_set(const struct job *job, const struct provider_env *env,
		      struct arena *mem, struct run_spec *spec,
		      const char **missing, struct error *err)
{
	struct run_devices *out = &spec->devices;
	const struct devices *all;
	struct device_choice choice;
	struct device_wish wish;
	const char *note;

	if (how_of(job) == LOCAL_DEVICES_IGNORE)
		return 0;
	if (ask(job, env, mem, spec, &wish, err) < 0)
		return -1;
	if (spec->hosts.names.count) {
		if (wish.need)
			set_hosts(env, &wish, mem, spec, missing);
		return 0;
	}
	if (!wish.need || (!devices_expected() && !wish.strict))
		return 0;
	all = devices_look(mem, err);
	if (!all)
		return error_prefix(err, "jobrun.local.devices");
	device_choose(all, &wish, &choice);
	*missing = device_fault(all, &wish, &choice, LIST, mem);
	if (*missing || !all->count)
		return 0;
	write_choice(&choice, mem, out);
	out->share = env->share_devices;
	limit_trials(choice.count, wish.need, spec);
	spec->topology.apart = topology_machines(&spec->topology) > 1;
	topology_rank(&spec->topology);
	return lease_folder(store_folder(env->store), mem, &out->folder, &note,
			    err);
}

/* ---- doctor ---- */

static void add_fault(const char *group, const char *name, const char *fault,
		      const struct device_choice *choice, size_t need,
		      struct checks *all)
{
	if (fault)
		checks_bad(all, group, name, ERROR_FAILED, fault);
	else if (!choice->count)
		checks_add(all, group, name, CHECK_MISSING, NULL)->advice =
			"there are none: the program computes on CPUs";
	else
		checks_add(all, group, name, CHECK_OK,
			   arena_printf(all->mem, "%zu of %zu: %s", need,
					choice->count,
					choice->items[0]->model
						? choice->items[0]->model
						: "of an unknown model"));
}

static void check_hosts(const struct provider_env *env,
			const struct device_wish *each, const char *group,
			struct run_spec *spec, struct checks *all)
{
	size_t count = spec_host_count(spec), i;
	const struct host_devices *told = ask_hosts(env, spec, count, all->mem);
	struct device_wish wish = *each;
	struct device_choice choice;

	for (i = 0; told && i < count; i++) {
		const char *name =
			arena_printf(all->mem, "%s GPUs", told[i].host);

		wish.need = spec_devices_on(spec, i, count);
		if (!wish.need)
			continue;
		if (!told[i].all)
			checks_bad(all, group, name, told[i].code, told[i].why);
		else
			add_fault(group, name,
				  find_host_fault(&told[i], &wish, &choice,
						  all->mem),
				  &choice, wish.need, all);
	}
}

void local_devices_check(const struct job *job, const struct provider_env *env,
			 const char *group, struct run_spec *spec,
			 struct checks *all)
{
	const struct devices *here;
	struct device_choice choice;
	struct device_wish wish;
	struct error err;

	if (how_of(job) == LOCAL_DEVICES_IGNORE)
		return;
	if (ask(job, env, all->mem, spec, &wish, &err) < 0) {
		checks_fail(all, group, "GPUs", &err);
		return;
	}
	if (!wish.need)
		return;
	if (spec->hosts.names.count) {
		check_hosts(env, &wish, group, spec, all);
		return;
	}
	here = devices_look(all->mem, &err);
	if (!here) {
		checks_fail(all, group, "GPUs", &err);
		return;
	}
	device_choose(here, &wish, &choice);
	add_fault(group, "GPUs",
		  device_fault(here, &wish, &choice, LIST, all->mem), &choice,
		  wish.need, all);
}
