/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Appends the output of a run's pods to the run's folder.
 *
 * Each look asks for what a pod has written since the second of the last line
 * that is there: the API knows no smaller unit.  How many lines of that second
 * are there already is remembered, and so many are left out: lines of a
 * container are never taken back, and come in one order.  In the state
 * (core/remote/log_collect.h), by the pod's uid:
 *
 *	{"since": "2026-11-21T02:38:57Z", "seen": 3, "done": true}
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/net/http.h"
#include "core/net/url.h"
#include "core/remote/log_collect.h"
#include "providers/kubernetes/api/apiserver.h"
#include "providers/kubernetes/kube_follow.h"
#include "providers/kubernetes/objects.h"

/* In one look, so that a large run can't hold it up. */
#define PODS_MAX 512
/* A run that has ended waits so long for logs that nobody gives. */
#define SETTLE_MS 30000
/* The limit of a pod's log in one look; the next one resumes. */
#define LIMIT_BYTES (32u << 20)
#define ANSWER_MAX ((size_t)64 << 20)
#define SECOND_LEN 19 /* "2026-11-21T02:38:57" */
#define LOG_NAME "pod-log"

struct log_fetch {
	const struct pod_source *pod;
	char *url;
	struct http_response answer;
	int ret;
	struct error err;
};

/* ---- lines ------------------------------------------------------------- */

/* A line as the API gives it: "2026-11-21T02:38:57.123456789Z text". */
struct pod_line {
	const char *stamp;
	const char *text;
	size_t len;
};

/* The next one before `end`; false if there is none, and at one that has not
 * ended, unless the pod has. */
static bool next_line(const char **p, const char *end, bool ended,
		      struct pod_line *out)
{
	const char *from = *p;
	const char *to = memchr(from, '\n', (size_t)(end - from));
	const char *blank;

	if (from == end || (!to && !ended))
		return false;
	*p = to ? to + 1 : end;
	to = to ? to : end;
	blank = memchr(from, ' ', (size_t)(to - from));
	if (!blank)
		return false;
	*out = (struct pod_line){ .stamp = from,
				  .text = blank + 1,
				  .len = (size_t)(to - blank - 1) };
	return true;
}

/* How many lines of an answer are of a second, or later. */
static long long count_since(const struct buf *body, bool ended,
			     const char *since)
{
	const char *p = body->data;
	struct pod_line line;
	long long n = 0;

	while (next_line(&p, body->data + body->len, ended, &line))
		n += strncmp(line.stamp, since, SECOND_LEN) >= 0;
	return n;
}

static int64_t stamp_ms(const struct pod_line *line)
{
	char text[40];
	int64_t ms;

	snprintf(text, sizeof(text), "%.*s",
		 (int)(line->text - 1 - line->stamp), line->stamp);
	ms = time_parse(text);
	return ms > 0 ? ms : time_now_ms();
}

/* Adds what is new of an answer to `lines`, and says in `state` where the next
 * look begins; of `trials` each pod is one.  Returns whether anything was
 * new. */
static bool take_lines(const struct log_fetch *fetch, bool trials,
		       json_t *state, json_t *lines)
{
	const struct buf *body = &fetch->answer.body;
	/* Else its last line may go on. */
	bool whole = fetch->pod->ended && body->len < LIMIT_BYTES;
	const char *p = body->data;
	long long skip = json_get_int(state, "seen", 0);
	char since[SECOND_LEN + 2];
	struct pod_line line;
	bool any = false;

	while (p && next_line(&p, body->data + body->len, whole, &line)) {
		if (skip-- > 0)
			continue;
		any = true;
		snprintf(since, sizeof(since), "%.*sZ", SECOND_LEN, line.stamp);
		json_array_append_new(
			lines,
			log_collect_line(
				trials ? (long)fetch->pod->task + 1 : 0,
				trials ? 0 : fetch->pod->task, LOG_STDOUT,
				stamp_ms(&line), line.text, line.len));
	}
	if (any) {
		json_object_set_new(state, "since", json_string(since));
		json_object_set_new(
			state, "seen",
			json_integer(count_since(body, whole, since)));
	}
	return any;
}

/* ---- requests ---------------------------------------------------------- */

static char *log_url(const struct kube_at *at, const struct pod_source *pod,
		     const json_t *state)
{
	const char *since = json_get_text(state, "since", "");
	struct arena *mem = arena_new();
	struct buf url = { 0 };

	buf_printf(&url, "%s/log?container=main&timestamps=true&limitBytes=%u",
		   type_path(&type_pod, at, pod->name, mem), LIMIT_BYTES);
	if (*since)
		url_add_query(&url, "sinceTime", since);
	arena_free(mem);
	return buf_take(&url);
}

