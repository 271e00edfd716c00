/* SPDX-License-Identifier: Apache-2.0 */
#include "core/stream/stream_fifos.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/file.h"

struct consumer {
	struct stream_fifo *fifo;
	struct http *http;
	struct stream_options how; /* its share */
	char *path;                /* of the fifo */
	pthread_t thread;
	bool started;
};

static int open_fifo(const char *path, struct error *err)
{
	int fd;

	/* Blocks until a reader opens it. */
	do {
		fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
	} while (fd < 0 && errno == EINTR);
	return fd < 0 ? error_errno(err, "cannot open '%s'", path) : fd;
}

/* Leaves the result for the reader, who only sees an end. */
static void leave_word(const struct consumer *one, const char *suffix,
		       const char *text)
{
	char *path = mem_printf("%s%s", one->path, suffix);
	struct error unused;

	/* A stream without this file counts as incomplete. */
	file_write(path, text, strlen(text), &unused);
	free(path);
}

static void *run(void *arg)
{
	struct consumer *one = arg;
	struct stream_fifo *fifo = one->fifo;
	char *text;
	int fd = open_fifo(one->path, &fifo->err);

	fifo->end = -1;
	if (fd >= 0)
		fifo->end = stream_run(one->http, &one->how, fifo->next,
				       fifo->arg, fd, &fifo->err);
	if (fifo->end == STREAM_DONE) {
		leave_word(one, ".done", "");
	} else if (fifo->end < 0) {
		text = mem_printf("%s\n", fifo->err.text);
		leave_word(one, ".failed", text);
		free(text);
	}
	unlink(one->path);
	if (fd >= 0)
		close(fd);
	return NULL;
}

static void forget_word(const char *fifo, const char *suffix)
{
	char *path = mem_printf("%s%s", fifo, suffix);

	unlink(path);
	free(path);
}

static int make_fifo(const char *path, struct error *err)
{
	struct stat st;

	forget_word(path, ".done");
	forget_word(path, ".failed");
	if (mkfifo(path, 0600) == 0)
		return 0;
	if (errno != EEXIST || lstat(path, &st) < 0)
		return error_errno(err, "cannot create the fifo '%s'", path);
	if (!S_ISFIFO(st.st_mode) || st.st_uid != geteuid())
		return error_set(err, ERROR_FAILED,
				 "'%s' exists already, and is not one of our "
				 "fifos",
				 path);
	return 0;
}

static int take_folder(const char *folder, struct error *err)
{
	char *path = NULL;
	int fd = -1;
	int ret = -1;

	if (folder_make(folder, err) < 0)
		return -1;
	path = path_join(folder, "lock");
	fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		error_errno(err, "cannot open '%s'", path);
	else if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		error_set(err, ERROR_TRY_AGAIN,
			  "another process is writing to the fifos of '%s'",
			  folder);
	else
		ret = fd;
	if (ret < 0 && fd >= 0)
		close(fd);
	free(path);
	return ret;
}

static void share(const struct stream_options *how, size_t count,
		  struct stream_options *out)
{
	*out = *how;
	out->read_ahead = how->read_ahead / count;
	out->connections = how->connections / (long)count;
	if (out->connections < 1)
		out->connections = 1;
	out->marks_failure = true;
}

static int make_fifos(struct consumer *all, size_t count, const char *folder,
		      struct error *err)
{
	char name[32];
	size_t i;

	for (i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "%zu", i);
		all[i].path = path_join(folder, name);
		if (make_fifo(all[i].path, err) < 0)
			return -1;
	}
	return 0;
}

static void start_all(struct consumer *all, size_t count)
{
	size_t i;
	int failed;

	for (i = 0; i < count; i++) {
		failed = pthread_create(&all[i].thread, NULL, run, &all[i]);
		all[i].started = !failed;
		if (!failed)
			continue;
		all[i].fifo->end = error_set(&all[i].fifo->err, ERROR_FAILED,
					     "cannot start a thread: %s",
					     strerror(failed));
		unlink(all[i].path);
	}
}

int stream_fifos_run(struct http *http, const struct stream_options *how,
		     const char *folder, struct stream_fifo *fifos,
		     size_t count, struct error *err)
{
	struct consumer *all = mem_alloc(count * sizeof(*all));
	int lock = take_folder(folder, err), ret = -1;
	size_t i;

	for (i = 0; i < count; i++) {
		all[i].fifo = &fifos[i];
		all[i].http = http;
		share(how, count, &all[i].how);
	}
	if (lock >= 0)
		ret = make_fifos(all, count, folder, err);
	if (ret == 0)
		start_all(all, count);
	for (i = 0; i < count; i++) {
		if (all[i].started)
			pthread_join(all[i].thread, NULL);
		free(all[i].path);
	}
	free(all);
	if (lock >= 0)
		close(lock);
	return ret;
}
