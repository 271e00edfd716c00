/* SPDX-License-Identifier: Apache-2.0 */
#include "core/device/device_queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/base/file_watch.h"
#include "core/base/text.h"
#include "core/device/lease.h"
#include "core/device/look.h"
#include "core/device/ticket.h"

/* A killed process closes its file a moment before its lock is released: look
 * again after 2 ms, 4 ms and so on. */
#define AGAIN_MS 2
#define AGAIN_MAX_MS 256
/* A run that is not first need not know at once how many are before it. */
#define BEHIND_MS 20
#define BEHIND_MAX_MS 200
/* For a driver that does not answer, or a process whose end can't be
 * watched. */
#define ASK_AGAIN_MS 10000
#define SHOWN 3

/* A process that computes on a device and was not started by a run. */
struct stranger {
	int fd; /* a pidfd, or -1 */
	struct loop_event *event;
};

struct device_queue {
	struct device_queue_deps deps;
	char *name; /* of its file in the queue */
	int folder, ticket, watch;
	struct loop_event *event;  /* of the watch */
	struct loop_event *timer;  /* for looking again */
	struct loop_event *asking; /* for asking the driver again */
	int64_t again_ms;          /* the delay until the look after that */
	long before;
	bool *used; /* by name: strangers compute there */
	size_t *taken;
	struct device_look *look;
	struct stranger *strangers;
	size_t stranger_count;
	struct buf seen; /* the strangers, described for people */
	bool done;
};

static void look_at_queue(struct device_queue *q);

static void stop(struct device_queue *q, struct loop_event **event)
{
	loop_remove(q->deps.loop, *event);
	*event = NULL;
}

/* ---- strangers ---- */

static void forget_strangers(struct device_queue *q)
{
	size_t i;

	for (i = 0; i < q->stranger_count; i++) {
		loop_remove(q->deps.loop, q->strangers[i].event);
		if (q->strangers[i].fd >= 0)
			close(q->strangers[i].fd);
	}
	free(q->strangers);
	q->strangers = NULL;
	q->stranger_count = 0;
	buf_clear(&q->seen);
	memset(q->used, 0, q->deps.count * sizeof(*q->used));
	stop(q, &q->asking);
}

static void on_stranger(void *arg, uint32_t events)
{
	(void)events;
	forget_strangers(arg);
	look_at_queue(arg);
}

static void on_ask_again(void *arg, uint32_t events)
{
	struct device_queue *q = arg;

	(void)events;
	q->asking = NULL;
	forget_strangers(q);
	look_at_queue(q);
}

static void ask_later(struct device_queue *q)
{
	if (!q->asking)
		q->asking = loop_add_timer(q->deps.loop, ASK_AGAIN_MS,
					   on_ask_again, q);
}

static void add_stranger(struct device_queue *q, pid_t pid)
{
	struct stranger *one;
	struct error ignored;

	q->strangers = mem_grow(q->strangers, q->stranger_count + 1,
				sizeof(*q->strangers));
	one = &q->strangers[q->stranger_count++];
	*one = (struct stranger){ .fd = (int)syscall(SYS_pidfd_open, pid, 0) };
	if (one->fd >= 0)
		one->event = loop_add_fd(q->deps.loop, one->fd, EPOLLIN,
					 on_stranger, q, &ignored);
	/* It may let go of the device and live on. */
	ask_later(q);
}

static void take_strangers(struct device_queue *q, size_t i,
			   const struct device *device)
{
	const struct device_holder *first = device->holders;
	size_t j;

	q->used[i] = device->holder_count > 0;
	for (j = 0; j < device->holder_count; j++)
		add_stranger(q, device->holders[j].pid);
	if (!device->holder_count)
		return;
	buf_printf(&q->seen, "; %s is used by %s (pid %ld", q->deps.labels[i],
		   first->program ? first->program : "a process",
		   (long)first->pid);
	if (first->user)
		buf_printf(&q->seen, " of %s", first->user);
	buf_putc(&q->seen, ')');
}

/* ---- what it waits for ---- */

struct shown_holders {
	const struct device_queue *q;
	struct buf *out;
	size_t count;
};

static void show_holder(void *arg, const struct ticket_claim *claim,
			const char *user, int64_t since_ms)
{
	struct shown_holders *shown = arg;
	const struct device_queue *q = shown->q;
	size_t held = 0, i, j;
	char since[40], *run;

	for (i = 0; i < claim->count; i++)
		for (j = 0; j < q->deps.count; j++)
			held += !strcmp(claim->devices[i], q->deps.names[j]);
	if (!held || ++shown->count > SHOWN)
		return;
	run = mem_strdup(claim->run);
	text_make_printable(run);
	time_format(since_ms, since, sizeof(since));
	buf_printf(shown->out, "; %.60s of %s holds %zu since %.19sZ", run,
		   user, held, since);
	free(run);
}