static void fetch_one(const struct kube_at *at, struct log_fetch *fetch)
{
	struct http_request request = { .method = "GET",
					.url = fetch->url,
					.answer_max = ANSWER_MAX,
					.flags = HTTP_REPEATABLE };

	fetch->ret =
		apiserver_send(at->api, &request, &fetch->answer, &fetch->err);
	if (fetch->ret == 0 && fetch->answer.status / 100 != 2)
		fetch->ret = apiserver_refused(
			fetch->answer.status, buf_text(&fetch->answer.body),
			fetch->answer.body.len, &fetch->err);
}

/* ---- a look ------------------------------------------------------------ */

static json_t *state_of_pod(const struct log_collect *c,
			    const struct pod_source *pod)
{
	json_t *all = json_object_get(c->state, "pods");

	if (!all) {
		all = json_object();
		json_object_set_new(c->state, "pods", all);
	}
	if (!json_object_get(all, pod->uid))
		json_object_set_new(all, pod->uid, json_object());
	return json_object_get(all, pod->uid);
}

/* One that is gone, or that never wrote, has no more. */
static void take_answer(struct log_collect *c, struct log_fetch *fetch,
			json_t *lines)
{
	json_t *state = state_of_pod(c, fetch->pod);
	bool more;

	if (fetch->ret < 0) {
		if (fetch->answer.status == 404 ||
		    (fetch->pod->ended && fetch->answer.status == 400))
			json_object_set_new(state, "done", json_true());
		return;
	}
	more = take_lines(fetch, c->spec.tuning.params.count, state, lines);
	/* The last look at one that has ended finds nothing. */
	if (fetch->pod->ended && !more)
		json_object_set_new(state, "done", json_true());
}

static bool is_done(struct log_collect *c, const struct pod_source *pod)
{
	return !pod->started ||
	       json_is_true(json_object_get(state_of_pod(c, pod), "done"));
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

/* Adds what each of several pods has written, in the order in which they began:
 * one may have taken another's place.  Takes the batches. */
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

/* True if all pods that are left were looked at. */
static bool look_at_all(struct log_collect *c, const struct kube_at *at,
			const struct pods *pods)
{
	json_t **batches =
		mem_alloc((pods->source_count + 1) * sizeof(*batches));
	size_t i, n = 0, left = 0, count = 0;
	size_t first = (size_t)json_get_int(c->state, "next", 0);

	if (first >= pods->source_count)
		first = 0;
	for (i = 0; i < pods->source_count; i++) {
		size_t k = (first + i) % pods->source_count;
		struct log_fetch fetch = { .pod = &pods->sources[k] };

		if (is_done(c, fetch.pod))
			continue;
		if (n++ == PODS_MAX) {
			json_object_set_new(c->state, "next",
					    json_integer((json_int_t)k));
			left++;
			break;
		}
		fetch.url = log_url(at, fetch.pod, state_of_pod(c, fetch.pod));
		fetch_one(at, &fetch);
		batches[count] = json_array();
		take_answer(c, &fetch, batches[count++]);
		left += !is_done(c, fetch.pod);
		http_response_done(&fetch.answer);
		free(fetch.url);
	}
	take_batches(c, batches, count);
	free(batches);
	return left == 0;
}

/* Whether there is no use in waiting longer. */
static bool is_settled(const struct log_collect *c)
{
	long long since_ms = json_get_int(c->state, "endMs", 0);

	if (!since_ms)
		json_object_set_new(c->state, "endMs",
				    json_integer(time_now_ms()));
	return since_ms && time_now_ms() - since_ms >= SETTLE_MS;
}

static void mark_whole(struct log_collect *c, struct pods *pods, bool all)
{
	for (size_t i = 0; i < pods->source_count; i++)
		pods->sources[i].whole = all || is_done(c, &pods->sources[i]);
}

bool pod_log_collect(const struct kube_at *at, const char *folder,
		     struct pods *pods, bool ended)
{
	struct log_collect c;
	struct error err;
	bool whole = false;
	int ret = log_collect_open(&c, folder, LOG_NAME, &err);

	if (ret == 0)
		whole = look_at_all(&c, at, pods) || (ended && is_settled(&c));
	else if (ret < 0)
		whole = true; /* it will not get better */
	if (ret <= 0)
		mark_whole(&c, pods, whole);
	log_collect_close(&c);
	return whole;
}
