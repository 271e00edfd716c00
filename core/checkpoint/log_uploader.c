/* SPDX-License-Identifier: Apache-2.0 */
#include "core/checkpoint/log_uploader.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/spec/upload_event.h"
#include "core/log/log_file.h"

#define PIECE_MAX (INT64_C(8) << 20)
/* More digits than any file's size has, so that names sort as numbers do. */
#define OFFSET_DIGITS 15
#define RETRY_FIRST_S 1
#define RETRY_MAX_S 30
#define DEPTH_MAX 4

struct upload_stream {
	char *path;
	char *url;
	int64_t copied;
	bool is_known; /* the copied pieces were listed */
};

struct log_uploader {
	struct log_uploader_deps deps; /* its strings are owned */
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	/* The mutex protects these members. */
	int last; /* the last attempt */
	bool is_ending;
	long patience_s;
	/* Only the thread uses these members. */
	struct upload_stream *streams;
	size_t count;
	int64_t failing_since_ms; /* 0: uploads work */
	char failing_text[sizeof(((struct error *)0)->text)];
	int result;
};

/* ---- what is there to copy ---- */

static void add_stream(struct log_uploader *k, const char *folder,
		       const char *url, const char *name)
{
	char *path = mem_printf("%s/%s", folder, name);

	for (size_t i = 0; i < k->count; i++) {
		if (strcmp(k->streams[i].path, path) != 0)
			continue;
		free(path);
		return;
	}
	if ((k->count & (k->count - 1)) == 0)
		k->streams = mem_grow(k->streams, k->count ? 2 * k->count : 1,
				      sizeof(*k->streams));
	k->streams[k->count++] =
		(struct upload_stream){ .path = path,
					.url = mem_printf("%s/%s", url, name) };
}

static bool is_stream(const char *name)
{
	return text_ends(name, ".stdout") || text_ends(name, ".stderr");
}

static void find_streams(struct log_uploader *k, const char *folder,
			 const char *url)
{
	char *logs = log_folder_path(folder);
	DIR *dir = opendir(logs);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (is_stream(entry->d_name))
			add_stream(k, logs, url, entry->d_name);
	if (dir)
		closedir(dir);
	free(logs);
}

/* Finds the streams of an attempt, or of a trial and its attempts. */
static void find(struct log_uploader *k, const char *folder, const char *url,
		 int depth)
{
	DIR *dir = opendir(folder);
	bool are_trials = !strcmp(path_base(folder), "trials");
	struct dirent *entry;

	if (!are_trials)
		find_streams(k, folder, url);
	while (dir && depth < DEPTH_MAX && (entry = readdir(dir))) {
		const char *name = entry->d_name;
		char *below, *there;

		if (name[0] == '.' || !(are_trials || !strcmp(name, "trials") ||
					text_starts(name, "attempt-")))
			continue;
		below = mem_printf("%s/%s", folder, name);
		there = mem_printf("%s/%s", url, name);
		find(k, below, there, depth + 1);
		free(below);
		free(there);
	}
	if (dir)
		closedir(dir);
}

static void find_all(struct log_uploader *k)
{
	int attempt, last;

	pthread_mutex_lock(&k->mutex);
	last = k->last;
	pthread_mutex_unlock(&k->mutex);
	for (attempt = k->deps.first; attempt <= last; attempt++) {
		char *folder = mem_printf("%s%d", k->deps.attempts, attempt);
		char *url = mem_printf("%s/%d", k->deps.to, attempt);

		find(k, folder, url, 0);
		free(folder);
		free(url);
	}
}

/* ---- copying ---- */

/* Pieces that an earlier process has copied, in no certain order. */
struct pieces {
	struct piece {
		int64_t at, len;
	} * items;
	size_t count;
};

static int add_piece(void *arg, const struct object *object, struct error *err)
{
	struct pieces *pieces = arg;
	const char *name = path_base(object->url);

	(void)err;
	if (strspn(name, "0123456789") != OFFSET_DIGITS || name[OFFSET_DIGITS])
		return 0;
	if ((pieces->count & (pieces->count - 1)) == 0)
		pieces->items = mem_grow(pieces->items,
					 pieces->count ? 2 * pieces->count : 1,
					 sizeof(*pieces->items));
	pieces->items[pieces->count++] =
		(struct piece){ .at = strtoll(name, NULL, 10),
				.len = (int64_t)object->size_bytes };
	return 0;
}

