/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/vertexai/vertexai_fit.h"

#include <string.h>

#include "core/base/alloc.h"
#include "core/job/job.h"
#include "core/job/machines.h"
#include "core/job/misfit.h"
#include "providers/vertexai/vertexai_block.h"

#define DAY_S 86400
#define STRATEGY "jobrun.vertex-ai.strategy"

const char *const vertex_strategy_names[] = { "STANDARD", "SPOT", "FLEX_START",
					      NULL };

struct vertex_fit {
	const struct job *job;
	const struct catalogue *catalogue;
	const struct vertex_ai_block *block;
	const struct strategy *how; /* or NULL */
	struct machine_groups machines;
	struct misfits *out;
};

/* "A, B": the accelerators that are had by FLEX_START. */
static const char *name_given(const struct vertex_fit *fit)
{
	const struct catalogue *all = fit->catalogue;
	const char *names = "";
	size_t i;

	for (i = 0; i < all->accelerator_count; i++)
		if (all->accelerators[i].flex_start)
			names = arena_printf(fit->out->mem, "%s%s%s", names,
					     *names ? ", " : "",
					     all->accelerators[i].type);
	return names;
}

/* Machines and accelerators that the catalogue does not know may be newer than
 * it. */
static bool is_given(const struct vertex_fit *fit,
		     const struct machine_group *group)
{
	const char *type = group->accelerator_type;
	const struct accelerator *known;

	if (group->tpu)
		return false;
	if (!type)
		return !group->machine;
	known = catalogue_accelerator(fit->catalogue, type);
	return !known || known->flex_start;
}

static void check_accelerators(const struct vertex_fit *fit)
{
	size_t i;

	for (i = 0; i < fit->machines.count; i++) {
		const struct machine_group *group = &fit->machines.items[i];
		const char *type = group->accelerator_type;

		if (is_given(fit, group))
			continue;
		misfit_add(fit->out, true, STRATEGY,
			   "set strategy STANDARD or SPOT, or machines with "
			   "one of these GPUs",
			   "%s has machines with %s only, not %s",
			   fit->how->name, name_given(fit),
			   type ? type : "without GPUs");
		return;
	}
}

static const char *text_or_none(const char *text)
{
	return text ? text : "none";
}

static void check_one_machine(const struct vertex_fit *fit)
{
	const struct machine_group *first = &fit->machines.items[0];
	size_t i;

	for (i = 1; i < fit->machines.count; i++) {
		const struct machine_group *group = &fit->machines.items[i];

		if (!first->type || !group->type || group->tpu ||
		    (!strcmp(first->type, group->type) &&
		     first->accelerator_count == group->accelerator_count &&
		     !strcmp(text_or_none(first->accelerator_type),
			     text_or_none(group->accelerator_type))))
			continue;
		misfit_add(fit->out, true, STRATEGY,
			   "give all tasks one machine type and the same GPUs",
			   "%s gives all tasks the same machine: %sType %s and "
			   "%sType %s differ, or their accelerators",
			   fit->how->name, role_name(first->role), first->type,
			   role_name(group->role), group->type);
		return;
	}
}

static void check_time(const struct vertex_fit *fit)
{
	long limit_s = fit->how->max_days * (long)DAY_S;

	if (limit_s &&
	    fit->job->training_input.scheduling.max_running_time_s > limit_s)
		misfit_add(fit->out, true,
			   "trainingInput.scheduling.maxRunningTime",
			   arena_printf(fit->out->mem,
					"set %lds at most, and go on from a "
					"checkpoint in another run",
					limit_s),
			   "%s gives machines for %u days at most",
			   fit->how->name, fit->how->max_days);
}

/* Returns the zone of "projects/P/zones/Z/reservations/R", with or without
 * "/reservationBlocks/B" and "/reservationSubBlocks/S", or NULL. */
