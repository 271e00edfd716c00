/* SPDX-License-Identifier: Apache-2.0 */
/* What a run on this machine waits for before it begins: its turn among the
 * runs of its store, then its devices. */
#include <stdio.h>
#include <string.h>

#include "core/device/choice.h"
#include "core/device/device_queue.h"
#include "core/process/run_queue.h"
#include "core/supervise/supervisor_internal.h"
#include "core/supervise/supervisor_process.h"

static void on_waits(void *arg, const char *what)
{
	struct supervisor *s = arg;

	if (s->waits && !strcmp(s->progress, what))
		return;
	s->waits = true;
	snprintf(s->progress, sizeof(s->progress), "%s", what);
	s->run.note = s->progress;
	supervisor_publish(s->store, &s->run);
}

static void begin(struct supervisor *s)
{
	s->waits = false;
	s->run.note = NULL;
	supervisor_begin(s);
}

/* ---- devices ---- */

/* For all concurrent trials. */
static size_t devices_needed(const struct supervisor *s)
{
	const struct run_spec *spec = &s->context.spec;
	long trials = spec->tuning.params.count
			      ? spec->tuning.max_parallel_trials
			      : 1;

	return spec_devices_needed(spec) * (size_t)trials;
}

/* Takes the devices, and writes them down for readers who want to know what the
 * tasks see. */
static void on_devices(void *arg, const size_t *taken)
{
	struct supervisor *s = arg;
	struct run_spec *spec = &s->context.spec;
	size_t count = devices_needed(s), i;
	const char **held = arena_alloc(s->mem, (count + 1) * sizeof(*held));
	struct error err;

	for (i = 0; i < count; i++)
		held[i] = spec->devices.ids.items[taken[i]];
	spec->devices.held = (struct strings){ .items = held, .count = count };
	if (spec_write(spec, &err) < 0)
		supervisor_stop_waiting(s, RUN_FAILED, err.text);
	else
		begin(s);
}

static bool take_devices(struct supervisor *s)
{
	const struct run_spec *spec = &s->context.spec;
	const struct run_devices *from = &spec->devices;
	const char **labels;
	struct device_queue_deps deps = {
		.loop = s->loop,
		.reaper = s->reaper,
		.folder = from->folder,
		.leases = SUPERVISOR_DEVICES_FD,
		.run = arena_printf(s->mem, "%s.%d", s->run.job_id,
				    s->run.origin),
		.priority = spec->queue.priority,
		.create_time_ms = s->run.create_time_ms,
		.names = from->names.items,
		.count = from->names.count,
		.need = devices_needed(s),
		.share = from->share,
		.ready = on_devices,
		.waits = on_waits,
		.arg = s,
	};
	struct error err;
	size_t i;

	if (!from->folder)
		return true;
	labels = arena_alloc(s->mem, (deps.count + 1) * sizeof(*labels));
	for (i = 0; i < deps.count; i++)
		labels[i] = device_label(from->ids.items[i], s->mem);
	deps.labels = labels;
	s->waits = true;
	s->devices = device_queue_join(&deps, &err);
	if (!s->devices)
		supervisor_stop_waiting(s, RUN_FAILED, err.text);
	return false;
}

/* ---- its turn ---- */

static void on_turn(void *arg)
{
	struct supervisor *s = arg;

	if (take_devices(s))
		begin(s);
}

bool supervisor_enter_queue(struct supervisor *s)
{
	const struct run_queue_deps deps = {
		.loop = s->loop,
		.store = store_folder(s->store),
		.job_id = s->run.job_id,
		.attempt = s->run.origin,
		.limit = s->context.spec.queue.limit,
		.priority = s->context.spec.queue.priority,
		.create_time_ms = s->run.create_time_ms,
		.ready = on_turn,
		.waits = on_waits,
		.arg = s,
	};
	bool goes_on = s->run.state != RUN_QUEUED || s->run.not_before_ms;
	struct error err;
	bool go = true;

	if (s->context.spec.hosts.names.count || s->allocation)
		return true;
	s->queue = run_queue_join(&deps, goes_on, &go, &err);
	if (!s->queue && !go) {
		supervisor_stop_waiting(s, RUN_FAILED, err.text);
		return false;
	}
	return go && (goes_on || take_devices(s));
}

void supervisor_wait_for_hosts(struct supervisor *s, const char *what)
{
	enum run_state state =
		what ? RUN_QUEUED : attempt_state(s->context.attempt);
	bool changed = s->run.state != state;

	snprintf(s->progress, sizeof(s->progress), "%s", what ? what : "");
	s->run.note = what ? s->progress : NULL;
	s->run.state = state;
	if (changed)
		recorder_run(&s->context.recorder);
	supervisor_publish(s->store, &s->run);
}

void supervisor_leave_queue(struct supervisor *s)
{
	device_queue_leave(s->devices);
	s->devices = NULL;
	run_queue_leave(s->queue);
	s->queue = NULL;
}