static int by_offset(const void *a, const void *b)
{
	int64_t x = ((const struct piece *)a)->at;
	int64_t y = ((const struct piece *)b)->at;

	return x < y ? -1 : x > y;
}

/* Finds out how much was copied: all pieces up to the first gap. */
static int know(struct log_uploader *k, struct upload_stream *stream,
		struct error *err)
{
	struct pieces pieces = { 0 };
	int ret = object_list(k->deps.objects, stream->url, add_piece, &pieces,
			      err);

	if (ret == 0 && pieces.count)
		qsort(pieces.items, pieces.count, sizeof(*pieces.items),
		      by_offset);
	stream->copied = 0;
	for (size_t i = 0; ret == 0 && i < pieces.count; i++)
		if (pieces.items[i].at == stream->copied)
			stream->copied += pieces.items[i].len;
	free(pieces.items);
	stream->is_known = ret == 0;
	return ret;
}

/* Opens a copy of a part of a file, as the file itself grows while it is
 * sent. */
static int open_piece(const char *path, int64_t at, int64_t len,
		      struct error *err)
{
	int from = open(path, O_RDONLY | O_CLOEXEC);
	int fd = from < 0 ? -1 : memfd_create("piece", MFD_CLOEXEC);
	off_t offset = at;

	while (fd >= 0 && len > 0) {
		ssize_t n = sendfile(fd, from, &offset, (size_t)len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			close(fd);
			fd = -1;
		}
		len -= n;
	}
	if (fd < 0)
		error_errno(err, "cannot read '%s'", path);
	if (from >= 0)
		close(from);
	return fd;
}

static void say(struct log_uploader *k, enum upload_event_kind kind,
		const char *text)
{
	upload_event_add(k->deps.events, kind, text);
}

/* Reports a failure once, until uploads work again or the reason changes. */
static void fail(struct log_uploader *k, const struct error *err)
{
	char text[sizeof(k->failing_text) + 64];

	if (!k->failing_since_ms)
		k->failing_since_ms = time_monotonic_ms();
	if (!strcmp(k->failing_text, err->text))
		return;
	memcpy(k->failing_text, err->text, sizeof(k->failing_text));
	snprintf(text, sizeof(text), "not everything is uploaded yet: %s",
		 err->text);
	say(k, UPLOAD_FAILING, text);
}

static bool is_tired(struct log_uploader *k)
{
	bool tired;

	pthread_mutex_lock(&k->mutex);
	tired = k->is_ending && k->failing_since_ms &&
		time_monotonic_ms() - k->failing_since_ms >=
			k->patience_s * 1000;
	pthread_mutex_unlock(&k->mutex);
	return tired;
}

/* Reports a failed request that the store repeats by itself. */
static void on_broken(void *arg, const struct error *err)
{
	struct log_uploader *k = arg;

	fail(k, err);
	if (is_tired(k))
		object_store_stop(k->deps.objects);
}

static int copy_piece(struct log_uploader *k, struct upload_stream *stream,
		      int64_t len, struct error *err)
{
	const struct object_put how = { .broken = on_broken, .arg = k };
	char *url = mem_printf("%s/%0*" PRId64, stream->url, OFFSET_DIGITS,
			       stream->copied);
	int fd = open_piece(stream->path, stream->copied, len, err);
	struct arena *mem = arena_new();
	int ret = -1;

	/* The answer may be lost: until it comes, the pieces must be listed
	 * again before the next upload. */
	stream->is_known = false;
	if (fd >= 0) {
		ret = object_put(k->deps.objects, url, fd, &how, mem, NULL,
				 err);
		close(fd);
	}
	if (ret == 0) {
		stream->copied += len;
		stream->is_known = true;
	}
	arena_free(mem);
	free(url);
	return ret;
}

static int copy(struct log_uploader *k, struct upload_stream *stream,
		struct error *err)
{
	struct stat st;

	/* Without the file the run was deleted. */
	if (stat(stream->path, &st) < 0)
		return 0;
	if (!stream->is_known && know(k, stream, err) < 0)
		return -1;
	while (stream->copied < st.st_size) {
		int64_t left = st.st_size - stream->copied;

		if (copy_piece(k, stream, left < PIECE_MAX ? left : PIECE_MAX,
			       err) < 0)
			return -1;
	}
	return 0;
}

