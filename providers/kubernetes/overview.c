/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/kubernetes/overview.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/net/url.h"
#include "providers/kubernetes/manifest/kube_names.h"

#define FRESH_MS 1000
#define ANSWER_MAX ((size_t)64 << 20)

/* States of a run's pods, as a set of bits. */
enum pod_bit {
	POD_WAITS = 1 << 0, /* waits for a node */
	POD_BEGINS = 1 << 1,
	POD_OTHER = 1 << 2,
};

/* The state of all objects of one kind in a namespace. */
struct kube_overview {
	const struct apiserver *api;
	const struct kube_type *type;
	char name_space[KUBE_NAMESPACE_MAX];
	json_t *lines; /* objects by name, each by column; or NULL */
	int64_t read_ms;
	json_t *pods; /* enum pod_bit by name of the run; or NULL */
	int64_t pods_ms;
	struct kube_overview *next;
};

/* Returns {"name": {"Suspended": …}} from a Table, or NULL. */
static json_t *read_lines(const json_t *table)
{
	const json_t *columns = json_object_get(table, "columnDefinitions");
	const json_t *row, *cells;
	json_t *out;
	size_t i, j;

	if (!json_is_array(columns))
		return NULL;
	out = json_object();
	json_array_foreach(json_object_get(table, "rows"), i, row)
	{
		json_t *line = json_object();

		cells = json_object_get(row, "cells");
		for (j = 0; j < json_array_size(columns); j++)
			json_object_set(
				line,
				json_get_text(json_array_get(columns, j),
					      "name", ""),
				json_array_get(cells, j));
		json_object_set_new(out, json_get_text(line, "Name", ""), line);
	}
	return out;
}

/* Requests a Table; returns a new value, or NULL. */
static json_t *ask(const struct kube_at *at, const struct kube_type *type,
		   const char *label)
{
	struct http_request request = { .method = "GET",
					.answer_max = ANSWER_MAX,
					.flags = HTTP_REPEATABLE };
	struct http_response answer = { 0 };
	struct arena *mem = arena_new();
	struct buf url = { 0 };
	struct error ignored;
	json_t *table, *out = NULL;

	buf_puts(&url, type_path(type, at, NULL, mem));
	url_add_query(&url, "labelSelector", label);
	url_add_query(&url, "includeObject", "None");
	request.url = url.data;
	if (apiserver_send_as(at->api, &request, TYPE_TABLE, &answer,
			      &ignored) == 0 &&
	    answer.status == 200) {
		table = json_read(buf_text(&answer.body), answer.body.len,
				  "table", &ignored);
		out = read_lines(table);
		json_decref(table);
	}
	http_response_done(&answer);
	buf_done(&url);
	arena_free(mem);
	return out;
}

/* Returns the run's name from "NAME-POOL-0-INDEX-abcde" of a JobSet or
 * "NAME-INDEX-abcde" of a Job. */
static const char *run_of_pod(const struct kube_type *type, const char *pod,
			      struct arena *mem)
{
	int ends = type == &type_jobset ? 4 : 2;
	char *out = arena_strdup(mem, pod);
	char *end = NULL;

	for (; ends > 0; ends--) {
		end = strrchr(out, '-');
		if (!end)
			return "";
		*end = '\0';
	}
	return out;
}

static enum pod_bit pod_bit(const char *status)
{
	if (!strcmp(status, "Pending") || !strcmp(status, "SchedulingGated"))
		return POD_WAITS;
	if (!strcmp(status, "ContainerCreating") ||
	    !strcmp(status, "PodInitializing"))
		return POD_BEGINS;
	return POD_OTHER;
}

/* Requests the states of all pods; returns a new value, or NULL. */
static json_t *ask_pods(const struct kube_at *at, const struct kube_type *type)
{
	json_t *lines = ask(at, &type_pod, KUBE_LABEL_JOB);
	struct arena *mem = arena_new();
	json_t *out = lines ? json_object() : NULL;
	const char *name;
	json_t *line;

	json_object_foreach(lines, name, line)
	{
		const char *run = run_of_pod(type, name, mem);
		long long bits = json_get_int(out, run, 0);

		bits |= pod_bit(json_get_text(line, "Status", ""));
		json_put_int(out, run, bits);
	}
	json_decref(lines);
	arena_free(mem);
	return out;
}