static void tell(struct device_queue *q, size_t free_count)
{
	struct buf text = { 0 };
	struct shown_holders shown = { .q = q, .out = &text };

	if (q->before) {
		buf_printf(&text, "%ld run%s before it in the queue for GPUs",
			   q->before, q->before == 1 ? "" : "s");
	} else {
		buf_printf(&text, "%zu of %zu GPUs free, it needs %zu",
			   free_count, q->deps.count, q->deps.need);
		tickets_each_holder(q->folder, show_holder, &shown);
		if (shown.count > SHOWN)
			buf_printf(&text, "; %zu more runs",
				   shown.count - SHOWN);
		buf_puts(&text, buf_text(&q->seen));
	}
	q->deps.waits(q->deps.arg, buf_text(&text));
	buf_done(&text);
}

/* ---- taking ---- */

static size_t count_free(const struct device_queue *q)
{
	size_t i, n = 0;

	for (i = 0; i < q->deps.count; i++)
		n += !q->used[i] &&
		     !lease_is_taken(q->deps.leases, q->deps.names[i]);
	return n;
}

static bool take_all(struct device_queue *q)
{
	size_t i, n = 0;

	for (i = 0; i < q->deps.count && n < q->deps.need; i++)
		if (!q->used[i] && lease_take(q->deps.leases, q->deps.names[i]))
			q->taken[n++] = i;
	if (n == q->deps.need)
		return true;
	lease_drop_all(q->deps.leases);
	return false;
}

/* Others may have seen the same devices free, and nobody has got enough. */
static void on_again(void *arg, uint32_t events)
{
	struct device_queue *q = arg;

	(void)events;
	q->timer = NULL;
	if (q->again_ms) {
		q->timer =
			loop_add_timer(q->deps.loop, q->again_ms, on_again, q);
		q->again_ms = q->again_ms < AGAIN_MAX_MS ? 2 * q->again_ms : 0;
	}
	look_at_queue(q);
}

static void try_again(struct device_queue *q)
{
	unsigned char random = 0;

	if (getrandom(&random, sizeof(random), 0) < 0)
		random = (unsigned char)getpid();
	stop(q, &q->timer);
	q->again_ms = AGAIN_MAX_MS;
	q->timer = loop_add_timer(q->deps.loop, 1 + random % 32, on_again, q);
}

static void say_held(struct device_queue *q)
{
	const char **names = mem_alloc((q->deps.need + 1) * sizeof(*names));
	const struct ticket_claim claim = { .run = q->deps.run,
					    .devices = names,
					    .count = q->deps.need };
	struct error ignored;
	size_t i;

	for (i = 0; i < q->deps.need; i++)
		names[i] = q->deps.names[q->taken[i]];
	ticket_hold(q->folder, q->ticket, q->name, &claim, &ignored);
	free(names);
	q->name[0] = TICKET_HOLDS[0];
}

static void stop_waiting(struct device_queue *q)
{
	forget_strangers(q);
	stop(q, &q->event);
	stop(q, &q->timer);
	q->again_ms = 0;
	device_look_stop(q->look);
	q->look = NULL;
}

static void take(struct device_queue *q)
{
	if (!take_all(q)) {
		tell(q, count_free(q));
		if (count_free(q) >= q->deps.need)
			try_again(q);
		return;
	}
	q->done = true;
	stop_waiting(q);
	say_held(q);
	q->deps.ready(q->deps.arg, q->taken);
}

static void on_looked(void *arg, const struct devices *all, const char *why)
{
	struct device_queue *q = arg;
	struct arena *mem = arena_new();
	size_t i, j;

	device_look_stop(q->look);
	q->look = NULL;
	forget_strangers(q);
	for (i = 0; all && i < all->count; i++) {
		const char *name = lease_name(&all->items[i], mem);

		for (j = 0; j < q->deps.count; j++)
			if (!strcmp(name, q->deps.names[j]) &&
			    !lease_is_taken(q->deps.leases, name))
				take_strangers(q, j, &all->items[i]);
	}
	arena_free(mem);
	if (all) {
		take(q);
		return;
	}
	ask_later(q);
	q->deps.waits(q->deps.arg, why);
}

