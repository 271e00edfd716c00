/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several TPU slices that train together: what libtpu and JAX need to know
 * about the slices, while PJRT's variables describe each slice
 * (jax/_src/clusters/ cloud_tpu_cluster.py;
 * cloud.google.com/tpu/docs/multislice-introduction).
 */
#include "core/topology/contract.h"

#include <stdlib.h>

/* libtpu's default. */
#define PORT 8080

static bool suits(const struct topology *all, size_t ordinal)
{
	return all->tpu_slice && all->tpu_kind == TPU_VM &&
	       all->tpu_slices > 1 && contract_is_ranked(all, ordinal);
}

static void write_slices(const struct topology *all, size_t ordinal,
			 struct environment *env)
{
	char *address;

	if (!suits(all, ordinal))
		return;
	address = contract_address(all->tasks[0].host, PORT);
	environment_set(env, "MEGASCALE_COORDINATOR_ADDRESS", address);
	environment_printf(env, "MEGASCALE_PORT", "%d", PORT);
	environment_printf(env, "MEGASCALE_NUM_SLICES", "%u", all->tpu_slices);
	environment_printf(env, "MEGASCALE_SLICE_ID", "%u",
			   topology_slice_of(all, ordinal));
	free(address);
}

/* The port of the coordinator. */
static const int *ports(const struct topology *all, size_t ordinal)
{
	static const int own[] = { PORT, 0 };

	return all->tasks[ordinal].group == 0 ? own : NULL;
}

const struct contract contract_megascale = {
	.name = "megascale",
	.summary = "MEGASCALE_*, of several slices of TPU VMs",
	.suits = suits,
	.write = write_slices,
	.ports = ports,
};
