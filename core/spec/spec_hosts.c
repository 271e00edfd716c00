/* SPDX-License-Identifier: Apache-2.0 */
/* The machines of a run's specification. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/digest.h"
#include "core/base/json.h"
#include "core/ssh/ssh.h"
#include "core/spec/spec.h"

static size_t spec_host(const struct run_spec *spec, size_t ordinal)
{
	return spec->hosts.names.count ? spec->topology.tasks[ordinal].machine %
						 spec->hosts.names.count
				       : SIZE_MAX;
}

/* Gives each task its host by the name in the file; addresses replace it when
 * the hosts are reached. */
static int place_tasks(struct run_spec *spec, struct arena *mem,
		       struct error *err)
{
	struct ssh_target target;
	size_t i;

	for (i = 0; i < spec->topology.count; i++) {
		const char *name = spec->hosts.names.items[spec_host(spec, i)];

		if (ssh_target_parse(name, &target, err) < 0)
			return -1;
		spec->topology.tasks[i].host = arena_strdup(mem, target.host);
		ssh_target_done(&target);
	}
	topology_rank(&spec->topology);
	return 0;
}

int spec_set_hosts(struct run_spec *spec, const struct job *job,
		   const struct strings *names, struct arena *mem,
		   struct error *err)
{
	if (!names->count && !spec->allocation)
		return 0;
	spec->hosts.names = *names;
	spec->hosts.lease_s = job->jobrun.host_lease_s;
	spec->hosts.directory = job->jobrun.host_directory;
	spec->hosts.origin = job->origin;
	spec->hosts.digest = job->digest2.hex;
	spec->hosts.nonce = "";
	if (job->jobrun.source)
		spec->hosts.source = spec->directory;
	return names->count ? place_tasks(spec, mem, err) : 0;
}

static struct strings rotate(const struct strings *list, size_t first,
			     struct arena *mem)
{
	struct strings out = { .count = list->count };
	size_t i;

	out.items = arena_alloc(mem, out.count * sizeof(*out.items));
	for (i = 0; i < out.count; i++)
		out.items[i] = list->items[(first + i) % out.count];
	return out;
}

bool spec_has_containers(const struct run_spec *spec)
{
	return spec->docker_image || spec->container.runtime;
}

bool spec_is_elsewhere(const struct run_spec *spec)
{
	return spec->hosts.names.count || spec->allocation;
}

int spec_rotate_hosts(struct run_spec *spec, size_t first, struct arena *mem,
		      struct error *err)
{
	spec->hosts.names = rotate(&spec->hosts.names, first, mem);
	spec->hosts.shown = rotate(&spec->hosts.shown, first, mem);
	return place_tasks(spec, mem, err);
}

static struct strings read_texts(const json_t *object, const char *key,
				 struct arena *mem)
{
	const json_t *list = json_object_get(object, key), *item;
	struct strings out = { 0 };
	size_t i;

	out.items =
		arena_alloc(mem, json_array_size(list) * sizeof(*out.items));
	json_array_foreach(list, i, item)
	{
		if (json_is_string(item))
			out.items[out.count++] =
				arena_strdup(mem, json_string_value(item));
	}
	return out;
}

/* Reads entries such as "10.240.1.2:8470". */
static int read_tpu_hosts(const json_t *list, struct arena *mem,
			  struct topology *out, struct error *err)
{
	size_t count = json_array_size(list), i;
	struct tpu_place *all = arena_alloc(mem, (count + 1) * sizeof(*all));
	struct ssh_target target;
	const json_t *item;

	json_array_foreach(list, i, item)
	{
		const char *text = json_string_value(item);

		if (ssh_target_parse(text ? text : "", &target, err) < 0)
			return -1;
		all[i].ip = arena_strdup(mem, target.host);
		all[i].port = (int)target.port;
		ssh_target_done(&target);
	}
	out->tpu_hosts = all;
	out->tpu_host_count = count;
	return 0;
}

int spec_set_outputs(struct run_spec *spec, const json_t *outputs,
		     struct arena *mem, struct error *err)
{
	const json_t *tpu = json_object_get(outputs, "tpuHosts");
	struct strings names = read_texts(outputs, "hosts", mem);

	if (json_get_text(outputs, "project", NULL))
		spec->topology.tpu_project =
			json_copy_text(outputs, "project", mem);
	if (json_get_text(outputs, "zone", NULL))
		spec->topology.tpu_zone = json_copy_text(outputs, "zone", mem);
	if (tpu && read_tpu_hosts(tpu, mem, &spec->topology, err) < 0)
		return -1;
	if (!names.count)
		return 0;
	spec->hosts.names = names;
	spec->hosts.shown = read_texts(outputs, "addresses", mem);
	return place_tasks(spec, mem, err);
}

const char *spec_host_name(const struct run_spec *spec, size_t ordinal)
{
	size_t host = spec_host(spec, ordinal);

	if (host == SIZE_MAX)
		return spec->topology.tasks[ordinal].host;
	return host < spec->hosts.shown.count ? spec->hosts.shown.items[host]
					      : spec->hosts.names.items[host];
}

const char *spec_host_target(const struct run_spec *spec, size_t ordinal)
{
	return spec->hosts.names.items[spec_host(spec, ordinal)];
}

char *spec_hosts_run(const struct run_spec *spec, const char *owner)
{
	const struct run_hosts *hosts = &spec->hosts;
	const char *text = hosts->origin ? hosts->origin : owner;
	char part[32] = "";
	struct digest digest;

	digest_bytes(text, strlen(text), &digest);
	if (hosts->slot)
		snprintf(part, sizeof(part), "-%ld", hosts->slot);
	return mem_printf("%s.%.12s%s", spec->job_id, digest.hex, part);
}

char *spec_host_run(const struct run_spec *spec, size_t ordinal,
		    const char *owner)
{
	char *run = spec_hosts_run(spec, owner);
	char *out = mem_printf("%s.%zu", run, spec_host(spec, ordinal));

	free(run);
	return out;
}
