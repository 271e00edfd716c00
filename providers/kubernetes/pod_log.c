/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Appends the output of a run's pods to the run's folder.
 *
 * Each pod has a stream (pod_stream.h) from the second of the last line read,
 * as the API knows no smaller unit.  The number of lines already read of that
 * second is remembered, and these are skipped: a container's lines are never
 * removed or reordered.  The state (core/remote/log_collect.h) has by the pod's
 * uid:
 *
 *	{"since": "2026-11-21T02:38:57Z", "seen": 3, "part": 131072,
 *	 "done": true}
 *
 * A line that is not yet whole is taken in pieces, so that no line has to fit
 * in memory; "part" is how many bytes of the next line are in the folder.
 *
 * A process that follows a run keeps its streams open between looks and only
 * takes what has come.  A single look asks all pods at once, and waits for a
 * short time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/remote/log_collect.h"
#include "providers/kubernetes/kube_follow.h"
#include "providers/kubernetes/kube_internal.h"
#include "providers/kubernetes/pod_stream.h"

/* How many streams are open at once; more pods take turns. */
#define STREAMS_MAX 128
/* How many bytes are kept of all pods that write faster than they are read, and
 * the fewest shares that these are divided into. */
#define KEPT_ALL ((size_t)16 << 20)
#define KEPT_SHARES 8
/* How long a run that has ended waits for logs that do not come. */
#define SETTLE_MS 10000
/* How long a single look waits for pods without output, and for pods that keep
 * writing. */
#define SILENT_MS 800
#define LOOK_MAX_MS 60000
#define TAKE_POLL_US 5000
/* How long the output of a pod waits for that of an earlier pod of its task,
 * which sends nothing. */
#define HELD_MS 5000
/* The pause before a broken stream is opened again; it doubles each time. */
#define AGAIN_MS 1000
#define AGAIN_MAX_MS 30000
/* How much of a line without its end makes a piece. */
#define PIECE_MIN ((size_t)64 << 10)
#define SECOND_LEN 19 /* "2026-11-21T02:38:57" */
#define STAMP_MAX 40  /* with its fraction and zone */
#define LOG_NAME "pod-log"

/* What was read of one pod. */
struct pod_log {
	char *uid;
	char *name;
	size_t task;
	bool there; /* the pod exists in this look */
	bool ended;

	struct pod_stream *stream;   /* or NULL */
	bool from_end;               /* opened after the pod's end */
	struct buf rest;             /* what is not taken yet */
	size_t part;                 /* bytes taken of a line without its end */
	char second[SECOND_LEN + 1]; /* of the last line in the stream */
	long long nth;               /* number of the line within that second */
	int64_t line_ms;             /* time of that line */
	int64_t heard_ms;            /* when the stream last sent something */
	int64_t not_before_ms;
	int failures;
	struct pod_log *next;
};

/* The logs of a run, kept between looks. */
struct kube_logs {
	char *folder;
	struct pod_log *pods;
	struct kube_logs *next;
};

/* ---- lines ------------------------------------------------------------- */

/* Reads the stamp at the start of a line, "2026-11-21T02:38:57.123456789Z text";
 * false if there is none. */
static bool begin_line(struct pod_log *log, const char **p, const char *end)
{
	size_t len = (size_t)(end - *p);
	const char *blank = memchr(*p, ' ', len < STAMP_MAX ? len : STAMP_MAX);
	char stamp[STAMP_MAX + 1];
	int64_t ms;

	if (!blank)
		return false;
	snprintf(stamp, sizeof(stamp), "%.*s", (int)(blank - *p), *p);
	ms = time_parse(stamp);
	if (ms <= 0)
		return false;
	if (strncmp(stamp, log->second, SECOND_LEN) > 0) {
		snprintf(log->second, sizeof(log->second), "%.*s", SECOND_LEN,
			 stamp);
		log->nth = 0;
	}
	log->nth++;
	log->line_ms = ms;
	*p = blank + 1;
	return true;
}

/* Returns how many bytes of the present line the folder has, SIZE_MAX if all of
 * it. */
static size_t known_part(const struct pod_log *log, const json_t *state)
{
	int order = strncmp(log->second, json_get_text(state, "since", ""),
			    SECOND_LEN);
	long long seen = json_get_int(state, "seen", 0);

	if (order < 0 || (order == 0 && log->nth <= seen))
		return SIZE_MAX;
	return order == 0 && log->nth == seen + 1
		       ? (size_t)json_get_int(state, "part", 0)
		       : 0;
}

