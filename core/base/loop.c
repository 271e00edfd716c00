/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/loop.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"

#define BATCH 64

struct loop_event {
	/* in the list of all fds, or of timers sorted by time */
	struct loop_event *next, *prev;
	loop_call *call;
	void *arg;
	int fd;         /* -1 for a timer */
	int64_t due_ms; /* a timer's */
	bool gone;      /* removed, but still in the batch being served */
};

struct loop {
	int epoll;
	struct loop_event *fds;
	struct loop_event *timers; /* the next to fire comes first */
	struct loop_event *dead;   /* to be freed after the batch */
	bool stop;
};

struct loop *loop_new(struct error *err)
{
	struct loop *loop;
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	if (epoll < 0) {
		error_errno(err, "cannot create an event loop");
		return NULL;
	}
	loop = mem_alloc(sizeof(*loop));
	loop->epoll = epoll;
	return loop;
}

static void free_list(struct loop_event *event)
{
	struct loop_event *next;

	for (; event; event = next) {
		next = event->next;
		free(event);
	}
}

void loop_free(struct loop *loop)
{
	if (!loop)
		return;
	free_list(loop->fds);
	free_list(loop->timers);
	free_list(loop->dead);
	close(loop->epoll);
	free(loop);
}

static void insert(struct loop_event **at, struct loop_event *prev,
		   struct loop_event *event)
{
	event->prev = prev;
	event->next = *at;
	if (*at)
		(*at)->prev = event;
	*at = event;
}

struct loop_event *loop_add_fd(struct loop *loop, int fd, uint32_t events,
			       loop_call *call, void *arg, struct error *err)
{
	struct loop_event *event = mem_alloc(sizeof(*event));
	struct epoll_event want = { .events = events, .data.ptr = event };

	event->fd = fd;
	event->call = call;
	event->arg = arg;
	if (epoll_ctl(loop->epoll, EPOLL_CTL_ADD, fd, &want) < 0) {
		error_errno(err, "cannot wait for a descriptor");
		free(event);
		return NULL;
	}
	insert(&loop->fds, NULL, event);
	return event;
}

struct loop_event *loop_add_timer(struct loop *loop, int64_t delay_ms,
				  loop_call *call, void *arg)
{
	struct loop_event *event = mem_alloc(sizeof(*event));
	struct loop_event **at = &loop->timers;
	struct loop_event *prev = NULL;

	event->fd = -1;
	event->call = call;
	event->arg = arg;
	event->due_ms = time_monotonic_ms() + (delay_ms > 0 ? delay_ms : 0);
	for (; *at && (*at)->due_ms <= event->due_ms; at = &(*at)->next)
		prev = *at;
	insert(at, prev, event);
	return event;
}

void loop_remove(struct loop *loop, struct loop_event *event)
{
	if (!event || event->gone)
		return;
	if (event->fd >= 0)
		epoll_ctl(loop->epoll, EPOLL_CTL_DEL, event->fd, NULL);
	if (event->next)
		event->next->prev = event->prev;
	if (event->prev)
		event->prev->next = event->next;
	else if (loop->fds == event)
		loop->fds = event->next;
	else
		loop->timers = event->next;
	event->gone = true;
	event->prev = NULL;
	event->next = loop->dead;
	loop->dead = event;
}

static void fire_timers(struct loop *loop)
{
	int64_t now = time_monotonic_ms();

	/* A timer that a callback adds for "now" waits for the next round. */
	while (loop->timers && loop->timers->due_ms <= now && !loop->stop) {
		struct loop_event *event = loop->timers;

		loop_remove(loop, event);
		event->call(event->arg, 0);
	}
}

int loop_run(struct loop *loop, struct error *err)
{
	struct epoll_event batch[BATCH];
	int i, n;

	loop->stop = false;
	while (!loop->stop && (loop->fds || loop->timers)) {
		int64_t wait = -1;

		if (loop->timers) {
			wait = loop->timers->due_ms - time_monotonic_ms();
			wait = wait < 0 ? 0 : wait > 3600000 ? 3600000 : wait;
		}
		n = epoll_wait(loop->epoll, batch, BATCH, (int)wait);
		if (n < 0 && errno != EINTR)
			return error_errno(err, "cannot wait for events");
		for (i = 0; i < n && !loop->stop; i++) {
			struct loop_event *event = batch[i].data.ptr;

			if (!event->gone)
				event->call(event->arg, batch[i].events);
		}
		fire_timers(loop);
		free_list(loop->dead);
		loop->dead = NULL;
	}
	return 0;
}

void loop_stop(struct loop *loop)
{
	loop->stop = true;
}
