/* SPDX-License-Identifier: Apache-2.0 */
/* The slots where trials run, one after the other in each. */
#include "core/supervise/tuner_internal.h"

#include <stdlib.h>

static bool is_on_hosts(const struct tuner *t)
{
	return t->deps.spec->hosts.names.count;
}

size_t trial_slot_count(const struct tuner *t)
{
	return (size_t)t->spec->max_parallel_trials;
}

long trial_slot_find(const struct tuner *t)
{
	for (size_t i = 0; i < trial_slot_count(t); i++)
		if (!t->slots[i].busy && !t->slots[i].bad)
			return (long)i;
	return -1;
}

bool trial_slot_any(const struct tuner *t)
{
	for (size_t i = 0; i < trial_slot_count(t); i++)
		if (!t->slots[i].bad)
			return true;
	return false;
}

/* Chooses the hosts of a slot: its own, as long as there are enough. */
static int choose_hosts(struct trial *trial, struct error *err)
{
	struct run_spec *spec = &trial->context.spec;
	size_t hosts = spec->hosts.names.count;
	size_t machines = topology_machines(&spec->topology);
	size_t each = machines < hosts ? machines : hosts;

	return spec_rotate_hosts(spec, trial->slot * each % hosts,
				 trial->tuner->deps.mem, err);
}

/* Gives the slot its part of the devices that the run holds; all parts have the
 * same size. */
static void choose_devices(struct trial *trial)
{
	const struct strings *all = &trial->tuner->deps.spec->devices.held;
	struct strings *own = &trial->context.spec.devices.held;
	size_t need = spec_devices_needed(&trial->context.spec);

	*own = (struct strings){ 0 };
	if ((trial->slot + 1) * need <= all->count)
		*own = (struct strings){
			.items = all->items + trial->slot * need,
			.count = need,
		};
}

int trial_slot_enter(struct trial *trial, size_t index, struct error *err)
{
	struct trial_slot *slot = &trial->tuner->slots[index];
	struct run_spec *spec = &trial->context.spec;

	slot->busy = true;
	trial->slot = index;
	choose_devices(trial);
	if (!is_on_hosts(trial->tuner))
		return 0;
	if (choose_hosts(trial, err) < 0)
		return -1;
	spec->hosts.slot = (long)index;
	trial->context.backend = slot->backend;
	slot->backend = NULL;
	if (!slot->hosts)
		return 0;
	/* Agents know the backend by its name, and report addresses only
	 * once. */
	spec->hosts.nonce = slot->hosts->nonce;
	spec->hosts.rounds = slot->hosts->rounds;
	for (size_t i = 0; i < spec->topology.count; i++) {
		spec->topology.tasks[i].host = slot->topology->tasks[i].host;
		spec->topology.tasks[i].port = slot->topology->tasks[i].port;
	}
	spec->topology.master_port = slot->topology->master_port;
	return 0;
}

void trial_slot_leave(struct trial *trial)
{
	struct trial_slot *slot = &trial->tuner->slots[trial->slot];

	slot->busy = false;
	if (!is_on_hosts(trial->tuner))
		return;
	slot->hosts = &trial->context.spec.hosts;
	slot->topology = &trial->context.spec.topology;
	/* The next trial in this slot would fail, too. */
	slot->bad = trial->record.state == RUN_FAILED && !trial->ran;
	if (slot->bad)
		return;
	slot->backend = trial->context.backend;
	trial->context.backend = NULL;
}

void trial_slot_remember(struct trial *trial)
{
	struct run_hosts *hosts = &trial->context.spec.hosts;
	struct trial_slot *slot;

	if (hosts->slot < 0 ||
	    (size_t)hosts->slot >= trial_slot_count(trial->tuner))
		return;
	trial->slot = (size_t)hosts->slot;
	slot = &trial->tuner->slots[trial->slot];
	slot->hosts = hosts;
	slot->topology = &trial->context.spec.topology;
	slot->busy = !trial->final;
	/* `rounds` counts the rounds before the current one. */
	if (trial->final)
		hosts->rounds++;
}

void trial_slots_done(struct tuner *t)
{
	for (size_t i = 0; i < trial_slot_count(t); i++)
		if (t->slots[i].backend)
			t->slots[i].backend->ops->free(t->slots[i].backend);
	free(t->slots);
}