static void add_bytes(const struct pod_log *log, const char *text, size_t len,
		      bool last, bool trials, json_t *lines)
{
	json_t *(*make)(long, size_t, enum log_stream, int64_t, const char *,
			size_t) = last ? log_collect_line : log_collect_piece;

	json_array_append_new(lines, make(trials ? (long)log->task + 1 : 0,
					  trials ? 0 : log->task, LOG_STDOUT,
					  log->line_ms, text, len));
}

/* Adds to `lines` what the folder lacks of a piece of the present line, which
 * is its `last` or not.  With `trials` each pod is a trial. */
static void take_piece(struct pod_log *log, const char *text, size_t len,
		       bool last, bool trials, json_t *state, json_t *lines)
{
	size_t known = known_part(log, state);
	size_t skip = known > log->part ? known - log->part : 0;

	skip = skip < len ? skip : len;
	log->part = last ? 0 : log->part + len;
	if (known == SIZE_MAX || (!last && skip == len))
		return;
	add_bytes(log, text + skip, len - skip, last, trials, lines);
	json_put(state, "since", json_sprintf("%sZ", log->second));
	json_put_int(state, "seen", log->nth - !last);
	json_put_int(state, "part", (long long)log->part);
}

/* Adds what is new in `rest` to `lines`: whole lines, and long pieces of one
 * without its end, or all that there is with `whole`. */
static void take_lines(struct pod_log *log, bool whole, bool trials,
		       json_t *state, json_t *lines)
{
	const char *p = buf_text(&log->rest), *end = p + log->rest.len;

	while (p < end) {
		const char *to = memchr(p, '\n', (size_t)(end - p));

		if (!to && !whole && (size_t)(end - p) < PIECE_MIN)
			break;
		if (log->part || begin_line(log, &p, to ? to : end))
			take_piece(log, p, (size_t)((to ? to : end) - p),
				   to || whole, trials, state, lines);
		p = to ? to + 1 : end;
	}
	buf_drop(&log->rest, (size_t)(p - buf_text(&log->rest)));
}

/* Ends a line whose rest will never come. */
static void close_line(struct pod_log *log, bool trials, json_t *state,
		       json_t *lines)
{
	if (!json_get_int(state, "part", 0))
		return;
	json_put_int(state, "seen", json_get_int(state, "seen", 0) + 1);
	json_put_int(state, "part", 0);
	log->line_ms = time_now_ms();
	add_bytes(log, "", 0, true, trials, lines);
}

/* ---- the state --------------------------------------------------------- */

static json_t *state_of_pod(const struct log_collect *c, const char *uid)
{
	json_t *all = json_object_get(c->state, "pods");

	if (!all) {
		all = json_object();
		json_object_set_new(c->state, "pods", all);
	}
	if (!json_object_get(all, uid))
		json_object_set_new(all, uid, json_object());
	return json_object_get(all, uid);
}

static long long first_ms(const json_t *lines)
{
	return json_get_int(json_array_get(lines, 0), "timeMs", 0);
}

static int compare_first(const void *a, const void *b)
{
	long long x = first_ms(*(json_t *const *)a);
	long long y = first_ms(*(json_t *const *)b);

	return x < y ? -1 : x > y;
}

/* Adds the batches of several pods in the order in which the pods began, as one
 * may have replaced another.  Takes the batches. */
static void take_batches(struct log_collect *c, json_t **batches, size_t count)
{
	json_t *lines = json_array();
	struct error ignored;
	size_t i;

	qsort(batches, count, sizeof(*batches), compare_first);
	for (i = 0; i < count; i++) {
		json_array_extend(lines, batches[i]);
		json_decref(batches[i]);
	}
	if (json_array_size(lines))
		log_collect_take(c, lines, &ignored);
	else
		json_decref(lines);
}

static bool is_done(struct log_collect *c, const char *uid)
{
	const json_t *one =
		json_object_get(json_object_get(c->state, "pods"), uid);

	return json_is_true(json_object_get(one, "done"));
}

/* ---- streams ----------------------------------------------------------- */

/* Ends a stream: either its pod is done, or the stream is opened again
 * later. */
static void end_stream(struct log_collect *c, struct pod_log *log, long status,
		       json_t *lines)
{
	json_t *state = state_of_pod(c, log->uid);
	bool good = status / 100 == 2;
	int64_t wait_ms = AGAIN_MS;
	int i;

	buf_clear(&log->rest);
	log->part = 0;
	log->second[0] = '\0';
	log->nth = 0;
	/* Nothing more will come from a pod that is gone or never wrote, or
	 * whose stream was opened after its end. */
	if ((good && log->from_end) || status == 404 ||
	    (log->ended && status == 400)) {
		close_line(log, c->spec.tuning.params.count, state, lines);
		json_object_set_new(state, "done", json_true());
	}
	log->failures = good ? 0 : log->failures + 1;
	for (i = 1; i < log->failures && wait_ms < AGAIN_MAX_MS; i++)
		wait_ms *= 2;
	log->not_before_ms =
		good && log->ended ? 0 : time_monotonic_ms() + wait_ms;
}