/* Copies all streams; a stream that the store refuses does not stop the
 * others. */
static int copy_all(struct log_uploader *k, struct error *err)
{
	struct error one;
	int ret = 0;

	find_all(k);
	for (size_t i = 0; i < k->count; i++) {
		if (is_tired(k))
			return error_set(err, ERROR_UNREACHABLE, "%s",
					 k->failing_text);
		if (copy(k, &k->streams[i], &one) == 0)
			continue;
		*err = one;
		ret = -1;
	}
	return ret;
}

/* ---- the thread ---- */

/* Waits; returns true once the uploader is ending. */
static bool wait_for(struct log_uploader *k, long seconds)
{
	struct timespec until;
	bool ending;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += seconds;
	pthread_mutex_lock(&k->mutex);
	while (!k->is_ending && pthread_cond_timedwait(&k->changed, &k->mutex,
						       &until) != ETIMEDOUT)
		;
	ending = k->is_ending;
	pthread_mutex_unlock(&k->mutex);
	return ending;
}

static void work_again(struct log_uploader *k)
{
	if (k->failing_since_ms)
		say(k, UPLOAD_DONE, "everything is uploaded");
	k->failing_since_ms = 0;
	k->failing_text[0] = '\0';
}

static void *run(void *arg)
{
	struct log_uploader *k = arg;
	long pause_s = k->deps.every_s, retry_s = RETRY_FIRST_S;
	struct error err = { 0 };
	bool ending = false;

	pthread_setname_np(pthread_self(), "jobrun-logs");
	for (;;) {
		ending = ending || wait_for(k, pause_s);
		k->result = copy_all(k, &err);
		if (k->result == 0) {
			work_again(k);
			retry_s = RETRY_FIRST_S;
			pause_s = k->deps.every_s;
		} else {
			fail(k, &err);
			pause_s = retry_s;
			retry_s = retry_s * 2 < RETRY_MAX_S ? retry_s * 2
							    : RETRY_MAX_S;
		}
		if (ending && (k->result == 0 || is_tired(k)))
			break;
		if (ending)
			nanosleep(&(struct timespec){ .tv_sec = 1 }, NULL);
	}
	if (k->result < 0)
		say(k, UPLOAD_FAILING, "not everything could be uploaded");
	return NULL;
}

static void free_saver(struct log_uploader *k)
{
	for (size_t i = 0; i < k->count; i++) {
		free(k->streams[i].path);
		free(k->streams[i].url);
	}
	free(k->streams);
	free((char *)k->deps.to);
	free((char *)k->deps.attempts);
	free((char *)k->deps.events);
	pthread_mutex_destroy(&k->mutex);
	pthread_cond_destroy(&k->changed);
	free(k);
}

struct log_uploader *log_uploader_new(const struct log_uploader_deps *deps,
				      struct error *err)
{
	struct log_uploader *k = mem_alloc(sizeof(*k));
	pthread_condattr_t clock;
	int why;

	k->deps = *deps;
	k->deps.to = mem_strdup(deps->to);
	k->deps.attempts = mem_strdup(deps->attempts);
	k->deps.events = mem_strdup(deps->events);
	k->last = deps->first;
	pthread_mutex_init(&k->mutex, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&k->changed, &clock);
	pthread_condattr_destroy(&clock);
	why = pthread_create(&k->thread, NULL, run, k);
	if (!why)
		return k;
	free_saver(k);
	errno = why;
	error_errno(err, "cannot start a thread");
	return NULL;
}

void log_uploader_attempt(struct log_uploader *saver, int attempt)
{
	pthread_mutex_lock(&saver->mutex);
	saver->last = attempt;
	pthread_mutex_unlock(&saver->mutex);
}

int log_uploader_end(struct log_uploader *saver, long patience_s)
{
	int ret;

	pthread_mutex_lock(&saver->mutex);
	saver->is_ending = true;
	saver->patience_s = patience_s;
	pthread_cond_broadcast(&saver->changed);
	pthread_mutex_unlock(&saver->mutex);
	pthread_join(saver->thread, NULL);
	ret = saver->result;
	free_saver(saver);
	return ret;
}
