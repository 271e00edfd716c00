/* SPDX-License-Identifier: Apache-2.0 */
/* One host of a backend: its connection and its answers. */
#include "core/base/clock.h"
#include "core/supervise/hosts_internal.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/alloc.h"

#define RETRY_FIRST_MS 100
#define RETRY_MAX_MS 2000
#define RETRIES_OFTEN 30
#define RETRY_LATE_MS 30000
/* Space needed at the start, beyond what is shipped. */
#define FREE_BYTES_MIN (UINT64_C(16) << 20)
#define CLOCK_OFF_MS 30000
/* The largest pipe of one connection, and of all together.  A size below
 * PIPE_MIN leaves the default. */
#define PIPE_MAX (1 << 20)
#define PIPES_MAX (32 << 20)
#define PIPE_MIN (128 << 10)

void host_init(struct host *host, struct hosts *all, size_t index)
{
	host->all = all;
	host->index = index;
	host->ship_at = UINT64_MAX;
	host->unpack_root = -1;
	host->spoke_ms = time_monotonic_ms();
}

void host_drop(struct host *host)
{
	connection_free(host->connection);
	host->connection = NULL;
	host->following = false;
	host->ship_at = UINT64_MAX;
	fetch_drop(host);
	if (host->connecting) {
		host->connecting = false;
		host->all->connecting--;
	}
	host->stage = HOST_AWAY;
	/* The agent lets go of what nobody uses. */
	host->leased = host->leasing = false;
}

void host_done(struct host *host)
{
	host_drop(host);
	loop_remove(host->all->deps.loop, host->retry);
	ssh_target_done(&host->target);
	free(host->folder);
	free(host->home);
	free(host->address);
	free(host->machine);
	free(host->blocked);
}

/* ---- its connection ---- */

static void retry(void *arg, uint32_t events)
{
	struct host *host = arg;

	(void)events;
	host->retry = NULL;
	hosts_connect_next(host->all);
}

static void retry_later(struct host *host)
{
	int64_t delay_ms = RETRY_FIRST_MS
			   << (host->tries < 5 ? host->tries : 5);

	if (delay_ms > RETRY_MAX_MS)
		delay_ms = RETRY_MAX_MS;
	/* A host that was left behind may be away for a day. */
	if (host->tries > RETRIES_OFTEN)
		delay_ms = RETRY_LATE_MS;
	/* The delay differs by host, so that not all retry at once. */
	delay_ms += (int64_t)(host->index * 37 % 100) * delay_ms / 200;
	host->tries++;
	loop_remove(host->all->deps.loop, host->retry);
	host->retry =
		loop_add_timer(host->all->deps.loop, delay_ms, retry, host);
}

void host_lose(struct host *host, const char *why)
{
	if (host->lost)
		return;
	host->lost = true;
	loop_remove(host->all->deps.loop, host->retry);
	host->retry = NULL;
	host_drop(host);
	hosts_failed(host->all, host, why);
	hosts_connect_next(host->all);
}

void host_reconnect(struct host *host)
{
	host_drop(host);
	retry_later(host);
}

static bool is_out_of_time(const struct host *host, enum ssh_trouble trouble)
{
	int64_t now_ms = time_monotonic_ms();
	int64_t limit_ms = host->all->deps.spec->hosts.reach_s * 1000;

	if (host->all->stage == HOSTS_RECONCILING)
		return false;
	/* After the hosts were reached, the last sign of life decides at any
	 * tick. */
	if (host->all->stage != HOSTS_REACHING)
		return trouble != SSH_BUSY &&
		       now_ms - host->heard_ms > HOST_LOST_MS;
	if (!limit_ms)
		limit_ms = trouble == SSH_BUSY ? HOST_BUSY_MS : HOST_REACH_MS;
	return now_ms - host->begun_ms > limit_ms;
}

/* Whether the machine is new: it may answer before it knows who may log in. */
static bool is_new(const struct host *host)
{
	return host->all->stage == HOSTS_REACHING &&
	       host->all->deps.spec->hosts.reach_s;
}