/* Only a run that could begin asks the driver which processes compute there. */
static void look_at_queue(struct device_queue *q)
{
	struct error err;
	size_t n;

	if (q->done || q->look)
		return;
	q->before = tickets_before(q->folder, q->name);
	n = q->before ? 0 : count_free(q);
	if (q->before || n < q->deps.need) {
		tell(q, n);
	} else if (q->deps.share) {
		take(q);
	} else {
		q->look = device_look_start(q->deps.loop, q->deps.reaper,
					    on_looked, q, &err);
		if (!q->look) {
			ask_later(q);
			q->deps.waits(q->deps.arg, err.text);
		}
	}
}

/* ---- coming and going ---- */

static void on_change(void *arg, uint32_t events)
{
	struct device_queue *q = arg;
	int64_t delay_ms = q->before * BEHIND_MS;
	char buffer[4096];

	(void)events;
	while (read(q->watch, buffer, sizeof(buffer)) > 0)
		;
	q->again_ms = AGAIN_MS;
	/* The timer will look soon enough. */
	if (q->before && q->timer)
		return;
	stop(q, &q->timer);
	q->timer = loop_add_timer(q->deps.loop,
				  delay_ms < BEHIND_MAX_MS ? delay_ms
							   : BEHIND_MAX_MS,
				  on_again, q);
}

/* Watches for closed files: a file is closed when its owner ends, in whatever
 * way. */
static int watch(struct device_queue *q, struct error *err)
{
	q->watch = file_watch_new();
	if (q->watch < 0 || file_watch_add(q->watch, q->deps.folder,
					   IN_CLOSE_WRITE | IN_DELETE |
						   IN_MOVE | IN_ONLYDIR) < 0)
		return error_errno(err, "cannot watch '%s'", q->deps.folder);
	q->event =
		loop_add_fd(q->deps.loop, q->watch, EPOLLIN, on_change, q, err);
	return q->event ? 0 : -1;
}

static void on_joined(void *arg, uint32_t events)
{
	struct device_queue *q = arg;

	(void)events;
	q->timer = NULL;
	look_at_queue(q);
}

struct device_queue *device_queue_join(const struct device_queue_deps *deps,
				       struct error *err)
{
	struct device_queue *q = mem_alloc(sizeof(*q));

	*q = (struct device_queue){
		.deps = *deps, .folder = -1, .ticket = -1, .watch = -1
	};
	q->name = ticket_name(deps->create_time_ms, deps->priority, deps->run);
	q->used = mem_alloc((deps->count + 1) * sizeof(*q->used));
	q->taken = mem_alloc((deps->need + 1) * sizeof(*q->taken));
	q->folder = lease_open_folder(deps->folder, err);
	/* Watch before looking, so that nothing is missed. */
	if (q->folder >= 0 && watch(q, err) == 0)
		q->ticket = ticket_make(q->folder, q->name, err);
	if (q->ticket < 0) {
		device_queue_leave(q);
		return NULL;
	}
	q->timer = loop_add_timer(deps->loop, 0, on_joined, q);
	return q;
}

void device_queue_leave(struct device_queue *q)
{
	if (!q)
		return;
	stop_waiting(q);
	if (q->done)
		lease_drop_all(q->deps.leases);
	if (q->ticket >= 0) {
		unlinkat(q->folder, q->name, 0);
		close(q->ticket);
	}
	if (q->watch >= 0)
		close(q->watch);
	if (q->folder >= 0)
		close(q->folder);
	buf_done(&q->seen);
	free(q->used);
	free(q->taken);
	free(q->name);
	free(q);
}

struct shown_devices {
	struct devices *all;
	struct arena *mem;
};

static void put_holder(void *arg, const struct ticket_claim *claim,
		       const char *user, int64_t since_ms)
{
	const struct shown_devices *shown = arg;
	size_t i, j;

	for (i = 0; i < shown->all->count; i++) {
		struct device *one = &shown->all->items[i];

		for (j = 0; j < claim->count; j++) {
			if (strcmp(lease_name(one, shown->mem),
				   claim->devices[j]) != 0)
				continue;
			one->run = arena_strdup(shown->mem, claim->run);
			one->run_user = arena_strdup(shown->mem, user);
			one->run_since_ms = since_ms;
			break;
		}
	}
}

void device_queue_show(const char *fallback, struct devices *all,
		       struct arena *mem)
{
	struct shown_devices shown = { .all = all, .mem = mem };
	const char *folder, *note;
	struct error ignored;
	int fd;

	if (!all->count)
		return;
	folder = lease_folder_seen(fallback, mem, &note);
	all->note = note;
	fd = lease_open_folder(folder, &ignored);
	if (fd < 0)
		return;
	tickets_each_holder(fd, put_holder, &shown);
	close(fd);
}
