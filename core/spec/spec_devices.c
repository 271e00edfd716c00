/* SPDX-License-Identifier: Apache-2.0 */
/* The devices that the machines of a run hold, and that each task sees. */
#include "core/spec/spec.h"

#include <string.h>

#include "core/base/buf.h"

#define AMD "amd"

/* Returns how many devices a task's machine needs; the first machine is the
 * master's if there is one. */
static long machine_needs(const struct run_spec *spec, size_t ordinal)
{
	const struct task_place *task = &spec->topology.tasks[ordinal];

	if (task->machine == 0)
		return spec->devices.first;
	return task->type == TASK_WORKER ? spec->devices.each : 0;
}

static size_t devices_before(const struct run_spec *spec, size_t machine)
{
	size_t i, sum = 0;

	for (i = 0; i < spec->topology.count; i++)
		if (!spec->topology.tasks[i].beside &&
		    spec->topology.tasks[i].machine < machine)
			sum += (size_t)machine_needs(spec, i);
	return sum;
}

size_t spec_devices_needed(const struct run_spec *spec)
{
	return devices_before(spec, SIZE_MAX);
}

size_t spec_host_count(const struct run_spec *spec)
{
	size_t machines = topology_machines(&spec->topology);

	return machines < spec->hosts.names.count ? machines
						  : spec->hosts.names.count;
}

size_t spec_devices_on(const struct run_spec *spec, size_t host, size_t hosts)
{
	size_t i, sum = 0;

	for (i = 0; i < spec->topology.count; i++)
		if (!spec->topology.tasks[i].beside &&
		    spec->topology.tasks[i].machine % hosts == host)
			sum += (size_t)machine_needs(spec, i);
	return sum;
}

void spec_devices_hold(struct run_spec *spec, const struct strings *ids,
		       size_t hosts, struct arena *mem)
{
	size_t count = spec_devices_needed(spec), i, n = 0;
	size_t *used = arena_alloc(mem, (hosts + 1) * sizeof(*used));
	const char **held = arena_alloc(mem, (count + 1) * sizeof(*held));

	/* Machines come in the order of their tasks. */
	for (i = 0; i < spec->topology.count; i++) {
		size_t host = spec->topology.tasks[i].machine % hosts;
		long left = spec->topology.tasks[i].beside
				    ? 0
				    : machine_needs(spec, i);

		for (; left && n < count; left--) {
			bool any = used[host] < ids[host].count;

			held[n++] = any ? ids[host].items[used[host]++] : "";
		}
	}
	spec->devices.held = (struct strings){ .items = held, .count = count };
}

/* Whether the job itself chooses the AMD devices that its program sees. */
static bool says_hip(const struct run_spec *spec)
{
	size_t i;

	for (i = 0; i < spec->env.count; i++)
		if (!strcmp(spec->env.items[i].name, "HIP_VISIBLE_DEVICES"))
			return true;
	return false;
}

void spec_devices_environment(const struct run_spec *spec, size_t ordinal,
			      struct environment *out)
{
	const struct strings *held = &spec->devices.held;
	size_t at, end;
	struct buf ids = { 0 };

	if (!spec->devices.folder || !held->count)
		return;
	at = devices_before(spec, spec->topology.tasks[ordinal].machine);
	end = at + (size_t)machine_needs(spec, ordinal);
	/* A host without devices restricts nobody. */
	if (at < held->count && end > at && !*held->items[at])
		return;
	for (; at < end && at < held->count; at++)
		buf_printf(&ids, "%s%s", ids.len ? "," : "", held->items[at]);
	if (strcmp(spec->devices.vendor, AMD) != 0) {
		/* Otherwise CUDA would count the fastest device first. */
		environment_set(out, "CUDA_DEVICE_ORDER", "PCI_BUS_ID");
		environment_set(out, "CUDA_VISIBLE_DEVICES", buf_text(&ids));
	} else if (!says_hip(spec)) {
		environment_set(out, "ROCR_VISIBLE_DEVICES", buf_text(&ids));
	}
	buf_done(&ids);
}