/* Whether the host has let us in, or an earlier process of this run: then it
 * will again, whatever ssh reports meanwhile. */
static bool was_greeted(const struct host *host)
{
	const struct topology *topology = &host->all->deps.spec->topology;

	return host->folder || host->had || host->left ||
	       topology->tasks[host_task(host, 0)].port;
}

/* Whether waiting cannot help. */
static bool is_final(const struct host *host, enum ssh_trouble trouble)
{
	if (host->all->stage == HOSTS_RECONCILING)
		return false;
	if (trouble == SSH_OTHER_KEY)
		return !is_new(host);
	return (trouble == SSH_REFUSED || trouble == SSH_UNKNOWN) &&
	       !is_new(host) && !host->met && !was_greeted(host);
}

static void on_closed(void *arg, enum ssh_trouble trouble,
		      const struct error *why)
{
	struct host *host = arg;
	struct hosts *all = host->all;
	char text[sizeof(why->text)];

	snprintf(text, sizeof(text), "%s", why->text);
	host_drop(host);
	if (host->lost)
		return;
	/* A host with another key is another host, which is no refusal. */
	if (all->stage == HOSTS_REACHING)
		host->away = trouble == SSH_OTHER_KEY ? ERROR_UNREACHABLE
						      : why->code;
	/* Connect to fewer hosts at once, as all may be behind one gateway. */
	if (trouble == SSH_BUSY && all->connecting_max > 2)
		all->connecting_max /= 2;
	if (is_final(host, trouble) || is_out_of_time(host, trouble))
		host_lose(host, text);
	else
		retry_later(host);
	hosts_connect_next(all);
}

static void on_ready(void *arg)
{
	struct host *host = arg;
	struct hosts *all = host->all;
	const struct run_hosts *spec = &all->deps.spec->hosts;
	struct wire_out out = { 0 };
	char *run = mem_printf("%s.%zu", all->run, host->index);

	host->stage = HOST_GREETING;
	host->met = true;
	host->away = 0;
	host->spoke_ms = host->hello_ms = time_monotonic_ms();
	wire_begin(&out, FRAME_HELLO);
	wire_put_text(&out, run);
	wire_put_text(&out, spec->nonce);
	wire_put_u32(&out, all->stage != HOSTS_REACHING ? HELLO_FIND
			   : spec->take_over            ? HELLO_TAKE_OVER
							: HELLO_BEGIN);
	wire_put_text(&out, all->deps.owner);
	wire_put_text(&out, spec->digest);
	wire_put_text(&out, spec->origin);
	host_send(host, &out, wire_end(&out));
	free(run);
	if (host->connecting) {
		host->connecting = false;
		all->connecting--;
		if (all->connecting_max < 32)
			all->connecting_max++;
	}
	hosts_connect_next(all);
}

static void fail(struct host *host, const struct error *err)
{
	host_lose(host, err->text);
}

/* ---- its answers ---- */

static char *copy(struct wire_text text)
{
	return mem_printf("%.*s", (int)text.len, text.data);
}

static int take_welcome(struct host *host, const struct frame *frame,
			struct error *err)
{
	uint64_t needed = FREE_BYTES_MIN + 2 * host->all->ship_len;
	struct frame_welcome welcome;

	if (!frame_get_welcome(frame, &welcome))
		return error_set(err, ERROR_FAILED, "it is invalid");
	free(host->folder);
	free(host->home);
	free(host->address);
	free(host->machine);
	host->machine = copy(welcome.machine);
	host->folder = copy(welcome.folder);
	host->home = copy(welcome.home);
	host->address = welcome.address.len ? copy(welcome.address)
					    : mem_strdup(host->target.host);
	host->clock_ms = time_now_ms() - (int64_t)welcome.time_ms;
	host->doubt_ms = time_monotonic_ms() - host->hello_ms;
	host->greeted_ms = welcome.time_ms;
	host->agent_stage = welcome.stage;
	host->agent_round = welcome.round;
	host->prepared = welcome.stage >= STAGE_READY;
	host->may_run = welcome.stage == STAGE_STARTED ||
			welcome.stage == STAGE_PREPARING;
	host->tries = 0;
	if (host->clock_ms > CLOCK_OFF_MS || host->clock_ms < -CLOCK_OFF_MS)
		fprintf(stderr, "host '%s': its clock is %lld s off\n",
			host->target.name, (long long)(-host->clock_ms / 1000));
	if (welcome.stage == STAGE_NEW && welcome.free_bytes < needed)
		return error_set(err, ERROR_FAILED,
				 "only %llu MB free below '%s', but a start "
				 "needs %llu MB: set jobrun.hostDirectory to "
				 "another place",
				 (unsigned long long)(welcome.free_bytes >> 20),
				 host->folder,
				 (unsigned long long)(needed >> 20));
	return 0;
}

