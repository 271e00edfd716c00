/* SPDX-License-Identifier: Apache-2.0 */
#include "core/topology/contract.h"

static size_t count_hosts(const struct topology *all)
{
	size_t world = topology_world_size(all), i;
	int hosts = 0;

	for (i = 0; i < world; i++) {
		/* Something else has started its processes. */
		if (all->tasks[i].local_world > 1)
			return 0;
		if (all->tasks[i].group >= hosts)
			hosts = all->tasks[i].group + 1;
	}
	return (size_t)hosts;
}

/*
 * Sets the defaults of torchrun's options (torch/distributed/argparse_util.py:
 * an option NAME has PET_NAME), so that without options it makes one world of
 * all hosts, whose agents meet at the first.
 */
static void write_torchrun(const struct topology *all, size_t ordinal,
			   struct environment *env)
{
	size_t hosts = count_hosts(all);

	if (hosts < 2 || all->standalone || all->tpu_slice)
		return;
	environment_printf(env, "PET_NNODES", "%zu", hosts);
	if (all->accelerators)
		environment_printf(env, "PET_NPROC_PER_NODE", "%u",
				   all->accelerators);
	environment_printf(env, "PET_NODE_RANK", "%d",
			   all->tasks[ordinal].group);
	environment_set(env, "PET_MASTER_ADDR", all->tasks[0].host);
	environment_printf(env, "PET_MASTER_PORT", "%d", all->master_port);
}

/*
 * torch.distributed's environment (pytorch.org, "Distributed communication
 * package", environment variable initialization; torchrun, "Environment
 * Variables"): ranks cover master and workers; local ranks those on one host;
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
	write_torchrun(all, ordinal, env);
}

const struct contract contract_torch = {
	.name = "torch",
	.summary = "MASTER_ADDR, RANK and the others of torch.distributed",
	.suits = contract_is_ranked,
	.write = write_ranks,
};
