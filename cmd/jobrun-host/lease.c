/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LEASE: devices of this machine for the tasks of a run, by the same queue and
 * the same locks as on the machine that jobrun runs on (core/device).  They are
 * held from then on, through all rounds, until the run is released, its client
 * is gone after its end, or the agent is.
 *
 * While tasks run, another process holds the locks, too: the agent's keeper.
 * If the agent is killed, the keeper ends what it has left behind, and only
 * then the devices are free.
 */
#include "cmd/jobrun-host/agent.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/device/choice.h"
#include "core/device/device_queue.h"
#include "core/device/lease.h"
#include "core/device/look.h"
#include "core/process/process.h"

#define BOOT_ID "/proc/sys/kernel/random/boot_id"
#define LIST "jobrun devices --hosts"

struct agent_lease {
	struct agent *agent;
	struct arena *mem;
	struct device_wish wish;
	struct device_queue_deps deps;
	struct device_look *look;   /* NULL: it has answered */
	struct device_queue *queue; /* NULL: it has not joined */
	int leases;                 /* -1: not open */
	const char *vendor;
	const char **ids; /* of those that it may take */
	const char **held;
	size_t held_count;
	bool done;        /* holds what it needs, or there are none */
	const char *why;  /* it waits; NULL: not said yet */
	const char *note; /* whose runs the leases are; NULL: all users' */
	int keeper;       /* the keeper reads the end of it; -1: none */
};

char *lease_machine(void)
{
	struct error ignored;
	size_t len;
	char *boot = file_read(BOOT_ID, 256, &len, &ignored), *out;

	if (boot)
		boot[strcspn(boot, "\n")] = '\0';
	out = mem_printf("%s %s", boot ? boot : "", lease_folder_shared());
	free(boot);
	return out;
}

void lease_drop(struct agent *agent)
{
	struct agent_lease *lease = agent->lease;

	if (!lease)
		return;
	agent->lease = NULL;
	device_look_stop(lease->look);
	device_queue_leave(lease->queue);
	if (lease->leases >= 0)
		close(lease->leases);
	if (lease->keeper >= 0)
		close(lease->keeper);
	arena_free(lease->mem);
	free(lease);
}

/* ---- answers ---- */

static void say(struct agent *agent, enum frame_type type, const char *text)
{
	struct wire_out out = { 0 };

	wire_begin(&out, type);
	wire_put_text(&out, text);
	wire_end(&out);
	agent_send(agent, &out);
	wire_out_done(&out);
}

static void say_leased(const struct agent_lease *lease)
{
	struct wire_out out = { 0 };

	wire_begin(&out, FRAME_LEASED);
	wire_put_text(&out, lease->vendor);
	wire_put_list(&out, lease->held, lease->held_count);
	wire_end(&out);
	agent_send(lease->agent, &out);
	wire_out_done(&out);
}

static void refuse(struct agent_lease *lease, const char *why)
{
	say(lease->agent, FRAME_NOT_LEASED, why);
	lease_drop(lease->agent);
}

static void say_waits(const struct agent_lease *lease)
{
	char *text = mem_printf("%s%s%s", lease->why, lease->note ? "; " : "",
				lease->note ? lease->note : "");

	say(lease->agent, FRAME_LEASE_WAITS, text);
	free(text);
}

static void on_waits(void *arg, const char *what)
{
	struct agent_lease *lease = arg;

	if (lease->why && !strcmp(lease->why, what))
		return;
	lease->why = arena_strdup(lease->mem, what);
	say_waits(lease);
}

static void on_taken(void *arg, const size_t *taken)
{
	struct agent_lease *lease = arg;
	size_t i;

	lease->held = arena_alloc(lease->mem, (lease->wish.need + 1) *
						      sizeof(*lease->held));
	for (i = 0; i < lease->wish.need; i++)
		lease->held[i] = lease->ids[taken[i]];
	lease->held_count = lease->wish.need;
	lease->done = true;
	say_leased(lease);
}

/* ---- joining the queue ---- */

static int join(struct agent_lease *lease, const struct device_choice *choice,
		struct error *err)
{
	size_t size = (choice->count + 1) * sizeof(char *), i;
	const char **names = arena_alloc(lease->mem, size);
	const char **labels = arena_alloc(lease->mem, size);
	struct device_queue_deps *deps = &lease->deps;