static const char *zone_of(const char *name, struct arena *mem)
{
	static const char *const kinds[] = { "projects", "zones",
					     "reservations",
					     "reservationBlocks",
					     "reservationSubBlocks" };
	const char *zone = NULL;
	size_t n = 0;

	while (n < COUNT(kinds) && *name) {
		size_t len = strlen(kinds[n]);
		const char *value = name + len + 1;

		if (strncmp(name, kinds[n], len) != 0 || name[len] != '/' ||
		    !strcspn(value, "/"))
			return NULL;
		len = strcspn(value, "/");
		if (n++ == 1)
			zone = arena_printf(mem, "%.*s", (int)len, value);
		name = value + len + (value[len] == '/');
		if (!*name && value[len])
			return NULL;
	}
	return n >= 3 && !*name ? zone : NULL;
}

static bool is_zone_of(const char *zone, const char *region)
{
	const char *dash = strrchr(zone, '-');

	return dash && (size_t)(dash - zone) == strlen(region) &&
	       !strncmp(zone, region, strlen(region));
}

static void check_reservation(const struct vertex_fit *fit, size_t i)
{
	const struct strings *all = &fit->block->reservation;
	const char *region = fit->job->training_input.region;
	const char *name = all->items[i];
	const char *zone = zone_of(name, fit->out->mem);
	const char *path = arena_printf(fit->out->mem,
					"jobrun.vertex-ai.reservation[%zu]", i);

	if (!strcmp(name, "any") || !strcmp(name, "none")) {
		if (all->count > 1)
			misfit_add(fit->out, true, path,
				   "remove it, or the names of reservations",
				   "\"%s\" in \"reservation\" stands alone",
				   name);
	} else if (!zone) {
		misfit_add(fit->out, true, path,
			   "projects/PROJECT/zones/ZONE/reservations/NAME; or "
			   "any; or none",
			   "\"%s\" in \"reservation\" is not the full name of "
			   "a reservation",
			   name);
	} else if (region && !is_zone_of(zone, region)) {
		misfit_add(fit->out, true, path,
			   "take one in a zone of the job's region",
			   "\"%s\" in \"reservation\" is in zone %s, and the "
			   "job in region %s",
			   name, zone, region);
	}
}

static bool has_reservation(const struct vertex_fit *fit)
{
	const struct strings *all = &fit->block->reservation;

	return all->count && strcmp(all->items[0], "none") != 0;
}

/* Without a strategy in the file, or with one that was refused, that is. */
static const char *name_way(const struct vertex_fit *fit)
{
	return fit->block->strategy ? fit->block->strategy
				    : vertex_strategy_names[0];
}

static void check_wait(const struct vertex_fit *fit)
{
	if (message_has(&vertex_ai_message, fit->block, "maxWait") &&
	    !message_refused(&vertex_ai_message, fit->block, "strategy") &&
	    !(fit->how && fit->how->waits))
		misfit_add(fit->out, false, "jobrun.vertex-ai.maxWait",
			   "'jobrun wait --timeout' gives up on a job",
			   "\"maxWait\" has no effect with strategy %s: only "
			   "FLEX_START waits for machines",
			   name_way(fit));
}

/* "SPOT, FLEX_START or a reservation". */
static const char *name_ways(const struct machine *machine, struct arena *mem)
{
	const char *const all[] = {
		machine->by_spot ? "strategy SPOT" : NULL,
		machine->by_flex_start ? "strategy FLEX_START" : NULL,
		machine->by_reservation ? "a reservation" : NULL,
	};
	const char *out = "";
	size_t i;

	for (i = 0; i < COUNT(all); i++)
		if (all[i])
			out = arena_printf(mem, "%s%s%s", out,
					   *out ? " or " : "", all[i]);
	return out;
}

static bool is_had(const struct vertex_fit *fit, const struct machine *machine)
{
	const char *way = name_way(fit);

	if (!machine->by_spot && !machine->by_flex_start &&
	    !machine->by_reservation)
		return true;
	return (machine->by_reservation && has_reservation(fit)) ||
	       (machine->by_spot && !strcmp(way, "SPOT")) ||
	       (machine->by_flex_start && !strcmp(way, "FLEX_START"));
}

