/* SPDX-License-Identifier: Apache-2.0 */
#include "core/process/run_queue.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/base/file_watch.h"

#define LOCK "lock"
#define WAITS "w-"
#define RUNS "r-"
/* A killed process closes its file a moment before its lock is released: look
 * again after 2 ms, 4 ms and so on. */
#define AGAIN_MS 2
#define AGAIN_MAX_MS 256
#define PRIORITY_MAX 2000000000L

struct run_queue {
	struct run_queue_deps deps;
	int folder, lock, file; /* -1: none */
	char *folder_path;
	char *waiting, *running; /* names */
	bool goes;
	int watch;
	struct loop_event *event, *timer;
	int64_t again_ms;
};

/* How many runs are running and how many are before this one. */
struct outlook {
	long running, before;
};

/* Whether a killed process has left it: nobody holds its lock. */
static bool is_dead(const struct run_queue *q, const char *name)
{
	int fd = openat(q->folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	bool dead = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;

	if (dead)
		unlinkat(q->folder, name, 0);
	if (fd >= 0)
		close(fd);
	return dead;
}

/* Whether it exists and its owner is alive. */
static bool lives(const struct run_queue *q, const char *name)
{
	return faccessat(q->folder, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 &&
	       !is_dead(q, name);
}

static void look(const struct run_queue *q, struct outlook *out)
{
	int fd = openat(q->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;

	*out = (struct outlook){ 0 };
	while (dir && (entry = readdir(dir))) {
		const char *name = entry->d_name;

		if (!strncmp(name, RUNS, strlen(RUNS)))
			out->running += lives(q, name);
		else if (!strncmp(name, WAITS, strlen(WAITS)) &&
			 strcmp(name, q->waiting) < 0)
			out->before += lives(q, name);
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
}

static void lock(const struct run_queue *q)
{
	while (flock(q->lock, LOCK_EX) < 0 && errno == EINTR)
		;
}

static void unlock(const struct run_queue *q)
{
	flock(q->lock, LOCK_UN);
}

/* Lets the run go if it may, and returns whether it did.  Under the lock. */
static bool try_to_go(struct run_queue *q, struct outlook *seen)
{
	look(q, seen);
	if (seen->before || seen->running >= q->deps.limit)
		return false;
	q->goes = renameat(q->folder, q->waiting, q->folder, q->running) == 0;
	return q->goes;
}

static void tell(struct run_queue *q, const struct outlook *seen)
{
	char text[160];
	int n = 0;

	if (seen->before)
		n = snprintf(text, sizeof(text),
			     "%ld run%s before it in the queue; ", seen->before,
			     seen->before == 1 ? "" : "s");
	snprintf(text + n, sizeof(text) - (size_t)n,
		 "%ld of %ld run at once (jobrun.local.runsAtOnce)",
		 seen->running, q->deps.limit);
	q->deps.waits(q->deps.arg, text);
}

static void on_again(void *arg, uint32_t events);

static void stop_watching(struct run_queue *q)
{
	loop_remove(q->deps.loop, q->event);
	loop_remove(q->deps.loop, q->timer);
	q->event = q->timer = NULL;
}

static void ask(struct run_queue *q)
{
	struct outlook seen;
	bool go;

	lock(q);
	go = try_to_go(q, &seen);
	unlock(q);
	if (!go) {
		tell(q, &seen);
		return;
	}
	stop_watching(q);
	q->deps.ready(q->deps.arg);
}

static void look_again(struct run_queue *q)
{
	if (q->again_ms <= AGAIN_MAX_MS)
		q->timer =
			loop_add_timer(q->deps.loop, q->again_ms, on_again, q);
}

static void on_again(void *arg, uint32_t events)
{
	struct run_queue *q = arg;

	(void)events;
	q->timer = NULL;
	q->again_ms *= 2;
	look_again(q);
	ask(q);
}

static void on_change(void *arg, uint32_t events)
{
	struct run_queue *q = arg;
	char buffer[4096];

	(void)events;
	while (read(q->watch, buffer, sizeof(buffer)) > 0)
		;
	loop_remove(q->deps.loop, q->timer);
	q->again_ms = AGAIN_MS;
	look_again(q);
	ask(q);
}

/* Watches for closed files: a file is closed when its owner ends, in whatever
 * way. */
static int watch(struct run_queue *q, struct error *err)
{
	q->watch = file_watch_new();
	if (q->watch < 0 ||
	    file_watch_add(q->watch, q->folder_path,
			   IN_CREATE | IN_CLOSE_WRITE | IN_DELETE | IN_MOVE |
				   IN_ONLYDIR) < 0)
		return error_errno(err, "cannot watch '%s'", q->folder_path);
	q->event =
		loop_add_fd(q->deps.loop, q->watch, EPOLLIN, on_change, q, err);
	return q->event ? 0 : -1;
}

static int open_folder(struct run_queue *q, struct error *err)
{
	if (folder_make(q->folder_path, err) < 0)
		return -1;
	q->folder = open(q->folder_path,
			 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	/* Opened for reading, as closing that is no event. */
	if (q->folder >= 0)
		q->lock = openat(q->folder, LOCK,
				 O_RDONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
				 0600);
	if (q->lock < 0)
		return error_errno(err, "cannot open '%s'", q->folder_path);
	return 0;
}

/* Under the lock, so that nobody takes the new file for a dead one. */
static int add(struct run_queue *q, const char *name, struct error *err)
{
	q->file = openat(q->folder, name,
			 O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (q->file < 0 || flock(q->file, LOCK_EX | LOCK_NB) < 0)
		return error_errno(err, "cannot lock '%s' in '%s'", name,
				   q->folder_path);
	return 0;
}

static int enter(struct run_queue *q, bool goes_on, bool *go, struct error *err)
{
	struct outlook seen = { 0 };
	int ret;

	if (open_folder(q, err) < 0)
		return -1;
	/* Watch before looking, so that nothing is missed. */
	if (!goes_on && watch(q, err) < 0)
		return -1;
	lock(q);
	ret = add(q, goes_on ? q->running : q->waiting, err);
	q->goes = goes_on;
	if (ret == 0 && !goes_on)
		try_to_go(q, &seen);
	unlock(q);
	*go = q->goes;
	if (q->goes)
		stop_watching(q);
	else if (ret == 0)
		tell(q, &seen);
	return ret;
}

struct run_queue *run_queue_join(const struct run_queue_deps *deps,
				 bool goes_on, bool *go, struct error *err)
{
	struct run_queue *q = mem_alloc(sizeof(*q));
	long priority = deps->priority;
	bool free_to_go = goes_on || !deps->limit;
	struct error ignored;

	if (priority > PRIORITY_MAX)
		priority = PRIORITY_MAX;
	if (priority < -PRIORITY_MAX)
		priority = -PRIORITY_MAX;
	*q = (struct run_queue){
		.deps = *deps, .folder = -1, .lock = -1, .file = -1, .watch = -1
	};
	q->folder_path = path_join(deps->store, "queue");
	q->running = mem_printf(RUNS "%s.%d", deps->job_id, deps->attempt);
	q->waiting = mem_printf(
		WAITS "%011ld-%014lld-%s.%d", PRIORITY_MAX - priority,
		(long long)deps->create_time_ms, deps->job_id, deps->attempt);
	if (enter(q, free_to_go, go, free_to_go ? &ignored : err) < 0) {
		run_queue_leave(q);
		*go = free_to_go;
		return NULL;
	}
	return q;
}

void run_queue_leave(struct run_queue *q)
{
	if (!q)
		return;
	stop_watching(q);
	if (q->file >= 0) {
		lock(q);
		unlinkat(q->folder, q->goes ? q->running : q->waiting, 0);
		unlock(q);
		close(q->file);
	}
	if (q->watch >= 0)
		close(q->watch);
	if (q->lock >= 0)
		close(q->lock);
	if (q->folder >= 0)
		close(q->folder);
	free(q->waiting);
	free(q->running);
	free(q->folder_path);
	free(q);
}