	lease->ids = arena_alloc(lease->mem, size);
	lease->vendor = arena_strdup(lease->mem, choice->items[0]->vendor);
	for (i = 0; i < choice->count; i++) {
		names[i] = arena_strdup(
			lease->mem, lease_name(choice->items[i], lease->mem));
		lease->ids[i] = arena_strdup(
			lease->mem, device_id(choice->items[i], lease->mem));
		labels[i] = device_label(lease->ids[i], lease->mem);
	}
	if (lease_folder(lease->agent->cache, lease->mem, &deps->folder,
			 &lease->note, err) < 0)
		return -1;
	lease->leases = lease_open(deps->folder, err);
	if (lease->leases < 0)
		return -1;
	deps->loop = lease->agent->loop;
	deps->reaper = lease->agent->parent.reaper;
	deps->leases = lease->leases;
	deps->names = names;
	deps->labels = labels;
	deps->count = choice->count;
	deps->need = lease->wish.need;
	deps->ready = on_taken;
	deps->waits = on_waits;
	deps->arg = lease;
	lease->queue = device_queue_join(deps, err);
	return lease->queue ? 0 : -1;
}

static void on_looked(void *arg, const struct devices *all, const char *why)
{
	struct agent_lease *lease = arg;
	struct device_choice choice;
	struct error err;

	device_look_stop(lease->look);
	lease->look = NULL;
	if (all) {
		device_choose(all, &lease->wish, &choice);
		why = device_fault(all, &lease->wish, &choice, LIST,
				   lease->mem);
	}
	if (why) {
		refuse(lease, why);
	} else if (!all->count) {
		lease->done = true;
		say_leased(lease);
	} else if (join(lease, &choice, &err) < 0) {
		refuse(lease, err.text);
	}
}

static const char *get_text(struct wire_in *in, struct arena *mem)
{
	struct wire_text text = wire_get_text(in);

	return text.len ? arena_strndup(mem, text.data, text.len) : NULL;
}

static struct agent_lease *read_lease(struct agent *agent, struct wire_in *in)
{
	struct agent_lease *lease = mem_alloc(sizeof(*lease));
	const char *run;

	*lease = (struct agent_lease){
		.agent = agent, .leases = -1, .keeper = -1, .vendor = ""
	};
	lease->mem = arena_new();
	run = get_text(in, lease->mem);
	lease->deps.run = run ? run : "a run";
	lease->deps.create_time_ms = (int64_t)wire_get_u64(in);
	lease->deps.priority = (long)(int64_t)wire_get_u64(in);
	lease->deps.share = wire_get_u32(in) != 0;
	lease->wish.strict = wire_get_u32(in) != 0;
	lease->wish.type = get_text(in, lease->mem);
	lease->wish.model = get_text(in, lease->mem);
	lease->wish.need = wire_get_u32(in);
	if (lease->wish.type && !lease->wish.model)
		in->bad = true;
	return lease;
}

int lease_begin(struct agent *agent, struct wire_in *in, struct error *err)
{
	struct agent_lease *lease = agent->lease;

	if (lease && lease->done)
		say_leased(lease);
	else if (lease && lease->why)
		say_waits(lease);
	if (lease)
		return 0;
	lease = agent->lease = read_lease(agent, in);
	if (!wire_is_done(in)) {
		lease_drop(agent);
		return error_set(err, ERROR_FAILED, "it is invalid");
	}
	lease->look = device_look_start(agent->loop, agent->parent.reaper,
					on_looked, lease, err);
	if (lease->look)
		return 0;
	refuse(lease, err->text);
	return 0;
}

void lease_check(struct agent *agent)
{
	if (agent->lease && agent->state == AGENT_ENDED &&
	    (!agent->channel || !agent->lease->done))
		lease_drop(agent);
}

/* ---- the keeper ---- */

/* Closes everything but these two, which ssh or others may wait for. */
static void close_others(int one, int two)
{
	unsigned low = (unsigned)(one < two ? one : two);
	unsigned high = (unsigned)(one < two ? two : one);

	if (low > STDERR_FILENO + 1)
		syscall(SYS_close_range, STDERR_FILENO + 1, low - 1, 0);
	if (high > low + 1)
		syscall(SYS_close_range, low + 1, high - 1, 0);
	syscall(SYS_close_range, high + 1, ~0U, 0);
}

static void keep(const struct agent *agent, int leases, int agent_lives)
{
	char *mark = mem_printf("JOBRUN_RUN_DIR=%s/output", agent->folder);
	char byte;

	prctl(PR_SET_NAME, "jobrun-keeper");
	signal(SIGTERM, SIG_IGN);
	close_others(leases, agent_lives);
	while (read(agent_lives, &byte, 1) != 0)
		;
	process_end_marked(mark);
	_exit(0);
}

int lease_keep(struct agent *agent, struct error *err)
{
	struct agent_lease *lease = agent->lease;
	int ends[2];
	pid_t pid;

	if (!lease || !lease->held_count)
		return 0;
	if (lease->keeper >= 0)
		close(lease->keeper);
	lease->keeper = -1;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_errno(err, "cannot create a pipe");
	pid = fork();
	if (pid == 0) {
		setsid();
		close(ends[1]);
		keep(agent, lease->leases, ends[0]);
	}
	close(ends[0]);
	lease->keeper = ends[1];
	return pid < 0 ? error_errno(err, "cannot fork") : 0;
}
