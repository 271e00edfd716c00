/* SPDX-License-Identifier: Apache-2.0 */
#include "core/task/launch_many.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/process/process.h"
#include "core/process/task.h"

/* How long the others have between SIGTERM and SIGKILL when one has failed. */
#define OTHERS_MS 700
#define PIECE ((size_t)64 << 10)

struct siblings;

struct sibling {
	struct siblings *all;
	struct task task;
	size_t index;
	struct buf lines[TASK_STREAMS]; /* the unfinished line of each */
};

struct siblings {
	const struct launch_many *what;
	struct task_parent parent;
	struct sibling *processes;
	size_t alive;
	int status;
	bool decided; /* the rest of the statuses mean nothing */
	bool asked;   /* each is to end, in its own time */
};

/* ---- output ---- */

/* Writes what is a line, with its end, in one call, so that those of several
 * processes do not meet. */
static void put_line(struct sibling *process, int stream, const char *line,
		     size_t len)
{
	struct buf text = { 0 };

	if (process->index)
		buf_printf(&text, "[%zu] ",
			   process->all->what->rank + process->index);
	buf_add(&text, line, len);
	if (!len || line[len - 1] != '\n')
		buf_putc(&text, '\n');
	(void)fd_write(stream ? STDERR_FILENO : STDOUT_FILENO, text.data,
		       text.len);
	buf_done(&text);
}

/* Writes the whole lines; with `all`, and of one that is too long, also the
 * rest. */
static void put_lines(struct sibling *process, int stream, bool all)
{
	struct buf *held = &process->lines[stream];
	const char *at = buf_text(held), *end = at + held->len, *next;
	struct buf rest = { 0 };

	while (at < end && (next = memchr(at, '\n', (size_t)(end - at)))) {
		put_line(process, stream, at, (size_t)(next + 1 - at));
		at = next + 1;
	}
	if (at < end && (all || (size_t)(end - at) >= PIECE)) {
		put_line(process, stream, at, (size_t)(end - at));
		at = end;
	}
	buf_add(&rest, at, (size_t)(end - at));
	buf_done(held);
	*held = rest;
}

static ssize_t take_output(void *arg, int stream, int pipe, size_t limit)
{
	struct sibling *process = arg;
	struct buf *held = &process->lines[stream];
	size_t size = limit < PIECE ? limit : PIECE;
	ssize_t n = read(pipe, buf_reserve(held, size), size);

	if (n > 0) {
		held->len += (size_t)n;
		held->data[held->len] = '\0';
		put_lines(process, stream, false);
	}
	return n;
}

/* ---- ends ---- */

static void end_all(struct siblings *all, int number, int64_t grace_ms)
{
	size_t i;

	for (i = 0; i < all->what->count; i++)
		task_end(&all->processes[i].task, number, grace_ms);
}

static void process_ended(void *arg, int status)
{
	struct sibling *process = arg;
	struct siblings *all = process->all;
	bool is_master = all->what->has_master && !process->index;

	all->alive--;
	if (!all->decided && (status || is_master)) {
		all->decided = true;
		all->status = status;
		if (!all->asked)
			end_all(all, SIGTERM, OTHERS_MS);
	}
	if (!all->alive)
		loop_stop(all->parent.loop);
}

static void hear(void *arg, int number, bool from_kernel)
{
	struct siblings *all = arg;
	size_t i;

	(void)from_kernel;
	if (number == SIGCHLD)
		return;
	if (task_is_asked_by(number))
		all->asked = true;
	if (task_is_asked_by(number) && all->what->grace_s) {
		end_all(all, number, all->what->grace_s * 1000);
		return;
	}
	for (i = 0; i < all->what->count; i++)
		task_signal(&all->processes[i].task, number);
}

static int start_all(struct siblings *all, struct error *err)
{
	static const struct task_hooks hooks = { .take = take_output,
						 .ended = process_ended };
	size_t i;

	for (i = 0; i < all->what->count; i++) {
		struct sibling *process = &all->processes[i];

		process->all = all;
		process->index = i;
		task_init(&process->task, &all->parent, &hooks, process);
	}
	for (i = 0; i < all->what->count; i++) {
		if (task_start(&all->processes[i].task, all->what->argv,
			       all->what->envs[i].items, ".", err) < 0)
			return -1;
		all->alive++;
	}
	return 0;
}

static void finish(struct siblings *all)
{
	size_t i;
	int stream;

	process_end_children();
	for (i = 0; i < all->what->count; i++) {
		task_drain(&all->processes[i].task);
		for (stream = 0; stream < TASK_STREAMS; stream++) {
			put_lines(&all->processes[i], stream, true);
			buf_done(&all->processes[i].lines[stream]);
		}
	}
}

int launch_many(const struct launch_many *what, int *status, struct error *err)
{
	struct siblings all = { .what = what };
	struct rlimit files;
	sigset_t signals;
	int ret;

	task_signals(&signals);
	getrlimit(RLIMIT_NOFILE, &files);
	all.parent.no_files = &files;
	all.processes = mem_alloc(what->count * sizeof(*all.processes));
	task_parent_open(&all.parent, what->count);
	ret = task_parent_own(&all.parent, &signals, hear, &all, err);
	if (ret == 0) {
		ret = start_all(&all, err);
		if (ret == 0)
			ret = loop_run(all.parent.loop, err);
		finish(&all);
	}
	*status = all.status;
	task_parent_close(&all.parent);
	free(all.processes);
	return ret;
}
