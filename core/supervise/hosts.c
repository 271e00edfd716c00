/* SPDX-License-Identifier: Apache-2.0 */
#include "core/supervise/hosts.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/process/subprocess.h"
#include "core/supervise/hosts_internal.h"
#include "core/process/process.h"

/* The first limit of connections being made: sshd accepts ten at a time that
 * are not logged in yet (MaxStartups).  The limit then follows success and
 * failure. */
#define CONNECTING_FIRST 10
#define TICK_MS 2000
#define RELEASE_MS 2000

/* ---- reports ---- */

size_t host_task(const struct host *host, size_t from)
{
	return topology_on_host(&host->all->deps.spec->topology, host->index,
				host->all->count, from);
}

bool host_is_there(const struct host *host)
{
	return host->connection && host->stage > HOST_GREETING;
}

static void report_prepared(struct hosts *all, size_t ordinal, const char *why)
{
	all->stage = why ? HOSTS_IDLE : HOSTS_RUNNING;
	all->base.owner->prepared(all->base.owner_arg, ordinal, why);
}

static const struct host *host_of(const struct hosts *all, size_t ordinal)
{
	return &all->hosts[all->deps.spec->topology.tasks[ordinal].machine %
			   all->count];
}

static enum attempt_cause cause_of(const struct host *host)
{
	if (host->held)
		return OUTCOME_HELD;
	if (host->lost && host->had)
		return OUTCOME_LOST;
	if (host->away == ERROR_UNREACHABLE)
		return OUTCOME_AWAY;
	return host->away == ERROR_DENIED ? OUTCOME_DENIED : OUTCOME_OTHER;
}

/* Reports why the hosts are not prepared.  A host that served an earlier round
 * counts as preempted, just as if it had been lost then.  A host that another
 * owner holds may be free later. */
static void report_not_prepared(struct hosts *all, const struct host *host,
				const char *why)
{
	const struct backend *backend = &all->base;
	size_t ordinal = host_task(host, 0);

	if (cause_of(host) == OUTCOME_OTHER) {
		report_prepared(all, ordinal, why);
		return;
	}
	all->stage = HOSTS_IDLE;
	backend->owner->not_prepared(backend->owner_arg, ordinal,
				     cause_of(host), why);
}

/* Handles the failure of a host in any stage. */
void hosts_failed(struct hosts *all, struct host *host, const char *why)
{
	struct backend *backend = &all->base;
	char *text = mem_printf("host '%s': %s", host->target.name, why);
	size_t i;

	if (all->stage == HOSTS_REACHING || all->stage == HOSTS_CHECKING) {
		report_not_prepared(all, host, text);
	} else if (host->lost && backend->owner &&
		   all->stage == HOSTS_RUNNING) {
		for (i = host_task(host, 0); i < all->task_count;
		     i = host_task(host, i + 1)) {
			if (all->tasks[i] == TASK_ENDED)
				continue;
			/* The task may have been started there, so it counts as
			 * started and lost. */
			if (all->tasks[i] == TASK_WAITING)
				backend->owner->task_started(backend->owner_arg,
							     i, 0);
			all->tasks[i] = TASK_ENDED;
			backend->owner->task_lost(backend->owner_arg, i, text);
		}
	}
	free(text);
	hosts_ended(all);
	hosts_fetched(all);
}

void hosts_task_event(struct hosts *all, const struct frame *frame,
		      const struct frame_event *event)
{
	struct backend *backend = &all->base;
	enum task_stage *task = &all->tasks[event->task];
	char *why;

	if (!backend->owner)
		return;
	if (frame->type == FRAME_TASK_STARTED && *task == TASK_WAITING) {
		*task = TASK_STARTED;
		backend->owner->task_started(backend->owner_arg, event->task,
					     event->value);
	} else if (frame->type == FRAME_TASK_ENDED && *task == TASK_STARTED) {
		*task = TASK_ENDED;
		backend->owner->task_ended(backend->owner_arg, event->task,
					   (int)event->value);
	} else if (frame->type == FRAME_TASK_FAILED && *task == TASK_WAITING) {
		*task = TASK_ENDED;
		why = mem_printf("%.*s", (int)event->text.len,
				 event->text.data);
		backend->owner->task_not_started(backend->owner_arg,
						 event->task, why);
		free(why);
	}
}

/* ---- reaching them ---- */

