/* SPDX-License-Identifier: Apache-2.0 */
#include "core/job/catalogue.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* All entries begin with their names. */
static const void *find(const void *items, size_t count, size_t size,
			const char *name)
{
	const char *at = items;
	const char *entry;

	for (; count > 0; count--, at += size) {
		memcpy(&entry, at, sizeof(entry));
		if (!strcmp(entry, name))
			return at;
	}
	return NULL;
}

const struct tier *catalogue_tier(const struct catalogue *all, const char *name)
{
	return find(all->tiers, all->tier_count, sizeof(*all->tiers), name);
}

const struct machine *catalogue_machine(const struct catalogue *all,
					const char *name,
					const struct machine_family **family)
{
	const struct machine_family *at = all->families;
	const struct machine *machine;
	size_t i;

	for (i = 0; i < all->family_count; i++, at++) {
		machine = find(at->machines, at->machine_count,
			       sizeof(*at->machines), name);
		if (!machine)
			continue;
		if (family)
			*family = at;
		return machine;
	}
	return NULL;
}

const struct accelerator *catalogue_accelerator(const struct catalogue *all,
						const char *type)
{
	return find(all->accelerators, all->accelerator_count,
		    sizeof(*all->accelerators), type);
}

/* The rest after the word and "_", or NULL if the text does not begin with
 * them. */
static const char *behind(const char *text, const char *word)
{
	size_t len = strlen(word);

	return !strncmp(text, word, len) && text[len] == '_' ? text + len + 1
							     : NULL;
}

const struct strategy *catalogue_strategy(const struct catalogue *all,
					  const char *name)
{
	size_t i;

	for (i = 0; name && i < all->strategy_count; i++)
		if (!strcmp(name, all->strategies[i].name))
			return &all->strategies[i];
	return NULL;
}

const struct maker *catalogue_maker(const struct catalogue *all,
				    const char *type)
{
	size_t i;

	for (i = 0; i < all->maker_count; i++)
		if (behind(type, all->makers[i].name))
			return &all->makers[i];
	return NULL;
}

/* However small a node is, this share of it is left. */
#define LEAST_SHARE 0.1

double catalogue_allocatable(const struct catalogue *all, const char *of,
			     double capacity)
{
	double left = capacity;
	size_t i;

	for (i = 0; i < all->node_count; i++) {
		const struct node_share *one = &all->nodes[i];
		double until = one->until > 0 && one->until < capacity
				       ? one->until
				       : capacity;

		if (strcmp(one->of, of) != 0)
			continue;
		left -= one->fixed;
		if (until > one->from)
			left -= one->share * (until - one->from);
	}
	return left > LEAST_SHARE * capacity ? left : LEAST_SHARE * capacity;
}

void catalogue_model(const struct catalogue *all, const char *type, char *out,
		     size_t size)
{
	const struct maker *maker = catalogue_maker(all, type);
	const char *model = maker ? behind(type, maker->name) : type;
	bool digit = false;
	size_t i, n = 0;

	for (i = 0; maker && i < maker->line_count; i++) {
		const char *rest = behind(model, maker->lines[i]);

		model = rest ? rest : model;
	}
	for (; *model && n + 1 < size && !(digit && *model == '_'); model++) {
		digit = digit || isdigit((unsigned char)*model);
		out[n++] = (char)tolower((unsigned char)*model);
	}
	out[n] = '\0';
}

const struct tpu *catalogue_tpu(const struct catalogue *all, const char *type)
{
	const struct tpu *tpu =
		find(all->tpus, all->tpu_count, sizeof(*all->tpus), type);
	size_t i;

	for (i = 0; !tpu && i < all->tpu_count; i++)
		if (all->tpus[i].pod_type &&
		    !strcmp(all->tpus[i].pod_type, type))
			tpu = &all->tpus[i];
	return tpu;
}

const struct slice *tpu_slice(const struct tpu *tpu, unsigned count)
{
	size_t i;

	for (i = 0; i < tpu->slice_count; i++)
		if (tpu->slices[i].count == count)
			return &tpu->slices[i];
	return NULL;
}

const struct slice *catalogue_host_slice(const struct catalogue *all,
					 const struct machine *machine,
					 const struct tpu **tpu)
{
	size_t i;

	if (!machine || !machine->tpu_type || !machine->tpu_chips)
		return NULL;
	*tpu = catalogue_tpu(all, machine->tpu_type);
	for (i = 0; *tpu && i < (*tpu)->slice_count; i++)
		if ((*tpu)->slices[i].hosts == 1 &&
		    (*tpu)->slices[i].chips == machine->tpu_chips)
			return &(*tpu)->slices[i];
	return NULL;
}