void host_settle(struct host *host, enum host_stage stage)
{
	host->stage = stage;
	if (host->settled)
		return;
	host->settled = true;
	hosts_settled(host->all);
}

/* Meets a host that has or had tasks: of an earlier round whose end it was not
 * told, of this round, or of one begun by another process that we take over. */
static void meet_again(struct host *host)
{
	struct hosts *all = host->all;
	bool runs = host->agent_stage == STAGE_STARTED;
	bool is_over = host->agent_round <= all->round;

	/* While other hosts are being reached, only the end of an old round is
	 * followed; the tasks to take over are followed once all are there. */
	if (all->stage != HOSTS_REACHING || is_over)
		host_follow(host);
	if (all->stage == HOSTS_REACHING && is_over && runs) {
		host->stage = HOST_STARTED;
		host_send_end(host, 0);
		return;
	}
	if (runs || !host_must_lease(host))
		host_settle(host, runs ? HOST_STARTED : HOST_ENDED);
}

/* Whether the message to start was lost with the connection. */
static bool has_missed_start(const struct host *host)
{
	const struct hosts *all = host->all;
	size_t i;

	for (i = host_task(host, 0); i < all->task_count;
	     i = host_task(host, i + 1))
		if (all->tasks[i] != TASK_WAITING)
			return false;
	return all->stage == HOSTS_RUNNING && host->agent_round < all->begun &&
	       (host->agent_stage == STAGE_READY ||
		host->agent_stage == STAGE_ENDED);
}

void host_go_on(struct host *host)
{
	struct error err;

	if (host->agent_stage > STAGE_READY) {
		host_settle(host, HOST_ENDED);
		return;
	}
	host_follow(host);
	if (host_send_prepare(host, &err) < 0)
		fail(host, &err);
}

static void on_welcome(struct host *host, const struct frame *frame)
{
	struct hosts *all = host->all;
	struct error err;

	if ((!all->ship_made && ship_make(all, &err) < 0) ||
	    take_welcome(host, frame, &err) < 0) {
		fail(host, &err);
		return;
	}
	if (all->stage == HOSTS_ENDING || all->stage == HOSTS_RECONCILING) {
		/* The host may not have got the message to end. */
		host_follow(host);
		host->stage = HOST_STARTED;
		host_send_end(host, 0);
	} else if (has_missed_start(host)) {
		host_begin(host);
	} else if (host->agent_stage <= STAGE_READY &&
		   all->stage != HOSTS_REACHING) {
		host_lose(host, "its agent has forgotten the run");
	} else if (host->agent_stage > STAGE_READY) {
		meet_again(host);
	} else if (!host_must_lease(host)) {
		host_go_on(host);
	}
}

static void take_ports(struct host *host, const struct frame *frame)
{
	struct topology *topology = &host->all->deps.spec->topology;
	struct wire_in in = frame_fields(frame);
	uint32_t count = wire_get_u32(&in);
	size_t i;

	for (i = host_task(host, 0); i < topology->count && count;
	     i = host_task(host, i + 1), count--)
		topology->tasks[i].port = (int)wire_get_u32(&in);
	if (!host->index && count)
		topology->master_port = (int)wire_get_u32(&in);
	for (i = host_task(host, 0); i < topology->count;
	     i = host_task(host, i + 1))
		topology->tasks[i].host =
			arena_strdup(host->all->deps.mem, host->address);
}

