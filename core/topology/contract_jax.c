/* SPDX-License-Identifier: Apache-2.0 */
#include "core/topology/contract.h"

#include <stdlib.h>

/*
 * Writes coordinator_address, num_processes and process_id for
 * jax.distributed.initialize().  JAX reads the first by itself (docs.jax.dev,
 * jax.distributed); the others have the names that launchers and programs agree
 * on.  A program has one rendezvous: its port is torch.distributed's.
 */
static void write_coordinator(const struct topology *all, size_t ordinal,
			      struct environment *env)
{
	char *address;

	if (!contract_is_ranked(all, ordinal))
		return;
	address = contract_address(all->tasks[0].host, all->master_port);
	environment_set(env, "JAX_COORDINATOR_ADDRESS", address);
	environment_printf(env, "JAX_NUM_PROCESSES", "%zu",
			   topology_world_size(all));
	environment_printf(env, "JAX_PROCESS_ID", "%zu", ordinal);
	free(address);
}

const struct contract contract_jax = {
	.name = "jax",
	.summary = "JAX_COORDINATOR_ADDRESS and the others of JAX",
	.suits = contract_is_ranked,
	.write = write_coordinator,
};
