/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/ui/interrupt.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "core/base/alloc.h"

struct interrupt {
	struct loop *loop;
	struct loop_event *event;
	loop_call *call;
	void *arg;
	sigset_t before;
	int fd;
};

static void on_signal(void *arg, uint32_t events)
{
	struct interrupt *interrupt = arg;
	struct signalfd_siginfo info;

	(void)events;
	if (read(interrupt->fd, &info, sizeof(info)) == sizeof(info))
		interrupt->call(interrupt->arg, info.ssi_signo);
}

struct interrupt *interrupt_new(struct loop *loop, unsigned flags,
				loop_call *call, void *arg, struct error *err)
{
	struct interrupt *interrupt = mem_alloc(sizeof(*interrupt));
	sigset_t signals;

	interrupt->loop = loop;
	interrupt->call = call;
	interrupt->arg = arg;
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	if (flags & INTERRUPT_HANGUP)
		sigaddset(&signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &signals, &interrupt->before);
	interrupt->fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (interrupt->fd < 0) {
		error_errno(err, "cannot receive signals");
		interrupt_free(interrupt);
		return NULL;
	}
	interrupt->event = loop_add_fd(loop, interrupt->fd, EPOLLIN, on_signal,
				       interrupt, err);
	if (!interrupt->event) {
		interrupt_free(interrupt);
		return NULL;
	}
	return interrupt;
}

void interrupt_free(struct interrupt *interrupt)
{
	if (!interrupt)
		return;
	loop_remove(interrupt->loop, interrupt->event);
	if (interrupt->fd >= 0)
		close(interrupt->fd);
	pthread_sigmask(SIG_SETMASK, &interrupt->before, NULL);
	free(interrupt);
}

void interrupt_stop(void *arg, uint32_t number)
{
	(void)number;
	loop_stop(arg);
}
