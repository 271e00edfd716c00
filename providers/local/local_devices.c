/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/local/local_devices.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/device/device.h"
#include "core/device/lease.h"
#include "core/device/look.h"
#include "core/job/machines.h"
#include "core/store/store.h"
#include "providers/local/local.h"
#include "providers/local/local_block.h"

#define MODEL_MAX 64
#define WORDS_MAX 160
#define IGNORE "jobrun.local: {devices: ignore} runs it without any"

/* The devices that a job asks for, and those of this machine that it may
 * take. */
struct device_choice {
	const char *type; /* NULL: the job names none */
	size_t need;      /* for one trial, or a run without trials */
	const struct device *items[DEVICES_MAX]; /* alike, without trouble */
	size_t count;
	bool fits; /* their model is of that type */
};

/* Writes the words of "RTX PRO 6000 Blackwell" as
 * "_rtx_pro_6000_blackwell_". */
static void words_of(const char *text, char out[WORDS_MAX])
{
	size_t n = 0;

	out[n++] = '_';
	for (; *text && n < WORDS_MAX - 2; text++) {
		if (isalnum((unsigned char)*text))
			out[n++] = (char)tolower((unsigned char)*text);
		else if (out[n - 1] != '_')
			out[n++] = '_';
	}
	if (out[n - 1] != '_')
		out[n++] = '_';
	out[n] = '\0';
}

/* Finds the size of the memory in such words, as in "80gb_"; NULL if there is
 * none. */
static const char *find_memory(const char *words)
{
	const char *end = strstr(words, "gb_"), *at = end;

	while (at && at > words && isdigit((unsigned char)at[-1]))
		at--;
	return at == end ? NULL : at;
}

static bool is_of_type(const struct catalogue *all, const char *model,
		       const char *type)
{
	char words[WORDS_MAX], wanted[WORDS_MAX], name[MODEL_MAX];
	const char *one, *two;
	char *part;
	bool out;

	if (!model || !type)
		return true;
	words_of(model, words);
	catalogue_model(all, type, name, sizeof(name));
	part = mem_printf("_%s_", name);
	out = strstr(words, part);
	free(part);
	words_of(type, wanted);
	one = find_memory(words);
	two = find_memory(wanted);
	return out && (!one || !two || !strcmp(one, two) ||
		       strtol(one, NULL, 10) == strtol(two, NULL, 10));
}

static bool is_alike(const struct device *one, const struct device *two)
{
	return one->slice == two->slice && !strcmp(one->vendor, two->vendor);
}

/* Takes the devices that are like the i-th, either of the right type or of any
 * type. */
static void take_alike(const struct devices *all, size_t i,
		       const struct catalogue *catalogue, bool fits,
		       struct device_choice *out)
{
	size_t j;

	out->count = 0;
	out->fits = fits;
	for (j = 0; j < all->count; j++) {
		const struct device *one = &all->items[j];

		if (!one->trouble && is_alike(one, &all->items[i]) &&
		    (!fits || is_of_type(catalogue, one->model, out->type)))
			out->items[out->count++] = one;
	}
}

/* Chooses the first kind with enough devices, preferring the right type;
 * otherwise the kind with the most devices. */
static void choose(const struct devices *all, const struct catalogue *catalogue,
		   struct device_choice *out)
{
	struct device_choice one = *out;
	int fits;
	size_t i;

	for (fits = 1; fits >= 0; fits--) {
		for (i = 0; i < all->count; i++) {
			take_alike(all, i, catalogue, fits, &one);
			if (one.count > out->count)
				*out = one;
			if (out->count >= out->need)
				return;
		}
	}
}

/* Sets how many devices each machine of the job needs. */
static int ask(const struct job *job, const struct provider_env *env,
	       struct run_spec *spec, struct device_choice *out,
	       struct error *err)
{
	const struct machine_group *master, *worker;
	struct machine_groups machines;

	if (machines_of(job, env->catalogue, &machines, err) < 0)
		return -1;
	master = machines_find(&machines, ROLE_MASTER);
	worker = machines_find(&machines, ROLE_WORKER);
	*out = (struct device_choice){ 0 };
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
	return 0;
}

static enum local_devices how_of(const struct job *job)
{
	const struct local_block *block = job_block(job, provider_local.name);

	return block ? (enum local_devices)block->devices : LOCAL_DEVICES_ANY;
}