void hosts_connect_next(struct hosts *all)
{
	size_t i;

	if (all->stage == HOSTS_IDLE)
		return;
	for (i = 0; i < all->count; i++) {
		struct host *host = &all->hosts[i];

		if (all->connecting >= all->connecting_max)
			return;
		if (host->stage == HOST_AWAY && !host->connection &&
		    !host->retry && !host->lost)
			host_connect(host);
	}
}

/* Asks each host for a sign of life, as the connection of a host that was cut
 * off just stays silent. */
static void tick(void *arg, uint32_t events)
{
	struct hosts *all = arg;
	int64_t now_ms = time_monotonic_ms();
	/* Silence proves nothing if this process itself was stopped. */
	bool late = now_ms - all->ticked_ms > 2 * TICK_MS;
	size_t i;

	(void)events;
	all->ticked_ms = now_ms;
	all->tick = loop_add_timer(all->deps.loop, TICK_MS, tick, all);
	for (i = 0; i < all->count; i++) {
		struct host *host = &all->hosts[i];
		int64_t silent_ms = now_ms - host->heard_ms;

		if (host->lost || all->stage == HOSTS_IDLE)
			continue;
		if (late)
			host->heard_ms = host->spoke_ms = now_ms;
		else if (all->stage != HOSTS_REACHING &&
			 all->stage != HOSTS_RECONCILING &&
			 silent_ms > HOST_LOST_MS)
			host_lose(host, "it no longer answers");
		else if (host->stage >= HOST_GREETING &&
			 now_ms - host->spoke_ms > HOST_SILENT_MS)
			host_reconnect(host);
		if (host_is_there(host))
			host_send_simple(host, FRAME_PING);
	}
	hosts_reconciled(all);
}

void hosts_tick(struct hosts *all)
{
	if (all->tick)
		return;
	all->ticked_ms = time_monotonic_ms();
	all->tick = loop_add_timer(all->deps.loop, TICK_MS, tick, all);
}

static int hosts_prepare(struct backend *backend, struct error *err)
{
	struct hosts *all = (struct hosts *)backend;
	int ret = folder_make(all->deps.spec->output, err);
	size_t i;

	if (ret < 0)
		return -1;
	all->stage = HOSTS_REACHING;
	all->before = all->round;
	all->begun = 0;
	memset(all->tasks, 0, all->task_count * sizeof(*all->tasks));
	for (i = 0; i < all->count; i++) {
		struct host *host = &all->hosts[i];

		host->lost = host->fetched = host->checked = host->held = false;
		host->failed = false;
		host->begun_ms = 0;
		host->heard_ms = time_monotonic_ms();
		/* A host that was not prepared to the end says so when it is
		 * met again. */
		if (host_is_there(host) && !host->prepared)
			host_drop(host);
		/* A host with an agent from an earlier round is settled once
		 * that round has ended. */
		host->settled =
			host_is_there(host) && host->stage != HOST_STARTED;
		if (host_is_there(host) && !host->settled)
			host_send_end(host, 0);
	}
	hosts_tick(all);
	hosts_connect_next(all);
	hosts_settled(all);
	return 0;
}

/* Chooses the round: the one under way, if another process began it and it was
 * not over before, or else a new one.  Returns true for the former. */
static bool choose_round(struct hosts *all)
{
	uint32_t highest = 0;
	size_t i;

	for (i = 0; i < all->count; i++)
		if (all->hosts[i].agent_round > highest)
			highest = all->hosts[i].agent_round;
	if (highest > all->round) {
		all->begun = all->round = highest;
		all->before = highest - 1;
		return true;
	}
	all->begun = ++all->round;
	all->before = all->round - 1;
	return false;
}

void hosts_checked(struct hosts *all)
{
	size_t i;

	for (i = 0; i < all->count; i++)
		if (!all->hosts[i].checked)
			return;
	if (all->stage != HOSTS_CHECKING)
		return;
	if (all->blocked)
		hosts_report_blocked(all);
	else
		report_prepared(all, 0, NULL);
}

static void check(struct hosts *all)
{
	bool open = all->count > 1;
	struct error err;
	size_t i;

	/* Ranks the tasks again, as the addresses show whether two names are
	 * one machine. */
	topology_rank(&all->deps.spec->topology);
	hosts_hold_devices(all);
	/* The file is for `env` and for a process that takes over from us. */
	if (spec_write(all->deps.spec, &err) < 0) {
		report_prepared(all, 0, err.text);
		return;
	}
	all->stage = HOSTS_CHECKING;
	hosts_forget_checks(all);
	if (hosts_clocks_differ(all))
		return;
	/* Ports are held open until the first start, or the end of an attempt
	 * that did not get so far. */
	for (i = 0; i < all->count; i++)
		open = open && all->hosts[i].stage == HOST_READY &&
		       !all->hosts[i].agent_round;
	for (i = 0; i < all->count; i++) {
		struct host *host = &all->hosts[i];

		host->checked = !open;
		if (!host->checked)
			host_send_check(host);
	}
	hosts_checked(all);
}

