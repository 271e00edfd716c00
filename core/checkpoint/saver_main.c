/* SPDX-License-Identifier: Apache-2.0 */
/* The process of the saver: see saver.h, and saver_choose.c for its start. */
#include "core/base/clock.h"
#include "core/base/units.h"
#include "core/checkpoint/saver_heard.h"
#include "core/checkpoint/saver_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/checkpoint/saver.h"

/* How often to look: inotify sees nothing on network file systems, nor what is
 * rewritten within folders. */
#define LOOK_MS 5000
#define RETRY_FIRST_MS 1000
#define RETRY_MAX_MS 60000
#define LINE_MAX_SIZE (1 << 20)

void saver_say(struct keeping *k, enum upload_event_kind kind,
	       const char *format, ...)
{
	va_list args;
	char text[1200];

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	upload_event_add(k->config.events, kind, text);
}

/* Reads a line from the parent; returns 1 if there is none yet, -1 if the
 * parent is gone. */
static int read_line(struct keeping *k, char **out)
{
	char data[4096], *end;
	ssize_t n;

	for (;;) {
		end = memchr(buf_text(&k->input), '\n', k->input.len);
		if (end) {
			*out = mem_printf("%.*s", (int)(end - k->input.data),
					  k->input.data);
			buf_drop(&k->input, (size_t)(end + 1 - k->input.data));
			return 0;
		}
		n = read(STDIN_FILENO, data, sizeof(data));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return 1;
		if (n <= 0 || k->input.len > LINE_MAX_SIZE)
			return -1;
		buf_add(&k->input, data, (size_t)n);
	}
}

/* Reads messages until the end is announced; exits if the parent is gone. */
static void hear(struct keeping *k)
{
	struct error err;
	char *line;
	int ret;

	while (!k->is_ending && (ret = read_line(k, &line)) != 1) {
		if (ret < 0)
			_exit(1);
		if (saver_end_read(line, &k->end, &err) == 0 && k->end.ended_ms)
			k->is_ending = true;
		free(line);
	}
}

static bool is_tired(const struct keeping *k)
{
	return k->is_ending && k->failing_since_ms &&
	       time_monotonic_ms() - k->failing_since_ms >
		       k->end.patience_s * 1000;
}

/* Reports a failure once, until uploads work again or the reason changes. */
static void fail(struct keeping *k, const struct error *err)
{
	if (!k->failing_since_ms)
		k->failing_since_ms = time_monotonic_ms();
	if (!strcmp(k->failing_text, err->text))
		return;
	snprintf(k->failing_text, sizeof(k->failing_text), "%s", err->text);
	saver_say(k, UPLOAD_FAILING, "'%s' is not uploaded yet: %s",
		  k->copying ? k->copying->what.name : "the newest", err->text);
}

static void work_again(struct keeping *k)
{
	k->failing_since_ms = 0;
	k->failing_text[0] = '\0';
	k->retry_ms = 0;
	k->retry_at_ms = 0;
}

static void on_broken(void *arg, const struct error *err)
{
	struct keeping *k = arg;

	fail(k, err);
	hear(k);
	if (is_tired(k))
		object_store_stop(k->objects);
}

static bool is_same(void *arg)
{
	struct keeping *k = arg;

	return checkpoint_watch_is_same(k->watch, k->copying);
}

/* Adds the values that the log had at the time of the checkpoint.  Unknown
 * values are no failure. */
static void describe(struct keeping *k, struct checkpoint *what)
{
	struct error ignored;

	what->attempt = k->config.attempt;
	if (!k->metric && k->config.run_folder)
		k->metric = saver_metric_open(k->config.run_folder,
					      k->config.metric, &ignored);
	if (k->metric)
		saver_metric_fill(k->metric, what, &ignored);
	else if (k->config.heard)
		heard_fill(k->config.heard, k->config.metric,
			   what->time_ms + LOG_UPLOADER_DELAY_MS, what,
			   &ignored);
}

/* Takes the checkpoints that were completed since the last look. */
static void saver_take_new(struct keeping *k)
{
	/* Once the trainer has ended its log is complete. */
	bool is_waiting =
		(k->config.run_folder || k->config.heard) && !k->is_ending;
	int64_t before_ms =
		is_waiting ? time_now_ms() - LOG_UPLOADER_DELAY_MS : INT64_MAX;
	struct checkpoint_known *known;
	struct error err;
	bool any = false;

	while ((known = checkpoint_watch_next(k->watch, before_ms))) {
		describe(k, &known->what);
		any = true;
	}
	if (any && checkpoint_watch_save(k->watch, &err) < 0)
		fprintf(stderr, "%s\n", err.text);
}