static void on_ready_for_start(struct host *host, const struct frame *frame)
{
	if (host->stage != HOST_PREPARING)
		return;
	host->may_run = false;
	host->prepared = true;
	take_ports(host, frame);
	host_settle(host, HOST_READY);
}

/* Handles that the host has no such run any more, or that of another owner. */
static void on_gone(struct host *host)
{
	host->may_run = false;
	if (host->left)
		host_reconciled(host);
	else
		host_lose(host, "the run no longer exists, or another owner "
				"has taken it over");
}

static void on_refused(struct host *host, const struct frame *frame)
{
	struct wire_in in = frame_fields(frame);
	struct wire_text text = wire_get_text(&in);
	char *why = copy(text);

	/* Starting the agent may fail for a moment, but what an agent refuses
	 * once it will refuse again. */
	host->held =
		frame->type == FRAME_HELD && host->all->stage == HOSTS_REACHING;
	if (host->held || (!host->left && (host->stage != HOST_GREETING ||
					   !was_greeted(host))))
		host_lose(host, why);
	else
		host_reconnect(host);
	free(why);
}

static void on_message(void *arg, const struct frame *frame)
{
	struct host *host = arg;
	struct error err;

	host->spoke_ms = time_monotonic_ms();
	if (frame->type != FRAME_REFUSED && frame->type != FRAME_HELD)
		host->heard_ms = host->spoke_ms;
	switch (frame->type) {
	case FRAME_WELCOME:
		on_welcome(host, frame);
		break;
	case FRAME_WANT_SHIP:
		host->ship_at = 0;
		if (ship_send(host, &err) < 0)
			fail(host, &err);
		break;
	case FRAME_LEASE_WAITS:
	case FRAME_LEASED:
	case FRAME_NOT_LEASED:
		host_take_lease(host, frame);
		break;
	case FRAME_READY:
		on_ready_for_start(host, frame);
		break;
	case FRAME_CHECKED:
		host_take_checked(host, frame);
		break;
	case FRAME_HELD:
	case FRAME_REFUSED:
		on_refused(host, frame);
		break;
	case FRAME_GONE:
		on_gone(host);
		break;
	case FRAME_OUTPUT:
		host_take_output(host, frame);
		break;
	case FRAME_SHIP:
		if (fetch_add(host, frame, &err) < 0)
			fprintf(stderr, "host '%s': %s\n", host->target.name,
				err.text);
		else if (host->unpacking)
			break;
		fetch_drop(host);
		host->fetched = true;
		hosts_fetched(host->all);
		break;
	case FRAME_PONG:
	case FRAME_PAD:
	case FRAME_RELEASED:
		break;
	default:
		host_take_event(host, frame);
	}
}

static void on_drained(void *arg)
{
	struct host *host = arg;
	struct error err;

	if (ship_send(host, &err) < 0)
		fail(host, &err);
}

static const struct connection_hooks hooks = {
	.ready = on_ready,
	.frame = on_message,
	.rest = host_take_rest,
	.drained = on_drained,
	.closed = on_closed,
};

void host_connect(struct host *host)
{
	struct hosts *all = host->all;
	struct connection_deps deps = { .loop = all->deps.loop,
					.reaper = all->deps.reaper,
					.config = all->config,
					.directory =
						all->deps.spec->hosts.directory,
					.running = &all->ssh_running };
	struct error err;

	deps.pipe_size = PIPES_MAX / (int)all->count;
	if (deps.pipe_size > PIPE_MAX)
		deps.pipe_size = PIPE_MAX;
	else if (deps.pipe_size < PIPE_MIN)
		deps.pipe_size = 0;

	host->connection =
		connection_new(&deps, &host->target, &hooks, host, &err);
	if (!host->connection && was_greeted(host) &&
	    !is_out_of_time(host, SSH_UNKNOWN)) {
		retry_later(host);
		return;
	}
	if (!host->connection) {
		host_lose(host, err.text);
		return;
	}
	if (!host->begun_ms)
		host->begun_ms = time_monotonic_ms();
	host->stage = HOST_CONNECTING;
	host->connecting = true;
	all->connecting++;
}
