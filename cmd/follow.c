/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/follow.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>

#include "cmd/open_line.h"
#include "core/run/spec.h"

/* Printed in pieces of about this size. */
#define PIECE (256 << 10)

struct follow {
	struct app *app;
	struct arena *mem;
	struct log_source *sources;
	size_t count;
	struct log_reader *reader;
	struct log_printer *printer;
	struct loop *loop;
	struct loop_event *event;
	struct buf text;
	struct open_line open_line;
};

/* Whether a number is in a list such as "0,3-7". */
static int index_listed(const char *list, long index, struct error *err)
{
	const char *p = list;
	int found = 0;

	if (!list)
		return 1;
	for (;;) {
		char *end;
		long from, to;

		from = to = strtol(p, &end, 10);
		if (end == p || from < 0)
			goto bad;
		if (*end == '-') {
			p = end + 1;
			to = strtol(p, &end, 10);
			if (end == p || to < from)
				goto bad;
		}
		if (index >= from && index <= to)
			found = 1;
		if (!*end)
			return found;
		if (*end != ',')
			goto bad;
		p = end + 1;
	}
bad:
	return error_set(err, ERROR_USAGE,
			 "'%s' is not a list of indices such as 0,3-7", list);
}

static int choose_sources(struct follow *follow, const struct topology *all,
			  const struct follow_tasks *tasks, struct error *err)
{
	enum task_type type = TASK_MASTER;
	size_t i;

	if (tasks->type && task_type_parse(tasks->type, &type) < 0)
		return error_set(err, ERROR_USAGE,
				 "'%s' is no type of task: master, worker, ps "
				 "or evaluator",
				 tasks->type);
	follow->sources =
		arena_alloc(follow->mem, all->count * sizeof(*follow->sources));
	for (i = 0; i < all->count; i++) {
		const struct task_place *task = &all->tasks[i];
		int listed = index_listed(tasks->indices, task->index, err);

		if (listed < 0)
			return -1;
		if (!listed || (tasks->type && task->type != type))
			continue;
		follow->sources[follow->count++] = (struct log_source){
			.type = task_type_name(task->type),
			.index = task->index,
			.ordinal = (int)i,
			.host = task->host,
		};
	}
	if (!follow->count)
		return error_set(err, ERROR_USAGE,
				 "the run has no such task: 'jobrun status %s' "
				 "lists them",
				 all->job_id);
	return 0;
}

/* A reader takes up to three descriptors per task.  No more than are needed:
 * runs that are started later inherit the limit. */
static void allow_files(size_t tasks)
{
	struct rlimit limit;
	rlim_t need = 3 * (rlim_t)tasks + 256;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= need)
		return;
	limit.rlim_cur = need < limit.rlim_max ? need : limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void flush(struct follow *follow)
{
	if (follow->text.len)
		open_line_hide(&follow->open_line);
	app_print(follow->app, &follow->text);
	buf_clear(&follow->text);
}

static void flush_piece(struct follow *follow)
{
	if (follow->text.len >= PIECE)
		flush(follow);
	/* Nobody reads it any more. */
	if (follow->app->out_closed || follow->app->out_errno)
		log_reader_stop(follow->reader);
}

static void print_line(void *arg, const struct log_line *line)
{
	struct follow *follow = arg;

	log_printer_add(follow->printer, line, &follow->text);
	flush_piece(follow);
}

static void print_block(void *arg, const struct log_line *lines)
{
	struct follow *follow = arg;

	log_printer_add_block(follow->printer, lines, &follow->text);
	flush_piece(follow);
}

struct follow *follow_open(struct session *session, const char *job_id,
			   int attempt, const struct follow_tasks *tasks,
			   const struct log_filter *filter, struct error *err)
{
	struct follow *follow = mem_alloc(sizeof(*follow));
	char *folder = store_run_folder(session->env.store, job_id, attempt);
	struct run_spec spec;

	follow->app = session->app;
	follow->mem = arena_new();
	follow->printer = log_printer_new(session->app->out_color);
	if (spec_read(folder, follow->mem, &spec, err) < 0 ||
	    choose_sources(follow, &spec.topology, tasks, err) < 0)
		goto fail;
	allow_files(follow->count);
	follow->reader = log_reader_open(folder, follow->sources, follow->count,
					 filter, err);
	if (!follow->reader)
		goto fail;
	log_reader_take_blocks(follow->reader, print_block);
	free(folder);
	return follow;
fail:
	free(folder);
	follow_close(follow);
	return NULL;
}

void follow_close(struct follow *follow)
{
	if (!follow)
		return;
	follow_stop(follow);
	log_reader_close(follow->reader);
	log_printer_free(follow->printer);
	buf_done(&follow->text);
	arena_free(follow->mem);
	free(follow);
}

int follow_step(struct follow *follow, bool ended, struct error *err)
{
	int ret =
		log_reader_step(follow->reader, ended, print_line, follow, err);

	flush(follow);
	if (ended)
		open_line_hide(&follow->open_line);
	else
		open_line_later(&follow->open_line);
	return ret;
}

static void on_change(void *arg, uint32_t events)
{
	struct follow *follow = arg;
	struct error err;

	(void)events;
	if (follow_step(follow, false, &err) < 0) {
		app_fail(follow->app, &err);
		loop_remove(follow->loop, follow->event);
		follow->event = NULL;
	}
}

int follow_start(struct follow *follow, struct loop *loop, struct error *err)
{
	int fd = log_reader_watch(follow->reader, err);

	if (fd < 0)
		return -1;
	follow->loop = loop;
	follow->open_line = (struct open_line){ .app = follow->app,
						.reader = follow->reader,
						.loop = loop };
	follow->event = loop_add_fd(loop, fd, EPOLLIN, on_change, follow, err);
	if (!follow->event)
		return -1;
	return follow_step(follow, false, err);
}

void follow_stop(struct follow *follow)
{
	open_line_hide(&follow->open_line);
	if (follow->loop)
		loop_remove(follow->loop, follow->event);
	follow->open_line.loop = NULL;
	follow->loop = NULL;
	follow->event = NULL;
}