/* Whether the checkpoint would be removed at once if it were uploaded. */
static bool saver_is_superseded(const struct keeping *k,
				const struct checkpoint *what)
{
	size_t count;
	const struct checkpoint *all = checkpoint_store_all(k->store, &count);
	struct checkpoint *with = mem_alloc((count + 1) * sizeof(*with));
	bool *kept = mem_alloc(count + 1);
	bool stays;

	if (count)
		memcpy(with, all, count * sizeof(*with));
	with[count] = *what;
	checkpoint_keep(with, count + 1, (size_t)k->config.keep, &k->order,
			kept);
	stays = kept[count];
	free(kept);
	free(with);
	return !stays;
}

/* Finds the newest checkpoint that is not uploaded and should be. */
static struct checkpoint_known *next_pending(struct keeping *k)
{
	struct checkpoint_known *best = NULL, **all;
	size_t count;

	all = checkpoint_watch_all(k->watch, &count);
	for (size_t i = 0; k->store && i < count; i++)
		if (all[i]->state == CHECKPOINT_WHOLE && all[i]->is_told &&
		    !saver_is_superseded(k, &all[i]->what) &&
		    (!best ||
		     checkpoint_compare_age(&all[i]->what, &best->what) < 0))
			best = all[i];
	return best;
}

static void say_uploads(struct keeping *k, const struct checkpoint *what)
{
	char about[200], size[32];
	char *place = checkpoint_store_place(k->store, what);

	checkpoint_describe(what, about, sizeof(about));
	size_format(what->size_bytes, size, sizeof(size));
	saver_say(k, UPLOAD_DONE, "'%s' is uploaded: %s%s%s, in %s", what->name,
		  about, *about ? ", " : "", size, place);
	free(place);
}

static int read_store(struct keeping *k, struct error *err)
{
	if (k->is_read)
		return 0;
	if (checkpoint_store_read(k->store, saver_skipped, k, err) < 0)
		return -1;
	k->is_read = true;
	return 0;
}

/* Uploads a checkpoint and removes those that need not stay. */
static int keep(struct keeping *k, struct checkpoint_known *known,
		struct error *err)
{
	const struct checkpoint_source from = {
		.folder = checkpoint_watch_folder(k->watch),
		.is_same = is_same,
		.broken = on_broken,
		.arg = k,
	};
	int ret = read_store(k, err);

	k->copying = known;
	if (ret == 0)
		ret = checkpoint_store_put(k->store, &known->what, &from,
					   &known->what.number, err);
	if (ret != 0)
		goto out;
	known->state = CHECKPOINT_KEPT;
	work_again(k);
	say_uploads(k, &known->what);
	if (checkpoint_watch_save(k->watch, err) < 0)
		fprintf(stderr, "%s\n", err->text);
	ret = checkpoint_store_prune(k->store, (size_t)k->config.keep,
				     &k->order, err) < 0
		      ? -1
		      : 0;
out:
	k->copying = NULL;
	return ret;
}

static void keep_next(struct keeping *k, struct checkpoint_known *known)
{
	struct error err;

	/* 1: the checkpoint has changed; the next look finds the new one. */
	if (keep(k, known, &err) >= 0)
		return;
	k->copying = known;
	fail(k, &err);
	k->copying = NULL;
	/* The list of checkpoints must be read again next time. */
	k->is_read = false;
	k->retry_ms = k->retry_ms ? k->retry_ms * 2 : RETRY_FIRST_MS;
	if (k->retry_ms > RETRY_MAX_MS)
		k->retry_ms = RETRY_MAX_MS;
	k->retry_at_ms = time_monotonic_ms() + k->retry_ms;
}

/* Waits for an event, `wait_ms` at most. */
static void wait_for(struct keeping *k, int64_t wait_ms)
{
	struct pollfd fds[2] = {
		{ .fd = k->is_ending ? -1 : STDIN_FILENO, .events = POLLIN },
		{ .fd = checkpoint_watch_fd(k->watch), .events = POLLIN },
	};

	poll(fds, COUNT(fds), wait_ms < LOOK_MS ? (int)wait_ms : LOOK_MS);
}

static int64_t sooner(int64_t a, int64_t b)
{
	return b >= 0 && b < a ? b : a;
}

