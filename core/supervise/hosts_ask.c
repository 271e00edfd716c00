/* SPDX-License-Identifier: Apache-2.0 */
/* The frames sent to a host of a backend. */
#include "core/supervise/hosts_internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/spec/spec_container.h"
#include "core/spec/hosts_program.h"
#include "core/spec/preflight.h"
#include "core/spec/wrap.h"

void host_send(struct host *host, struct wire_out *out, bool whole)
{
	if (host->connection && whole)
		connection_send(host->connection, out);
	else if (host->connection)
		fprintf(stderr, "host '%s': a frame is too long\n",
			host->target.name);
	wire_out_done(out);
}

void host_send_simple(struct host *host, enum frame_type type)
{
	struct wire_out out = { 0 };

	wire_begin(&out, type);
	host_send(host, &out, wire_end(&out));
}

/* Adds the folder for JOBRUN_RUN_DIR, relative to the run's folder there. */
static void put_output(const struct host *host, struct wire_out *out)
{
	const char *trial = host->all->deps.spec->topology.trial_id;
	char *folder =
		mem_printf("output%s%s", trial ? "/" : "", trial ? trial : "");

	wire_put_text(out, folder);
	free(folder);
}

void host_send_fetch(struct host *host)
{
	struct wire_out out = { 0 };

	wire_begin(&out, FRAME_FETCH);
	put_output(host, &out);
	host_send(host, &out, wire_end(&out));
}

void host_send_end(struct host *host, uint32_t grace_ms)
{
	struct wire_out out = { 0 };

	wire_begin(&out, FRAME_END);
	wire_put_u32(&out, grace_ms);
	host_send(host, &out, wire_end(&out));
}

void host_send_signal(struct host *host, size_t ordinal, int number)
{
	struct wire_out out = { 0 };

	wire_begin(&out, FRAME_SIGNAL);
	wire_put_u32(&out, (uint32_t)ordinal);
	wire_put_u32(&out, (uint32_t)number);
	host_send(host, &out, wire_end(&out));
}

static size_t tasks_on(const struct host *host)
{
	size_t i, n = 0;

	for (i = host_task(host, 0); i < host->all->task_count;
	     i = host_task(host, i + 1))
		n++;
	return n;
}

void host_follow(struct host *host)
{
	struct hosts *all = host->all;
	struct wire_out out = { 0 };
	size_t i;

	if (host->following)
		return;
	host->following = true;
	wire_begin(&out, FRAME_FOLLOW);
	wire_put_u32(&out, all->before);
	wire_put_u32(&out, (uint32_t)tasks_on(host));
	for (i = host_task(host, 0); i < all->task_count;
	     i = host_task(host, i + 1)) {
		const struct log_writer *log = all->deps.logs[i];

		wire_put_u32(&out, (uint32_t)i);
		wire_put_u64(&out, log_writer_position(log, LOG_STDOUT));
		wire_put_u64(&out, log_writer_position(log, LOG_STDERR));
	}
	host_send(host, &out, wire_end(&out));
}

static const char *directory_on(const struct host *host, struct arena *mem)
{
	const struct run_spec *spec = host->all->deps.spec;

	return spec->hosts.source
		       ? arena_printf(mem, "%s/files/source", host->folder)
		       : host->home;
}

static int make_environment(const struct host *host, size_t ordinal,
			    struct arena *mem, struct environment *env,
			    struct error *err)
{
	const struct run_spec *spec = host->all->deps.spec;
	/* `setup` is run for the host, not for a trial. */
	const char *trial =
		ordinal == SPEC_NO_TASK ? NULL : spec->topology.trial_id;
	const struct spec_folders deps = {
		.output = arena_printf(mem, "%s/output%s%s", host->folder,
				       trial ? "/" : "", trial ? trial : ""),
		.packages =
			arena_printf(mem, "%s/files/packages", host->folder),
	};

	return spec_environment_at(spec, ordinal, &deps, true, env, err);
}

