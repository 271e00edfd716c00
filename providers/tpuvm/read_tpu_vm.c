/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A TPU VM, as its metadata server describes it (torch_xla/_internal/tpu.py,
 * jax/_src/clusters/cloud_tpu_cluster.py).  Each host of the slice has one
 * task.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/units.h"
#include "core/topology/topology_read.h"
#include "providers/tpuvm/tpuvm.h"

#define ATTRIBUTE(name) "instance/attributes/" name

static int get(const struct surroundings *at, const char *path,
	       struct arena *mem, const char **out, struct error *err)
{
	*out = NULL;
	if (at->metadata(at->arg, path, mem, out, err) < 0)
		return error_prefix(err, "metadata server, %s", path);
	return 0;
}

static bool detects(const struct surroundings *at)
{
	struct arena *mem;
	struct error ignored;
	const char *type;
	bool found;

	if (!at->metadata || !at->has_metadata || !at->has_metadata(at->arg))
		return false;
	mem = arena_new();
	/* Other machines of Google's lack this attribute. */
	found = get(at, ATTRIBUTE("accelerator-type"), mem, &type, &ignored) ==
			0 &&
		type;
	arena_free(mem);
	return found;
}

/* Returns the value of a line "KEY: 'value'" of tpu-env; NULL if there is
 * none. */
static const char *tpu_env(const char *text, const char *key, struct arena *mem)
{
	size_t len = strlen(key);
	const char *line, *end, *from;

	for (line = text; *line; line = *end ? end + 1 : end) {
		end = line + strcspn(line, "\n");
		from = line + len;
		if (strncmp(line, key, len) != 0 || *from != ':')
			continue;
		from += 1 + strspn(from + 1, " '\"");
		return arena_strndup(mem, from, strcspn(from, "'\"\r\n"));
	}
	return NULL;
}

/* Reads "NAME:UID:IP,…", in the order of the workers. */
static int read_hosts(const char *text, struct arena *mem, const char ***hosts,
		      size_t *count, struct error *err)
{
	const char *p, *end;
	const char **list;
	size_t n = 1;

	for (p = text; *p; p++)
		n += *p == ',';
	if (n > TOPOLOGY_TASK_MAX)
		return error_set(err, ERROR_INVALID,
				 "worker-network-endpoints has more than %d "
				 "hosts",
				 TOPOLOGY_TASK_MAX);
	list = arena_alloc(mem, n * sizeof(*list));
	for (n = 0, p = text;; p = end + 1) {
		const char *ip = p;
		size_t fields = 0;
		size_t len;

		end = p + strcspn(p, ",");
		/* The address is the rest after two colons, as an IPv6 address
		 * has colons itself. */
		for (; ip < end && fields < 2; ip++)
			fields += *ip == ':';
		len = strcspn(ip, ", \r\n");
		if (fields < 2 || !len)
			return error_set(err, ERROR_INVALID,
					 "worker-network-endpoints: '%.*s' is "
					 "no NAME:UID:IP",
					 (int)(end - p), p);
		list[n++] = arena_strndup(mem, ip, len);
		if (!*end)
			break;
	}
	*hosts = list;
	*count = n;
	return 0;
}

static int read_self(const char *number, const char *env, size_t count,
		     struct arena *mem, size_t *self, struct error *err)
{
	const char *text = number ? number : tpu_env(env, "WORKER_ID", mem);
	long index = 0;

	if (!text && count > 1)
		return error_set(err, ERROR_INVALID,
				 "the metadata server does not say which of "
				 "the slice's %zu workers this is",
				 count);
	if (text && number_parse(text, 0, (long)count - 1, &index, err) < 0) {
		err->code = ERROR_INVALID;
		return error_prefix(err, "agent-worker-number");
	}
	*self = (size_t)index;
	return 0;
}

static void set_tpu(const struct surroundings *at, const char *type,
		    const char *env, const char *const *hosts, size_t count,
		    struct arena *mem, struct topology *out)
{
	const char *bounds = tpu_env(env, "TPU_PROCESS_BOUNDS", mem);
	const char *name = tpu_env(env, "NODE_ID", mem);
	struct tpu_place *places = arena_alloc(mem, count * sizeof(*places));
	size_t i;

	if (!bounds)
		bounds = tpu_env(env, "HOST_BOUNDS", mem);
	topology_set_slice(out, at->catalogue, type, mem);
	out->tpu_kind = TPU_VM;
	/* The machine's own data take precedence over the catalogue. */
	if (bounds)
		out->tpu_bounds = bounds;
	for (i = 0; i < count; i++)
		places[i].ip = hosts[i];
	out->tpu_hosts = places;
	out->tpu_host_count = count;
	out->job_id = name && *name ? name : "job";
}

static int read(const struct surroundings *at, struct arena *mem,
		struct topology *out, size_t *self, struct error *err)
{
	const char *name = surroundings_get(at, "CLOUD_ML_JOB_ID");
	const char *type, *endpoints, *number, *env;
	struct topology all = { .names_pools = true };
	const char **hosts = NULL;
	size_t count = 0;

	if (!at->metadata)
		return error_set(err, ERROR_UNREACHABLE,
				 "this machine has no metadata server");
	if (get(at, ATTRIBUTE("accelerator-type"), mem, &type, err) < 0 ||
	    get(at, ATTRIBUTE("worker-network-endpoints"), mem, &endpoints,
		err) < 0 ||
	    get(at, ATTRIBUTE("agent-worker-number"), mem, &number, err) < 0 ||
	    get(at, ATTRIBUTE("tpu-env"), mem, &env, err) < 0)
		return -1;
	env = env ? env : "";
	if (!type)
		type = tpu_env(env, "ACCELERATOR_TYPE", mem);
	if (!type || !endpoints)
		return error_set(err, ERROR_INVALID,
				 "this machine is not a TPU VM: its metadata "
				 "has no %s",
				 type ? "worker-network-endpoints"
				      : "accelerator-type");
	if (read_hosts(endpoints, mem, &hosts, &count, err) < 0 ||
	    read_self(number, env, count, mem, self, err) < 0)
		return -1;
	topology_from_hosts(hosts, count, mem, &all);
	set_tpu(at, type, env, hosts, count, mem, &all);
	if (name)
		all.job_id = name;
	*out = all;
	return 0;
}

const struct topology_reader reader_tpu_vm = {
	.name = "tpu-vm",
	.summary = "a TPU VM's metadata server",
	.order = READER_MACHINE,
	.detects = detects,
	.read = read,
};