/* Finds or adds an overview; the lock is held. */
static struct kube_overview *find(struct kube *kube, const struct kube_at *at,
				  const struct kube_type *type)
{
	struct kube_overview *one;

	for (one = kube->overviews; one; one = one->next)
		if (one->api == at->api && one->type == type &&
		    !strcmp(one->name_space, at->name_space))
			return one;
	one = mem_alloc(sizeof(*one));
	one->api = at->api;
	one->type = type;
	memcpy(one->name_space, at->name_space, sizeof(one->name_space));
	one->next = kube->overviews;
	kube->overviews = one;
	return one;
}

static bool is_text(const json_t *line, const char *key, const char *value)
{
	return !strcmp(json_get_text(line, key, ""), value);
}

static bool is_suspended(const json_t *line)
{
	return is_text(line, "Suspended", "true") ||
	       json_is_true(json_object_get(line, "Suspended")) ||
	       is_text(line, "Status", "Suspended");
}

static bool is_over(const json_t *line)
{
	return !is_text(line, "TerminalState", "") ||
	       is_text(line, "Status", "Complete") ||
	       is_text(line, "Status", "Failed") ||
	       is_text(line, "Status", "Terminating");
}

static bool is_late(int64_t read_ms)
{
	return time_monotonic_ms() - read_ms > FRESH_MS;
}

/* Whether the run's pods wait or begin as recorded; the lock is held. */
static bool pods_are_unchanged(struct kube_overview *all,
			       const struct kube_at *at,
			       const struct kube_record *record)
{
	long long bits;

	if (!all->pods || is_late(all->pods_ms)) {
		json_decref(all->pods);
		all->pods = ask_pods(at, all->type);
		all->pods_ms = time_monotonic_ms();
	}
	if (!all->pods)
		return false;
	bits = json_get_int(all->pods, record->name, 0);
	if (record->run.state == RUN_QUEUED)
		return !(bits & ~POD_WAITS);
	return bits & POD_BEGINS && !(bits & POD_OTHER);
}

/* Whether nothing has changed: a running run has not ended, or the object of a
 * waiting one is still suspended or its pods are unchanged.  Runs in other
 * states must be looked at.  The lock is held. */
static bool is_unchanged(struct kube_overview *all, const struct kube_at *at,
			 const struct kube_record *record)
{
	const json_t *line = json_object_get(all->lines, record->name);

	if (!line || is_over(line))
		return false;
	if (record->run.state == RUN_QUEUED && is_suspended(line))
		return true;
	if (is_suspended(line))
		return false;
	if (record->run.state == RUN_RUNNING)
		return true;
	return (record->run.state == RUN_QUEUED ||
		record->run.state == RUN_PREPARING) &&
	       pods_are_unchanged(all, at, record);
}

bool overview_is_enough(struct kube *kube, const struct kube_at *at,
			const struct kube_record *record)
{
	struct kube_overview *all;
	bool enough;

	/* The lock is held during the request, so that concurrent callers ask
	 * once. */
	pthread_mutex_lock(&kube->lock);
	all = find(kube, at, record->type);
	if (!all->lines || is_late(all->read_ms)) {
		json_decref(all->lines);
		all->lines = ask(at, record->type, KUBE_LABEL_ATTEMPT);
		all->read_ms = time_monotonic_ms();
	}
	enough = is_unchanged(all, at, record);
	pthread_mutex_unlock(&kube->lock);
	return enough;
}

void overview_free_all(struct kube_overview *all)
{
	struct kube_overview *next;

	for (; all; all = next) {
		next = all->next;
		json_decref(all->lines);
		json_decref(all->pods);
		free(all);
	}
}