void hosts_settled(struct hosts *all)
{
	size_t i, ready = 0;

	if (all->stage != HOSTS_REACHING)
		return;
	for (i = 0; i < all->count; i++)
		ready += all->hosts[i].settled;
	if (all->deps.progress)
		all->deps.progress(all->deps.arg, ready, all->count);
	if (ready < all->count)
		return;
	if (choose_round(all))
		report_prepared(all, 0, NULL);
	else
		check(all);
}

/* ---- the start ---- */

static void hosts_start(struct backend *backend)
{
	struct hosts *all = (struct hosts *)backend;
	size_t i;

	for (i = 0; i < all->count; i++)
		host_begin(&all->hosts[i]);
}

/* ---- the end ---- */

static void end_all(struct hosts *all, uint32_t grace_ms)
{
	size_t i;

	for (i = 0; i < all->count; i++)
		if (host_is_there(&all->hosts[i]))
			host_send_end(&all->hosts[i], grace_ms);
}

static void hosts_signal(struct backend *backend, size_t ordinal, int number)
{
	struct hosts *all = (struct hosts *)backend;
	long grace_s = all->deps.spec->grace_s;

	if (ordinal != BACKEND_ALL) {
		host_send_signal((struct host *)host_of(all, ordinal), ordinal,
				 number);
		return;
	}
	/* A host that is lost now kills its tasks by itself. */
	end_all(all, number == SIGKILL ? 0 : (uint32_t)(grace_s + 2) * 1000);
	if (all->stage == HOSTS_REACHING || all->stage == HOSTS_CHECKING)
		report_prepared(all, 0, "it was cancelled");
}

void hosts_finished(struct hosts *all)
{
	loop_remove(all->deps.loop, all->end_timer);
	all->end_timer = NULL;
	all->stage = HOSTS_IDLE;
	all->deps.spec->hosts.rounds = (long)all->round;
	hosts_note_left(all);
	/* Before the next attempt is written down. */
	hosts_replace_failed(all);
	all->base.owner->finished(all->base.owner_arg);
}

static void give_up(void *arg, uint32_t events)
{
	struct hosts *all = arg;
	size_t i;

	(void)events;
	all->end_timer = NULL;
	for (i = 0; i < all->count; i++) {
		struct host *host = &all->hosts[i];

		if (host->stage != HOST_ENDED && !host->lost)
			fprintf(stderr,
				"host '%s': unknown whether everything has "
				"ended there\n",
				host->target.name);
	}
	hosts_begin_fetching(all);
}

/* Goes on to fetching once no reachable host has anything left of the run. */
void hosts_ended(struct hosts *all)
{
	size_t i;

	if (all->stage == HOSTS_RECONCILING)
		hosts_fetch_left(all);
	if (all->stage != HOSTS_ENDING)
		return;
	for (i = 0; i < all->count; i++) {
		struct host *host = &all->hosts[i];

		if (!host->lost && host->stage != HOST_ENDED)
			return;
	}
	hosts_begin_fetching(all);
}

static void hosts_finish(struct backend *backend)
{
	struct hosts *all = (struct hosts *)backend;
	size_t i;

	all->stage = HOSTS_ENDING;
	for (i = 0; i < all->count; i++) {
		struct host *host = &all->hosts[i];

		/* A host that was never reached has nothing to end.  A host
		 * that was greeted has an agent, which gets the end when it
		 * answers. */
		if (!host->folder && host->stage != HOST_GREETING) {
			host_drop(host);
			host->lost = true;
		}
	}
	end_all(all, 0);
	all->end_timer =
		loop_add_timer(all->deps.loop, HOST_END_MS, give_up, all);
	hosts_ended(all);
}

/* ---- its life ---- */

/* Sends each host the message to forget the run. */
static void release_all(struct hosts *all)
{
	int64_t until_ms = time_monotonic_ms() + RELEASE_MS;
	struct timespec pause = { .tv_nsec = 2000000 };
	size_t i;

	for (i = 0; i < all->count; i++) {
		struct host *host = &all->hosts[i];

		if (!host_is_there(host))
			continue;
		host_send_simple(host, FRAME_RELEASE);
		connection_flush(host->connection, RELEASE_MS);
	}
	/* Wait for the agents to close their ends, which ends ssh. */
	while (all->ssh_running && time_monotonic_ms() < until_ms) {
		reaper_run(all->deps.reaper);
		nanosleep(&pause, NULL);
	}
}

