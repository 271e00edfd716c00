/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PJRT, the runtime of PyTorch/XLA since 2.0 and of JAX (pytorch.org/xla,
 * "PJRT Runtime"; torch_xla/_internal/tpu.py).  TPU nodes have none.
 */
#include "core/topology/contract.h"

#include <stdio.h>
#include <stdlib.h>

/* Processes of one slice find each other at this port and the following
 * ones. */
#define FIRST_PORT 8476

static bool suits(const struct topology *all, size_t ordinal)
{
	return all->tpu_slice && all->tpu_kind != TPU_NODE && !all->tpu_xrt &&
	       contract_is_ranked(all, ordinal);
}

/* A rehearsal has as many CPU devices: CPU_NUM_DEVICES is PyTorch/XLA's, JAX
 * reads the flag in XLA_FLAGS. */
static void write_cpu(const struct topology *all, struct environment *env)
{
	unsigned each = all->count / topology_machines(all);
	unsigned count = all->devices_per_host / (each ? each : 1);

	count = count ? count : 1;
	environment_set(env, "PJRT_DEVICE", "CPU");
	environment_printf(env, "TPU_NUM_DEVICES", "%u", count);
	environment_printf(env, "CPU_NUM_DEVICES", "%u", count);
	environment_printf(env, "XLA_FLAGS",
			   "--xla_force_host_platform_device_count=%u", count);
}

/* The hosts of its slice, in the order of their numbers. */
static void write_hosts(const struct topology *all, size_t ordinal,
			struct environment *env)
{
	int hosts = (int)topology_slice_hosts(all);
	int slice = all->tasks[ordinal].group / hosts;
	size_t world = topology_world_size(all);
	struct buf text = { 0 };
	size_t i;

	for (i = 0; i < world; i++)
		if (all->tasks[i].local_rank == 0 &&
		    all->tasks[i].group / hosts == slice)
			buf_printf(&text, "%s%s", text.len ? "," : "",
				   all->tasks[i].host);
	environment_set(env, "TPU_WORKER_HOSTNAMES", buf_text(&text));
	buf_done(&text);
}

static int worker_id(const struct topology *all, size_t ordinal)
{
	return all->tasks[ordinal].group % (int)topology_slice_hosts(all);
}

/* The grid of a host's chips; z is 1. */
static void chip_grid(unsigned chips, unsigned *x, unsigned *y)
{
	*x = chips == 1 ? 1 : 2;
	*y = chips / *x;
}

/*
 * For one process per chip.  With one process per host none of this may be set:
 * then PyTorch/XLA starts its own processes, as many as TPU_PROCESS_BOUNDS
 * allows.
 */
static void write_chip(const struct topology *all, size_t ordinal,
		       struct environment *env)
{
	const struct task_place *self = &all->tasks[ordinal];
	int hosts = (int)topology_slice_hosts(all);
	size_t world = topology_world_size(all);
	struct buf text = { 0 };
	unsigned x, y, hx, hy, hz;
	size_t i;

	if (!all->tpu_bounds ||
	    sscanf(all->tpu_bounds, "%u,%u,%u", &hx, &hy, &hz) != 3)
		return;
	chip_grid(all->chips_per_host, &x, &y);
	environment_set(env, "TPU_CHIPS_PER_PROCESS_BOUNDS", "1,1,1");
	environment_printf(env, "TPU_PROCESS_BOUNDS", "%u,%u,%u", hx * x,
			   hy * y, hz);
	environment_printf(env, "CLOUD_TPU_TASK_ID", "%d",
			   worker_id(all, ordinal) * self->local_world +
				   self->local_rank);
	for (i = 0; i < world; i++) {
		const struct task_place *peer = &all->tasks[i];
		char *address;

		if (peer->group / hosts != self->group / hosts)
			continue;
		address = contract_address(peer->host,
					   FIRST_PORT + peer->local_rank);
		buf_printf(&text, "%s%s", text.len ? "," : "", address);
		free(address);
	}
	environment_set(env, "TPU_PROCESS_ADDRESSES", buf_text(&text));
	buf_done(&text);
	environment_printf(env, "TPU_PROCESS_PORT", "%d",
			   FIRST_PORT + self->local_rank);
	environment_printf(env, "TPU_VISIBLE_CHIPS", "%d", self->local_rank);
}

static void write_pjrt(const struct topology *all, size_t ordinal,
		       struct environment *env)
{
	const struct task_place *self = &all->tasks[ordinal];

	if (!suits(all, ordinal))
		return;
	if (all->tpu_kind == TPU_CPU) {
		write_cpu(all, env);
		return;
	}
	environment_set(env, "PJRT_DEVICE", "TPU");
	if (*all->tpu_slice)
		environment_set(env, "TPU_ACCELERATOR_TYPE", all->tpu_slice);
	environment_printf(env, "TPU_WORKER_ID", "%d", worker_id(all, ordinal));
	write_hosts(all, ordinal, env);
	if (self->local_world > 1 &&
	    (unsigned)self->local_world == all->chips_per_host)
		write_chip(all, ordinal, env);
}

/* A slice of one host has no peers.  Names only the first port: a firewall
 * allows those of all processes of a host, or none. */
static const int *ports(const struct topology *all, size_t ordinal)
{
	static const int first[] = { FIRST_PORT, 0 };

	(void)ordinal;
	return all->tpu_kind == TPU_VM && topology_world_size(all) > 1 ? first
								       : NULL;
}

const struct contract contract_pjrt = {
	.name = "pjrt",
	.summary = "PJRT_DEVICE and TPU_*, of PyTorch/XLA and TPU VMs",
	.suits = suits,
	.write = write_pjrt,
	.ports = ports,
};
