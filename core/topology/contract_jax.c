/* SPDX-License-Identifier: Apache-2.0 */
#include "core/topology/contract.h"

#include <stdlib.h>

/* Each of several processes on a host has its own devices
 * (jax/_src/distributed.py, local_device_ids); the last may have more. */
static void write_devices(const struct topology *all,
			  const struct task_place *self,
			  struct environment *env)
{
	int each = self->local_world > 1
			   ? (int)all->accelerators / self->local_world
			   : 0;
	struct buf text = { 0 };
	int i;

	if (!each)
		return;
	for (i = 0; i < each; i++)
		buf_printf(&text, "%s%d", i ? "," : "",
			   self->local_rank * each + i);
	environment_set(env, "JAX_LOCAL_DEVICE_IDS", buf_text(&text));
	buf_done(&text);
}

/*
 * Writes coordinator_address, num_processes and process_id for
 * jax.distributed.initialize().  JAX itself reads the first (docs.jax.dev,
 * jax.distributed); the others have the names that launchers and programs agree
 * on.  A program has one rendezvous, so the port is torch.distributed's.
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
	write_devices(all, &all->tasks[ordinal], env);
	free(address);
}

const struct contract contract_jax = {
	.name = "jax",
	.summary = "JAX_COORDINATOR_ADDRESS and the others of JAX",
	.suits = contract_is_ranked,
	.write = write_coordinator,
};
