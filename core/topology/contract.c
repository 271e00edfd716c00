/* SPDX-License-Identifier: Apache-2.0 */
#include "core/topology/contract.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/json.h"

const struct contract *const contracts[] = {
	&contract_tf_config,    &contract_tpu_config,
	&contract_cluster_spec, &contract_cloud_ml,
	&contract_torch,        &contract_xrt,
	&contract_pjrt,         &contract_megascale,
	&contract_jax,          NULL,
};

const struct contract *contract_find(const char *name, struct error *err)
{
	struct buf names = { 0 };
	size_t i;

	for (i = 0; contracts[i]; i++)
		if (!strcmp(contracts[i]->name, name))
			return contracts[i];
	for (i = 0; contracts[i]; i++)
		buf_printf(&names, "%s%s", i ? ", " : "", contracts[i]->name);
	error_set(err, ERROR_USAGE, "unknown contract '%s'; known are %s", name,
		  buf_text(&names));
	buf_done(&names);
	return NULL;
}

bool contract_suits(const struct contract *contract, const struct topology *all,
		    size_t ordinal)
{
	return !contract->suits || contract->suits(all, ordinal);
}

void contract_write(const struct topology *all, size_t ordinal,
		    struct environment *env)
{
	size_t i;

	for (i = 0; contracts[i]; i++)
		if (contract_suits(contracts[i], all, ordinal))
			contracts[i]->write(all, ordinal, env);
}

static void add_port(int port, int *ports, size_t *count)
{
	size_t at = *count;

	while (at && ports[at - 1] > port)
		at--;
	if (*count == CONTRACT_PORTS_MAX || (at && ports[at - 1] == port))
		return;
	memmove(ports + at + 1, ports + at, (*count - at) * sizeof(*ports));
	ports[at] = port;
	++*count;
}

size_t contract_ports(const struct topology *all, size_t ordinal,
		      int ports[CONTRACT_PORTS_MAX])
{
	size_t count = 0, i;

	for (i = 0; contracts[i]; i++) {
		const struct contract *one = contracts[i];
		const int *port = NULL;

		if (one->ports && contract_suits(one, all, ordinal))
			port = one->ports(all, ordinal);
		for (; port && *port; port++)
			add_port(*port, ports, &count);
	}
	return count;
}

void contract_share(struct topology *all, struct arena *mem)
{
	size_t i;

	for (i = 0; contracts[i]; i++)
		if (contracts[i]->share)
			contracts[i]->share(all, mem);
}

char *contract_cluster_text(const struct topology *all, contract_name_fn *name,
			    bool evaluators)
{
	json_t *cluster = json_object();
	char *text;
	size_t i;

	for (i = 0; i < all->count; i++) {
		const struct task_place *peer = &all->tasks[i];
		const char *type = name(all, peer->type);
		json_t *list = json_object_get(cluster, type);

		if (peer->type == TASK_EVALUATOR && !evaluators)
			continue;
		if (!list) {
			list = json_array();
			json_put(cluster, type, list);
		}
		text = contract_address(peer->host, peer->port);
		json_array_append_new(list, json_text(text));
		free(text);
	}
	text = json_dumps(cluster, JSON_COMPACT);
	json_decref(cluster);
	return text;
}

json_t *contract_task(const struct topology *all, const struct task_place *self,
		      contract_name_fn *name)
{
	json_t *config = json_object();
	json_t *task = json_object();

	json_put_text(config, "environment", "cloud");
	json_put_text(task, "type", name(all, self->type));
	json_put_int(task, "index", self->index);
	if (all->trial_id)
		json_put_text(task, "trial", all->trial_id);
	json_put(config, "task", task);
	return config;
}

void contract_set_cluster(struct environment *env, const char *name,
			  const char *cluster, json_t *config)
{
	char *rest = json_dumps(config, JSON_COMPACT);

	environment_printf(env, name, "{\"cluster\":%s,%s", cluster, rest + 1);
	free(rest);
	json_decref(config);
}

char *contract_address(const char *host, int port)
{
	return mem_printf(strchr(host, ':') ? "[%s]:%d" : "%s:%d", host, port);
}

bool contract_is_ranked(const struct topology *all, size_t ordinal)
{
	return ordinal < all->count && all->tasks[ordinal].type <= TASK_WORKER;
}

void contract_hostfile(const struct topology *all, struct buf *out)
{
	size_t world = topology_world_size(all);
	size_t i;

	for (i = 0; i < world; i++)
		if (all->tasks[i].local_rank == 0)
			buf_printf(out, "%s slots=%d\n", all->tasks[i].host,
				   all->tasks[i].local_world);
}