static size_t kept_share(size_t wanted)
{
	size_t shares = wanted < STREAMS_MAX ? wanted : STREAMS_MAX;

	return KEPT_ALL / (shares > KEPT_SHARES ? shares : KEPT_SHARES);
}

/* Opens a stream for each pod that has none and is not done. */
static void begin_streams(struct log_collect *c, const struct kube_at *at,
			  struct kube_logs *logs, bool follow)
{
	struct pod_log *log;
	size_t open = 0, wanted = 0;

	for (log = logs->pods; log; log = log->next) {
		open += log->stream != NULL;
		wanted += log->there && !is_done(c, log->uid);
	}
	for (log = logs->pods; log && open < STREAMS_MAX; log = log->next) {
		if (log->stream || !log->there || is_done(c, log->uid) ||
		    (follow && time_monotonic_ms() < log->not_before_ms))
			continue;
		log->from_end = log->ended;
		log->stream = pod_stream_open(
			at, log->name,
			json_get_text(state_of_pod(c, log->uid), "since", ""),
			follow && !log->ended && wanted <= STREAMS_MAX,
			kept_share(wanted));
		log->heard_ms = time_monotonic_ms();
		open += log->stream != NULL;
	}
}

/* Whether an earlier pod of the same task has yet to send its output.  Pods of
 * a task follow each other, so of two that have ended the first line tells which
 * was earlier, once both have sent one.  What has begun a line ends it. */
static bool is_held(const struct kube_logs *logs, const struct pod_log *log)
{
	int64_t now_ms = time_monotonic_ms();
	const struct pod_log *other;

	if (log->part)
		return false;
	for (other = logs->pods; other; other = other->next) {
		if (other == log || other->task != log->task ||
		    !other->stream || !other->ended ||
		    now_ms - other->heard_ms >= HELD_MS)
			continue;
		if (!log->ended || !other->rest.len || other->part ||
		    strcmp(buf_text(&other->rest), buf_text(&log->rest)) < 0)
			return true;
	}
	return false;
}

static bool any_held(const struct kube_logs *logs)
{
	const struct pod_log *log;

	for (log = logs->pods; log; log = log->next)
		if (log->stream && log->rest.len && is_held(logs, log))
			return true;
	return false;
}

/* Takes the new data of all streams; returns how much it was. */
static size_t take_all(struct log_collect *c, struct kube_logs *logs)
{
	bool trials = c->spec.tuning.params.count;
	struct pod_log *log;
	json_t **batches;
	size_t n = 0, came = 0;

	for (log = logs->pods; log; log = log->next)
		n += log->stream != NULL;
	batches = mem_alloc((n + 1) * sizeof(*batches));
	n = 0;
	for (log = logs->pods; log; log = log->next) {
		size_t had = log->rest.len;
		long status = 0;
		bool ended;

		if (!log->stream || (had && is_held(logs, log)))
			continue;
		ended = pod_stream_take(log->stream, &log->rest);
		came += log->rest.len - had + ended;
		if (log->rest.len > had)
			log->heard_ms = time_monotonic_ms();
		if (log->rest.len && is_held(logs, log))
			continue;
		if (ended) {
			status = pod_stream_end(log->stream);
			log->stream = NULL;
		}
		batches[n] = json_array();
		take_lines(log, status / 100 == 2 && log->from_end, trials,
			   state_of_pod(c, log->uid), batches[n]);
		if (ended)
			end_stream(c, log, status, batches[n]);
		n++;
	}
	take_batches(c, batches, n);
	free(batches);
	return came;
}

static bool any_stream(const struct kube_logs *logs)
{
	const struct pod_log *log;

	for (log = logs->pods; log; log = log->next)
		if (log->stream)
			return true;
	return false;
}

/* Takes data until all streams have ended, or are silent for `silent_ms`. */
static void take_for(struct log_collect *c, struct kube_logs *logs,
		     int64_t silent_ms)
{
	int64_t begun_ms = time_monotonic_ms(), last_ms = begun_ms, now_ms;

	do {
		now_ms = time_monotonic_ms();
		if (take_all(c, logs))
			last_ms = now_ms;
		if (!any_stream(logs) || (now_ms - last_ms >= silent_ms &&
					  (!silent_ms || !any_held(logs))))
			return;
		usleep(TAKE_POLL_US);
	} while (now_ms - begun_ms < LOOK_MAX_MS);
}

