/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PyTorch/XLA's first runtime, XRT, exactly as its pod launcher xla_dist set it
 * up (pytorch/xla r1.13, torch_xla/distributed/xla_dist.py,
 * torch_xla/core/xla_env_vars.py); for one host, as its README and API guide
 * did.
 *
 * On TPU VMs it is written only on request, by name or with `tpu_xrt`: since
 * PyTorch/XLA 2.0 programs use PJRT there, and TPU_HOST_BOUNDS would keep that
 * from starting a process for each chip.
 */
#include "core/topology/contract.h"

#include <stdlib.h>

/* The ports of xla_dist. */
#define SERVER_PORT CONTRACT_XRT_PORT
#define MESH_PORT 8477
#define TPU_PORT 8470
#define CONTROLLER_PORT 8476

static bool suits(const struct topology *all, size_t ordinal)
{
	return all->tpu_slice &&
	       (all->tpu_kind == TPU_NODE ? all->tpu_host_count > 0
					  : all->tpu_xrt) &&
	       contract_is_ranked(all, ordinal);
}

/* The number of the TPU's hosts; for TPU VMs without names, of the tasks'
 * hosts. */
static size_t host_count(const struct topology *all)
{
	size_t world = topology_world_size(all);

	if (all->tpu_host_count || !all->tpu_xrt || !world)
		return all->tpu_host_count;
	return (size_t)all->tasks[world - 1].group + 1;
}

static const char *host_ip(const struct topology *all, size_t host)
{
	size_t i = 0;

	if (all->tpu_host_count)
		return all->tpu_hosts[host].ip;
	while ((size_t)all->tasks[i].group != host)
		i++;
	return all->tasks[i].host;
}

/* The hosts of the TPU as XRT_TPU_CONFIG lists them. */
static void write_workers(const struct topology *all, struct environment *env)
{
	struct buf text = { 0 };
	size_t count = host_count(all), i;

	for (i = 0; i < count; i++) {
		bool node = all->tpu_kind == TPU_NODE;
		char *address = contract_address(host_ip(all, i),
						 node ? all->tpu_hosts[i].port
						      : SERVER_PORT);

		buf_printf(&text, "%s%s;%zu;%s", i ? "|" : "",
			   node ? "c_tpu_worker" : "c_localservice", i,
			   address);
		free(address);
	}
	environment_set(env, "XRT_TPU_CONFIG", buf_text(&text));
	buf_done(&text);
}

static void write_one_host(const struct topology *all, struct environment *env)
{
	const struct tpu_place *host = &all->tpu_hosts[0];
	char *address;

	if (all->tpu_kind == TPU_VM) {
		environment_printf(env, "XRT_TPU_CONFIG",
				   "localservice;0;localhost:%d", SERVER_PORT);
		return;
	}
	address = contract_address(host->ip, host->port);
	environment_printf(env, "XRT_TPU_CONFIG", "tpu_worker;0;%s", address);
	free(address);
	environment_set(env, "TPU_IP_ADDRESS", host->ip);
}

/* Writes the variables for hosts with their own TPUs. */
static void write_tpu_vm(const struct topology *all, int host,
			 struct environment *env)
{
	char *controller =
		contract_address(all->tasks[0].host, CONTROLLER_PORT);

	environment_set(env, "TPUVM_MODE", "1");
	environment_printf(env, "CLOUD_TPU_TASK_ID", "%d", host);
	environment_set(env, "TPU_CHIPS_PER_HOST_BOUNDS", "2,2,1");
	if (all->tpu_bounds)
		environment_set(env, "TPU_HOST_BOUNDS", all->tpu_bounds);
	environment_set(env, "TPU_MESH_CONTROLLER_ADDRESS", controller);
	environment_printf(env, "TPU_MESH_CONTROLLER_PORT", "%d",
			   CONTROLLER_PORT);
	free(controller);
}

static void write_pod(const struct topology *all, int host,
		      struct environment *env)
{
	char *mesh = contract_address(all->tasks[0].host, MESH_PORT);

	environment_printf(env, "XRT_LOCAL_WORKER", "%s:%d",
			   all->tpu_kind == TPU_NODE ? "c_tpu_worker"
						     : "c_localservice",
			   host);
	environment_set(env, "XRT_MESH_SERVICE_ADDRESS", mesh);
	environment_printf(env, "XRT_SHARD_WORLD_SIZE", "%zu", host_count(all));
	environment_printf(env, "XRT_SHARD_ORDINAL", "%d", host);
	environment_set(env, "XLA_EMIT_STEPLOG", "1");
	if (host == 0)
		write_workers(all, env);
	if (all->tpu_kind == TPU_VM)
		write_tpu_vm(all, host, env);
	free(mesh);
}

static void write_xrt(const struct topology *all, size_t ordinal,
		      struct environment *env)
{
	size_t hosts = host_count(all);

	if (!all->tpu_slice || all->tpu_kind == TPU_CPU || !hosts ||
	    !contract_is_ranked(all, ordinal))
		return;
	/* Without a server, the program itself serves. */
	if (hosts == 1 && !all->tpu_xrt)
		write_one_host(all, env);
	else
		write_pod(all, all->tasks[ordinal].group, env);
	if (all->devices_per_host)
		environment_printf(env, "TPU_NUM_DEVICES", "%u",
				   all->devices_per_host);
}

/* Google's page on pods has the user check the mesh port between all VMs of the
 * group, whichever is its master; firewall rules for TPUs must allow both. */
static const int *ports(const struct topology *all, size_t ordinal)
{
	static const int node[] = { TPU_PORT, MESH_PORT, 0 };
	/* Servers of an earlier run may hold these ports. */
	static const int vm[] = { MESH_PORT, 0 };

	(void)ordinal;
	if (host_count(all) < 2)
		return NULL;
	return all->tpu_kind == TPU_NODE ? node : vm;
}

const struct contract contract_xrt = {
	.name = "xrt",
	.summary = "XRT_TPU_CONFIG and the others of PyTorch/XLA before 2.0",
	.suits = suits,
	.write = write_xrt,
	.ports = ports,
};