/* The chips of a cube's side. */
#define CUBE_SIDE 4

static bool is_listed(const struct tpu *tpu, const char *topology)
{
	char chips[64];
	unsigned x, y, z;
	size_t i;

	for (i = 0; i < tpu->slice_count; i++) {
		const char *one = tpu->slices[i].topology;

		/* Hosts of 2x2x1 chips. */
		if (sscanf(one, "%u,%u,%u", &x, &y, &z) == 3) {
			snprintf(chips, sizeof(chips),
				 tpu->flat ? "%ux%u" : "%ux%ux%u", 2 * x, 2 * y,
				 z);
			one = chips;
		}
		if (!strcmp(one, topology))
			return true;
	}
	return false;
}

bool tpu_has_topology(const struct tpu *tpu, const char *topology)
{
	unsigned x, y, z;
	char rest;

	if (is_listed(tpu, topology))
		return true;
	/* The sides are whole cubes, in ascending order. */
	return tpu->cubes &&
	       sscanf(topology, "%ux%ux%u%c", &x, &y, &z, &rest) == 3 && x &&
	       x <= y && y <= z && z <= CUBE_SIDE * tpu->cubes &&
	       x % CUBE_SIDE == 0 && y % CUBE_SIDE == 0 && z % CUBE_SIDE == 0 &&
	       x / CUBE_SIDE * (y / CUBE_SIDE) * (z / CUBE_SIDE) <= tpu->cubes;
}

const struct slice *catalogue_slice(const struct catalogue *all,
				    const char *name, const struct tpu **tpu)
{
	const struct slice *slice;
	size_t i;

	for (i = 0; i < all->tpu_count; i++) {
		*tpu = &all->tpus[i];
		slice = find((*tpu)->slices, (*tpu)->slice_count,
			     sizeof(*(*tpu)->slices), name);
		if (slice)
			return slice;
	}
	return NULL;
}

const struct region *catalogue_region(const struct catalogue *all,
				      const char *name, bool *training)
{
	const struct region_group *at = all->region_groups;
	const struct region *region;
	size_t i;

	for (i = 0; i < all->region_group_count; i++, at++) {
		region = find(at->regions, at->region_count,
			      sizeof(*at->regions), name);
		if (!region)
			continue;
		if (training)
			*training = at->training;
		return region;
	}
	return NULL;
}

const struct runtime *catalogue_runtime(const struct catalogue *all,
					const char *version)
{
	return find(all->runtimes, all->runtime_count, sizeof(*all->runtimes),
		    version);
}

const struct fit *accelerator_fit(const struct accelerator *accelerator,
				  const char *machine)
{
	size_t i;

	for (i = 0; i < accelerator->fit_count; i++) {
		const struct fit *fit = &accelerator->fits[i];

		if (find(fit->machines, fit->machine_count,
			 sizeof(*fit->machines), machine))
			return fit;
	}
	return NULL;
}

bool fit_has(const struct fit *fit, long count)
{
	size_t i;

	for (i = 0; i < fit->count_count; i++)
		if ((long)fit->counts[i] == count)
			return true;
	return false;
}

const struct region *catalogue_zone(const struct catalogue *all,
				    const char *zone)
{
	const char *suffix = strrchr(zone, '-');
	char name[64];
	size_t n;

	/* REGION-LETTER, REGION-aiNLETTER */
	if (!suffix || (size_t)(suffix - zone) >= sizeof(name))
		return NULL;
	n = (size_t)(suffix - zone);
	suffix++;
	if (!strncmp(suffix, "ai", 2) && strspn(suffix + 2, "0123456789"))
		suffix += 2 + strspn(suffix + 2, "0123456789");
	if (*suffix < 'a' || *suffix > 'z' || suffix[1])
		return NULL;
	memcpy(name, zone, n);
	name[n] = '\0';
	return catalogue_region(all, name, NULL);
}

const struct container *catalogue_container(const struct catalogue *all,
					    const char *runtime,
					    const char *python,
					    enum device_kind device)
{
	size_t i;

	for (i = 0; i < all->container_count; i++) {
		const struct container *container = &all->containers[i];

		if (container->device == device &&
		    !strcmp(container->runtime, runtime) &&
		    (!python || !strcmp(container->python, python)))
			return container;
	}
	return NULL;
}