/* Returns why the job can't run as it is, in `mem`; or NULL. */
static const char *find_fault(const struct job *job, const struct devices *all,
			      const struct device_choice *choice,
			      struct arena *mem)
{
	bool strict = how_of(job) == LOCAL_DEVICES_STRICT;

	if (!all->count)
		return strict ? arena_printf(mem,
					     "it asks for %zu GPUs, but this "
					     "machine has none: " IGNORE,
					     choice->need)
			      : NULL;
	if (choice->count < choice->need)
		return arena_printf(
			mem,
			"it asks for %zu GPUs in all, and this machine has %zu "
			"alike that are well ('jobrun devices' lists "
			"them): " IGNORE,
			choice->need, choice->count);
	if (strict && !choice->fits)
		return arena_printf(mem,
				    "it asks for %s, but this machine has %s "
				    "(jobrun.local.devices is strict)",
				    choice->type, choice->items[0]->model);
	return NULL;
}

/* Limits the trials at a time to those that have enough devices; returns
 * whether that changes anything. */
static bool limit_trials(const struct device_choice *choice,
			 struct run_spec *spec)
{
	long most = (long)(choice->count / choice->need);

	if (!spec->tuning.params.count ||
	    spec->tuning.max_parallel_trials <= most)
		return false;
	spec->tuning.max_parallel_trials = most;
	return true;
}

/* Whether the job takes devices of this machine: runs on other hosts do not. */
static bool takes_any(const struct job *job, const struct run_spec *spec)
{
	return !spec->hosts.names.count && how_of(job) != LOCAL_DEVICES_IGNORE;
}

/* Looks for devices in the kernel first, as a driver may take seconds; but the
 * kernel does not know of slices. */
static const struct devices *look_quickly(const struct provider_env *env,
					  struct arena *mem,
					  struct device_choice *choice)
{
	struct devices *all = devices_seen("", mem);
	struct error ignored;

	choose(all, env->catalogue, choice);
	if (choice->count >= choice->need || !devices_expected())
		return all;
	all = devices_look(mem, &ignored);
	if (all)
		choose(all, env->catalogue, choice);
	return all;
}

static void note_choice(const struct provider_env *env,
			const struct device_choice *choice,
			struct run_spec *spec, struct resources *out)
{
	const char *folder, *note;
	struct error ignored;

	if (!choice->fits)
		resources_note(out, "it asks for %s, and gets %s here",
			       choice->type, choice->items[0]->model);
	if (limit_trials(choice, spec))
		resources_note(out,
			       "%ld trials run at a time, on %zu GPUs each",
			       spec->tuning.max_parallel_trials, choice->need);
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
	const char *fault;

	if (!takes_any(job, spec))
		return 0;
	if (ask(job, env, spec, &choice, err) < 0)
		return -1;
	if (!choice.need)
		return 0;
	all = look_quickly(env, out->mem, &choice);
	if (!all)
		return 0;
	fault = find_fault(job, all, &choice, out->mem);
	if (fault)
		resources_miss(out, "%s", fault);
	else if (all->count)
		note_choice(env, &choice, spec, out);
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
		const struct device *one = choice->items[i];

		out->names.items[i] = lease_name(one, mem);
		/* A whole device is passed by its number, as frameworks
		 * expect. */
		out->ids.items[i] =
			one->slice && one->uuid
				? one->uuid
				: arena_printf(mem, "%d", one->index);
	}
	out->names.count = out->ids.count = choice->count;
}

int local_devices_set(const struct job *job, const struct provider_env *env,
		      struct arena *mem, struct run_spec *spec,
		      const char **missing, struct error *err)
{
	struct run_devices *out = &spec->devices;
	const struct devices *all;
	struct device_choice choice;
	const char *note;

	if (!takes_any(job, spec))
		return 0;
	if (ask(job, env, spec, &choice, err) < 0)
		return -1;
	if (!choice.need ||
	    (!devices_expected() && how_of(job) != LOCAL_DEVICES_STRICT))
		return 0;
	all = devices_look(mem, err);
	if (!all)
		return error_prefix(err, "jobrun.local.devices");
	choose(all, env->catalogue, &choice);
	*missing = find_fault(job, all, &choice, mem);
	if (*missing || !all->count)
		return 0;
	write_choice(&choice, mem, out);
	out->share = env->share_devices;
	limit_trials(&choice, spec);
	spec->topology.apart = topology_machines(&spec->topology) > 1;
	topology_rank(&spec->topology);
	return lease_folder(store_folder(env->store), mem, &out->folder, &note,
			    err);
}