/* A machine that the service's own list lacks may have come to it since. */
static void check_machines(const struct vertex_fit *fit)
{
	size_t i;

	for (i = 0; i < fit->machines.count; i++) {
		const struct machine_group *group = &fit->machines.items[i];

		if (group->machine && group->machine->not_at_vertex)
			misfit_add(
				fit->out, false,
				arena_printf(fit->out->mem,
					     "trainingInput.%sType",
					     role_name(group->role)),
				"Compute Engine and GKE have it",
				"Vertex AI has no %s: the catalogue is of %s",
				group->machine->name,
				fit->catalogue->date ? fit->catalogue->date
						     : "an unknown date");
	}
}

/* Whether the version is one of AI Platform's, or has a container. */
static bool is_runtime(const struct catalogue *all, const char *version)
{
	size_t i;

	for (i = 0; i < all->container_count; i++)
		if (!strcmp(all->containers[i].runtime, version))
			return true;
	return catalogue_runtime(all, version) != NULL;
}

/* Without an image the runtime version chooses a prebuilt container. */
static void check_runtime(const struct vertex_fit *fit)
{
	const struct training_input *in = &fit->job->training_input;

	if (!in->runtime_version || in->master_config.image_uri ||
	    fit->block->executor_image ||
	    is_runtime(fit->catalogue, in->runtime_version))
		return;
	misfit_add(fit->out, true, "trainingInput.runtimeVersion",
		   "set masterConfig.imageUri, or executorImage in "
		   "jobrun.vertex-ai",
		   "Vertex AI has no prebuilt container of runtime %s",
		   in->runtime_version);
}

/* Machines of a persistent resource were had before. */
static void check_ways(const struct vertex_fit *fit)
{
	struct arena *mem = fit->out->mem;
	size_t i;

	if (fit->block->persistent_resource || fit->block->head.refused)
		return;
	for (i = 0; i < fit->machines.count; i++) {
		const struct machine_group *group = &fit->machines.items[i];

		if (!group->machine || is_had(fit, group->machine))
			continue;
		misfit_add(fit->out, false,
			   arena_printf(mem, "trainingInput.%sType",
					role_name(group->role)),
			   arena_printf(mem, "set %s in jobrun.vertex-ai",
					!group->machine->by_reservation
						? "\"strategy\""
					: group->machine->by_spot
						? "\"strategy\" or "
						  "\"reservation\""
						: "\"reservation\""),
			   "%s is had by %s only", group->machine->name,
			   name_ways(group->machine, mem));
	}
}

void vertex_ai_fit(const struct job *job, const struct catalogue *catalogue,
		   struct misfits *out)
{
	struct vertex_fit fit = {
		.job = job,
		.catalogue = catalogue,
		.block = job_block(job, "vertex-ai"),
		.out = out,
	};
	const struct machine_group *tpu;
	struct error ignored;
	size_t i;

	if (!fit.block)
		return;
	fit.how = catalogue_strategy(catalogue, fit.block->strategy);
	/* What is wrong with the machines themselves, other rules say. */
	if (machines_of(job, catalogue, &fit.machines, &ignored) < 0)
		fit.machines.count = 0;
	tpu = machines_find(&fit.machines, ROLE_WORKER);
	/* Beside a TPU there is no other machine. */
	if (tpu && tpu->tpu) {
		fit.machines.items[0] = *tpu;
		fit.machines.count = 1;
	}
	if (fit.how && fit.how->some_accelerators)
		check_accelerators(&fit);
	if (fit.how && fit.how->one_machine)
		check_one_machine(&fit);
	if (fit.how)
		check_time(&fit);
	if (fit.how && fit.how->no_reservation && has_reservation(&fit))
		misfit_add(out, false, "jobrun.vertex-ai.reservation",
			   "remove it, or use strategy STANDARD",
			   "%s takes no machines from a reservation",
			   fit.how->name);
	for (i = 0; i < fit.block->reservation.count; i++)
		check_reservation(&fit, i);
	check_wait(&fit);
	check_ways(&fit);
	check_machines(&fit);
	check_runtime(&fit);
}