int host_send_prepare(struct host *host, struct error *err)
{
	struct hosts *all = host->all;
	const struct run_spec *spec = all->deps.spec;
	struct arena *mem = arena_new();
	struct environment env = { 0 };
	struct wire_out out = { 0 };
	struct strings conda = wrap_conda(spec, &spec->setup, mem);
	struct strings setup =
		hosts_wrap_setup(spec, &conda, host->folder, mem);
	struct strings tested = preflight_wrap(spec, &setup, mem);
	int ret = -1;

	if (make_environment(host, SPEC_NO_TASK, mem, &env, err) < 0)
		goto out;
	wire_begin(&out, FRAME_PREPARE);
	wire_put_text(&out, all->ship_digest);
	/* A port for each task, and on the master's host one for the
	 * rendezvous. */
	wire_put_u32(&out, (uint32_t)tasks_on(host) + !host->index);
	wire_put_u32(&out, SPEC_FIRST_PORT);
	host_put_fixed_ports(host, &out);
	wire_put_text(&out, directory_on(host, mem));
	wire_put_list(&out, tested.items, tested.count);
	wire_put_list(&out, (const char *const *)env.items, env.count);
	wire_put_u32(&out, (uint32_t)host->index);
	host_send(host, &out, wire_end(&out));
	host->stage = HOST_PREPARING;
	host->may_run = true;
	ret = 0;
out:
	environment_done(&env);
	arena_free(mem);
	return ret;
}

static int put_task(struct host *host, size_t ordinal, struct wire_out *out,
		    struct error *err)
{
	const struct run_spec *spec = host->all->deps.spec;
	struct arena *mem = arena_new();
	struct strings command, after, box;
	struct environment env = { 0 };
	struct wrap_container deps;
	int ret = make_environment(host, ordinal, mem, &env, err);

	if (ret == 0) {
		deps.name = arena_printf(mem, "jobrun-%s-%s-%zu", spec->job_id,
					 spec->hosts.nonce, ordinal);
		deps.folder = host->folder;
		deps.directory = directory_on(host, mem);
		command = wrap_conda(spec, spec_command(spec, ordinal), mem);
		/* The agent, or jobrun beside the task, starts the
		 * container. */
		command = wrap_contain(spec, ordinal, &command, &env, &deps,
				       mem, &box);
		command = hosts_wrap_task(spec, ordinal, &command, host->folder,
					  mem);
		command = wrap_docker(spec, &command, &env, &deps, mem, &after);
		/* The command before the task runs once per host. */
		if (ordinal == host_task(host, 0))
			command = wrap_before(spec, ordinal, &command, mem);
		wire_put_u32(out, (uint32_t)ordinal);
		wire_put_text(out, deps.directory);
		wire_put_list(out, command.items, command.count);
		wire_put_list(out, (const char *const *)env.items, env.count);
		if (box.count)
			after = box;
		wire_put_list(out, after.items, after.count);
	}
	environment_done(&env);
	arena_free(mem);
	return ret;
}

/* Sends the start of all tasks; a task that cannot be described is reported to
 * the owner. */
static void send_start(struct host *host)
{
	struct hosts *all = host->all;
	const struct run_spec *spec = all->deps.spec;
	struct wire_out out = { 0 };
	struct error err;
	size_t i;

	wire_begin(&out, FRAME_START);
	wire_put_u32(&out, all->round);
	wire_put_u32(&out, (uint32_t)spec->hosts.lease_s);
	wire_put_u32(&out, (uint32_t)spec->max_running_time_s);
	put_output(host, &out);
	wire_put_u32(&out, (uint32_t)tasks_on(host));
	for (i = host_task(host, 0); i < all->task_count;
	     i = host_task(host, i + 1)) {
		if (put_task(host, i, &out, &err) == 0)
			continue;
		wire_out_done(&out);
		all->base.owner->task_not_started(all->base.owner_arg, i,
						  err.text);
		return;
	}
	host_send(host, &out, wire_end(&out));
	host->stage = HOST_STARTED;
	host->may_run = true;
}

void host_begin(struct host *host)
{
	host->had = true;
	if (host->agent_round < host->all->begun) {
		/* From now on the host counts as part of this round. */
		host->agent_round = host->all->begun;
		send_start(host);
	}
	host_follow(host);
}