static void hosts_free(struct backend *backend)
{
	struct hosts *all = (struct hosts *)backend;
	size_t i;

	all->stage = HOSTS_IDLE;
	release_all(all);
	for (i = 0; i < all->count; i++)
		host_done(&all->hosts[i]);
	/* The remaining ssh processes were just killed; reap them. */
	while (all->ssh_running && reaper_run(all->deps.reaper))
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	loop_remove(all->deps.loop, all->tick);
	loop_remove(all->deps.loop, all->end_timer);
	if (all->ship >= 0)
		close(all->ship);
	if (all->config)
		unlink(all->config);
	free(all->hosts);
	free(all->tasks);
	free(all->config);
	free(all->run);
	free(all);
}

char *hosts_known_path(const char *store, const char *job_id)
{
	return mem_printf("%s/known_hosts/%s", store, job_id);
}

/* Returns the command line with which ssh's shell starts jobrun as the proxy;
 * NULL if ssh connects by itself. */
static char *proxy_command(const struct run_hosts *hosts)
{
	struct buf quoted = { 0 }, out = { 0 };
	char self[4096];
	const char *p;

	if (!hosts->proxy)
		return NULL;
	process_self(self, sizeof(self));
	command_quote(self, &quoted);
	/* "%" begins a placeholder of ssh. */
	for (p = quoted.data; *p; p++)
		buf_puts(&out, *p == '%' ? "%%" : (char[]){ *p, '\0' });
	buf_printf(&out, " %s %%h %%p", hosts->proxy);
	buf_done(&quoted);
	return buf_take(&out);
}

static int prepare_ssh(struct hosts *all, struct error *err)
{
	char *proxy = proxy_command(&all->deps.spec->hosts);
	char *known = hosts_known_path(all->deps.store, all->deps.spec->job_id);
	char *folder = path_folder(known);
	int ret = folder_make(folder, err);

	all->config = mem_printf("%s/ssh_config-%ld", all->deps.spec->home,
				 all->deps.spec->hosts.slot);
	if (ret == 0)
		ret = ssh_config_write(all->config, known, proxy, err);
	free(proxy);
	free(folder);
	free(known);
	return ret;
}

static const struct backend_ops hosts_ops = {
	.prepare = hosts_prepare,
	.start = hosts_start,
	.signal = hosts_signal,
	.finish = hosts_finish,
	.free = hosts_free,
};

void hosts_move(struct backend *backend, const struct hosts_deps *deps)
{
	struct hosts *all = (struct hosts *)backend;
	const struct topology *from = &all->deps.spec->topology;
	struct topology *to = &deps->spec->topology;
	size_t i;

	/* Agents report hosts and ports only once, so take them over. */
	for (i = 0; i < to->count; i++) {
		to->tasks[i].host = from->tasks[i].host;
		to->tasks[i].port = from->tasks[i].port;
	}
	to->master_port = from->master_port;
	deps->spec->hosts.rounds = (long)all->round;
	all->deps = *deps;
}

struct backend *hosts_new(const struct hosts_deps *deps, struct error *err)
{
	const struct strings *names = &deps->spec->hosts.names;
	size_t machines = topology_machines(&deps->spec->topology), i;
	struct hosts *all = mem_alloc(sizeof(*all));

	all->base.ops = &hosts_ops;
	all->deps = *deps;
	all->ship = -1;
	all->connecting_max = CONNECTING_FIRST;
	all->round = all->before = (uint32_t)deps->spec->hosts.rounds;
	all->task_count = deps->spec->topology.count;
	all->tasks = mem_alloc(all->task_count * sizeof(*all->tasks));
	all->hosts = mem_alloc(names->count * sizeof(*all->hosts));
	/* Hosts without a task are left alone. */
	for (i = 0; i < names->count && i < machines; i++) {
		struct host *host = &all->hosts[all->count];

		if (ssh_target_parse(names->items[i], &host->target, err) < 0)
			goto fail;
		host_init(host, all, i);
		host->had = all->round;
		all->count++;
	}
	all->run = spec_hosts_run(deps->spec, deps->owner);
	if (prepare_ssh(all, err) < 0)
		goto fail;
	return &all->base;
fail:
	hosts_free(&all->base);
	return NULL;
}