/* Whether a checkpoint still lacks values that may be in the log later. */
static bool has_untold(struct keeping *k)
{
	struct checkpoint_known **all;
	size_t count;

	all = checkpoint_watch_all(k->watch, &count);
	for (size_t i = 0; i < count; i++)
		if (all[i]->state == CHECKPOINT_WHOLE && !all[i]->is_told)
			return true;
	return false;
}

/* Returns how long there is nothing to do. */
static int64_t look(struct keeping *k)
{
	struct error err;
	int64_t next_ms = -1;
	int ret;

	ret = k->is_ending ? checkpoint_watch_end(k->watch, k->end.ended_ms,
						  k->end.well, &err)
			   : checkpoint_watch_look(k->watch, &next_ms, &err);
	if (ret < 0) {
		fail(k, &err);
		return RETRY_FIRST_MS;
	}
	saver_take_new(k);
	if (has_untold(k))
		next_ms = sooner(LOG_UPLOADER_DELAY_MS, next_ms);
	return sooner(LOOK_MS, next_ms);
}

/* Says what does not count although it looks like a checkpoint. */
static void say_left_out(struct keeping *k)
{
	struct checkpoint_known **all;
	size_t count;

	all = checkpoint_watch_all(k->watch, &count);
	for (size_t i = 0; i < count; i++) {
		if (all[i]->is_told)
			continue;
		if (all[i]->stray_link) {
			saver_say(k, UPLOAD_FAILING,
				  "'%s' does not count: the symbolic link "
				  "'%s' leads out of it",
				  all[i]->what.name, all[i]->stray_link);
			all[i]->is_told = true;
		} else if (all[i]->is_folder &&
			   all[i]->state == CHECKPOINT_BROKEN) {
			saver_say_unconfirmed(k, all[i]);
		}
	}
}

static int attend(struct keeping *k)
{
	for (;;) {
		struct checkpoint_known *known;
		int64_t wait_ms, retry_ms;

		hear(k);
		wait_ms = look(k);
		say_left_out(k);
		known = next_pending(k);
		if (k->is_ending && !known)
			return 0;
		if (is_tired(k)) {
			saver_say(k, UPLOAD_FAILING,
				  "'%s' could not be uploaded: %s",
				  known->what.name, k->failing_text);
			return 1;
		}
		retry_ms = k->retry_at_ms - time_monotonic_ms();
		if (known && retry_ms <= 0) {
			keep_next(k, known);
			continue;
		}
		wait_for(k, known ? sooner(wait_ms, retry_ms) : wait_ms);
	}
}

static void answer(const char *key, const char *text)
{
	json_t *out = json_object();
	char *json, *line;

	json_put_text(out, key, text);
	json = json_canonical(out);
	line = mem_printf("%s\n", json);
	if (fd_write(STDOUT_FILENO, line, strlen(line)) < 0)
		_exit(1);
	free(line);
	free(json);
	json_decref(out);
}

static int begin(struct keeping *k, struct error *err)
{
	char *line = NULL;
	int ret;

	if (read_line(k, &line) != 0)
		return error_set(err, ERROR_FAILED, "it was told nothing");
	ret = saver_config_read(line, k->mem, &k->config, err);
	free(line);
	fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
	if (ret < 0)
		return -1;
	k->order.metric = k->config.metric;
	k->order.maximize = k->config.maximize;
	if (k->config.to)
		k->store = checkpoint_store_open(k->objects, k->config.to);
	/* A saver that only fetches must not watch: another saver has the
	 * directory. */
	if (k->config.fetch_only)
		return 0;
	k->watch = checkpoint_watch_open(k->config.directory,
					 k->config.quiet_s * 1000,
					 k->config.is_resumed, err);
	return k->watch ? 0 : -1;
}

int saver_main(struct object_store *objects)
{
	struct keeping k = { .objects = objects, .mem = arena_new() };
	struct error err;
	char *path = NULL;
	int status = 1;

	prctl(PR_SET_NAME, "jobrun-keeper");
	if (begin(&k, &err) < 0 || saver_choose(&k, &path, &err) < 0) {
		answer("error", err.text);
		goto out;
	}
	answer("checkpoint", path);
	status = k.config.fetch_only ? 0 : attend(&k);
	/* The trainer has read the fetched checkpoint; a new attempt fetches it
	 * again. */
	if (!k.config.fetch_only)
		folder_remove(k.config.fetched, &err);
out:
	free(path);
	saver_metric_close(k.metric);
	checkpoint_watch_close(k.watch);
	checkpoint_store_close(k.store);
	buf_done(&k.input);
	arena_free(k.mem);
	return status;
}