/* ---- of a run ---------------------------------------------------------- */

static struct kube_logs *logs_of(struct kube *kube, const char *folder)
{
	struct kube_logs *logs;

	pthread_mutex_lock(&kube->lock);
	for (logs = kube->logs; logs; logs = logs->next)
		if (!strcmp(logs->folder, folder))
			break;
	if (!logs) {
		logs = mem_alloc(sizeof(*logs));
		logs->folder = mem_strdup(folder);
		logs->next = kube->logs;
		kube->logs = logs;
	}
	pthread_mutex_unlock(&kube->lock);
	return logs;
}

static struct pod_log *log_of(struct kube_logs *logs,
			      const struct pod_source *pod)
{
	struct pod_log **p = &logs->pods;

	while (*p && strcmp((*p)->uid, pod->uid) != 0)
		p = &(*p)->next;
	if (!*p) {
		*p = mem_alloc(sizeof(**p));
		(*p)->uid = mem_strdup(pod->uid);
		(*p)->name = mem_strdup(pod->name);
		(*p)->task = pod->task;
	}
	return *p;
}

static void mark_there(struct kube_logs *logs, const struct pods *pods)
{
	struct pod_log *log;
	size_t i;

	for (log = logs->pods; log; log = log->next)
		log->there = false;
	for (i = 0; i < pods->source_count; i++) {
		if (!pods->sources[i].started)
			continue;
		log = log_of(logs, &pods->sources[i]);
		log->there = true;
		log->ended = pods->sources[i].ended;
	}
}

/* Closes the streams of pods that are gone, or `all`. */
static void drop(struct kube_logs *logs, bool all)
{
	struct pod_log **p = &logs->pods, *log;

	while (*p) {
		log = *p;
		if (!all && (log->there || log->stream)) {
			p = &log->next;
			continue;
		}
		*p = log->next;
		if (log->stream)
			pod_stream_end(log->stream);
		buf_done(&log->rest);
		free(log->uid);
		free(log->name);
		free(log);
	}
}

void pod_log_end_all(struct kube *kube)
{
	while (kube->logs) {
		struct kube_logs *logs = kube->logs;

		kube->logs = logs->next;
		drop(logs, true);
		free(logs->folder);
		free(logs);
	}
}

/* Whether waiting longer is useless. */
static bool is_settled(const struct log_collect *c)
{
	long long since_ms = json_get_int(c->state, "endMs", 0);

	if (!since_ms)
		json_object_set_new(c->state, "endMs",
				    json_integer(time_now_ms()));
	return since_ms && time_now_ms() - since_ms >= SETTLE_MS;
}

/* Looks at all pods; the last output of a pod that has ended is requested
 * again. */
static void look_at_all(struct log_collect *c, const struct kube_at *at,
			struct kube_logs *logs, bool follow, bool ended)
{
	int64_t silent_ms = follow && !ended ? 0 : SILENT_MS;

	take_all(c, logs);
	begin_streams(c, at, logs, follow);
	take_for(c, logs, silent_ms);
	if (ended && follow) {
		begin_streams(c, at, logs, follow);
		take_for(c, logs, silent_ms);
	}
	drop(logs, !follow);
}

/* Whether all logs are complete; also marks each pod whose log is complete or
 * `given_up`. */
static bool all_whole(struct log_collect *c, struct pods *pods, bool given_up)
{
	bool all = true;
	size_t i;

	for (i = 0; i < pods->source_count; i++) {
		struct pod_source *pod = &pods->sources[i];

		pod->whole = given_up || !pod->started || is_done(c, pod->uid);
		all &= pod->whole;
	}
	return all;
}

bool pod_log_collect(struct kube *kube, const struct kube_at *at,
		     const char *folder, struct pods *pods, bool follow,
		     bool ended)
{
	struct log_collect c;
	struct kube_logs *logs;
	struct error err;
	bool whole = false;
	int ret = log_collect_open(&c, folder, LOG_NAME, &err);

	if (ret == 0) {
		logs = logs_of(kube, folder);
		mark_there(logs, pods);
		look_at_all(&c, at, logs, follow, ended);
		whole = all_whole(&c, pods, false);
		if (!whole && ended && is_settled(&c))
			whole = all_whole(&c, pods, true);
	} else if (ret < 0) {
		whole = all_whole(&c, pods, true); /* it will not get better */
	}
	log_collect_close(&c);
	return whole;
}
