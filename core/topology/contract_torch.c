/* SPDX-License-Identifier: Apache-2.0 */
#include "core/topology/contract.h"

/*
 * torch.distributed's environment (pytorch.org, "Distributed communication
 * package", environment variable initialization; torchrun, "Environment
 * Variables"): ranks count master and workers; local ranks those on one host;
 * groups are hosts.
 */
static void write_ranks(const struct topology *all, size_t ordinal,
			struct environment *env)
{
	const struct task_place *self = &all->tasks[ordinal];

	if (!contract_is_ranked(all, ordinal))
		return;
	environment_set(env, "MASTER_ADDR", all->tasks[0].host);
	environment_printf(env, "MASTER_PORT", "%d", all->master_port);
	environment_printf(env, "RANK", "%zu", ordinal);
	environment_printf(env, "WORLD_SIZE", "%zu", topology_world_size(all));
	environment_printf(env, "LOCAL_RANK", "%d", self->local_rank);
	environment_printf(env, "LOCAL_WORLD_SIZE", "%d", self->local_world);
	environment_printf(env, "GROUP_RANK", "%d", self->group);
}

const struct contract contract_torch = {
	.name = "torch",
	.summary = "MASTER_ADDR, RANK and the others of torch.distributed",
	.suits = contract_is_ranked,
	.write = write_ranks,
};
