/* SPDX-License-Identifier: Apache-2.0 */
#include "core/device/look.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/library.h"
#include "core/base/text.h"
#include "core/process/process.h"
#include "core/process/subprocess.h"

#define LOOK_MS 30000
#define LOOK_MAX ((size_t)4 << 20)
#define PIECE ((size_t)64 << 10)
#define SILENT "the GPU driver does not answer"

struct device_look {
	struct loop *loop;
	struct reaper *reaper;
	void (*done)(void *arg, const struct devices *all, const char *why);
	void *arg;
	pid_t pid; /* 0: it has ended */
	int status;
	int fd; /* -1: its output is complete */
	struct loop_event *event, *timer;
	struct buf said;
	bool late;
};

bool devices_expected(void)
{
	static const struct library_symbol none[] = { { NULL, NULL } };
	struct error ignored;

	return devices_any("") ||
	       library_open("libnvidia-ml.so.1", none, &ignored) == 0;
}

int devices_tell(struct buf *out, struct error *err)
{
	struct arena *mem = arena_new();
	struct devices *all = devices_find("", mem, err);

	if (all)
		devices_write(all, out);
	arena_free(mem);
	return all ? 0 : -1;
}

struct devices *devices_look(struct arena *mem, struct error *err)
{
	char self[4096];
	const char *const argv[] = { self, LOOK_COMMAND, NULL };
	const struct command_call call = { .argv = argv,
					   .output_max = LOOK_MAX,
					   .timeout_ms = LOOK_MS };
	struct command_answer answer = { 0 };
	struct devices *out = NULL;
	char words[400];

	process_self(self, sizeof(self));
	if (command_run(&call, &answer, err) < 0) {
		if (err->code == ERROR_TIMEOUT)
			error_set(err, ERROR_TIMEOUT, SILENT);
		return NULL;
	}
	command_last_words(&answer, words, sizeof(words));
	if (command_status(&answer) == 0)
		out = devices_read(buf_text(&answer.out), mem);
	if (!out)
		error_set(err, ERROR_FAILED, "%s",
			  *words ? words : "the list of GPUs can't be read");
	command_answer_done(&answer);
	return out;
}

static void close_pipe(struct device_look *look)
{
	loop_remove(look->loop, look->event);
	look->event = NULL;
	if (look->fd >= 0)
		close(look->fd);
	look->fd = -1;
}

void device_look_stop(struct device_look *look)
{
	if (!look)
		return;
	close_pipe(look);
	loop_remove(look->loop, look->timer);
	if (look->pid) {
		reaper_forget(look->reaper, look->pid);
		kill(-look->pid, SIGKILL);
	}
	buf_done(&look->said);
	free(look);
}

/* Standard error is included: its last line says why there is no list. */
static void finish(struct device_look *look)
{
	struct arena *mem;
	struct devices *all = NULL;
	char words[400] = SILENT;

	if (look->pid || look->fd >= 0)
		return;
	mem = arena_new();
	if (!look->late && WIFEXITED(look->status) &&
	    WEXITSTATUS(look->status) == 0)
		all = devices_read(buf_text(&look->said), mem);
	if (!all && !look->late)
		text_last_words(buf_text(&look->said), look->said.len, words,
				sizeof(words));
	look->done(look->arg, all, all ? NULL : *words ? words : SILENT);
	arena_free(mem);
}

static void on_output(void *arg, uint32_t events)
{
	struct device_look *look = arg;
	char *room = buf_reserve(&look->said, PIECE);
	ssize_t n = read(look->fd, room, PIECE);

	(void)events;
	if (n > 0 && look->said.len < LOOK_MAX) {
		look->said.len += (size_t)n;
		look->said.data[look->said.len] = '\0';
		return;
	}
	close_pipe(look);
	finish(look);
}

static void on_end(void *arg, int status)
{
	struct device_look *look = arg;

	look->pid = 0;
	look->status = status;
	finish(look);
}

/* A process that waits for a driver may survive even SIGKILL, so nobody waits
 * for it. */
static void on_late(void *arg, uint32_t events)
{
	struct device_look *look = arg;

	(void)events;
	look->timer = NULL;
	look->late = true;
	if (look->pid) {
		reaper_forget(look->reaper, look->pid);
		kill(-look->pid, SIGKILL);
		look->pid = 0;
	}
	close_pipe(look);
	finish(look);
}

static pid_t start(int out, struct error *err)
{
	char self[4096];
	char *argv[] = { self, (char *)LOOK_COMMAND, NULL };
	struct rlimit files;
	const struct process_start what = { .path = self,
					    .argv = argv,
					    .envp = environ,
					    .directory = "/",
					    .no_files = &files,
					    .out = out,
					    .err = out };

	getrlimit(RLIMIT_NOFILE, &files);
	process_self(self, sizeof(self));
	return process_start(&what, err);
}

struct device_look *device_look_start(struct loop *loop, struct reaper *reaper,
				      void (*done)(void *arg,
						   const struct devices *all,
						   const char *why),
				      void *arg, struct error *err)
{
	struct device_look *look = mem_alloc(sizeof(*look));
	int pipe[2];

	*look = (struct device_look){ .loop = loop,
				      .reaper = reaper,
				      .done = done,
				      .arg = arg,
				      .fd = -1 };
	if (pipe2(pipe, O_CLOEXEC) < 0) {
		error_errno(err, "cannot create a pipe");
		free(look);
		return NULL;
	}
	look->fd = pipe[0];
	look->pid = start(pipe[1], err);
	close(pipe[1]);
	if (look->pid > 0) {
		reaper_watch(reaper, look->pid, on_end, look);
		look->event = loop_add_fd(loop, look->fd, EPOLLIN, on_output,
					  look, err);
	} else {
		look->pid = 0;
	}
	if (!look->event) {
		device_look_stop(look);
		return NULL;
	}
	look->timer = loop_add_timer(loop, LOOK_MS, on_late, look);
	return look;
}
