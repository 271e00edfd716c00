/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/kubernetes/overview.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/net/url.h"
#include "providers/kubernetes/names.h"
#include "providers/kubernetes/watch.h"

#define FRESH_MS 1000
#define ANSWER_MAX ((size_t)64 << 20)

/* How one kind of object stands, in one namespace. */
struct kube_overview {
	const struct apiserver *api;
	const struct kube_type *type;
	char name_space[KUBE_NAMESPACE_MAX];
	char *first;   /* the run that was asked about first */
	json_t *lines; /* by name, each an object by column; or NULL */
	int64_t read_ms;
	struct kube_overview *next;
};

/* {"name": {"Suspended": …}} of a Table, or NULL. */
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

static json_t *ask(const struct kube_at *at, const struct kube_type *type)
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
	url_add_query(&url, "labelSelector", KUBE_LABEL_ATTEMPT);
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

/* Called under the lock. */
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

/* A run that waits is suspended or has none running; one that runs has not
 * ended.  What else may be is looked at. */
static bool is_unchanged(const struct kube_record *record, const json_t *line)
{
	bool suspended = is_text(line, "Suspended", "true") ||
			 json_is_true(json_object_get(line, "Suspended")) ||
			 is_text(line, "Status", "Suspended");

	if (!line)
		return false;
	if (!is_text(line, "TerminalState", "") ||
	    is_text(line, "Status", "Complete") ||
	    is_text(line, "Status", "Failed") ||
	    is_text(line, "Status", "Terminating"))
		return false;
	if (record->run.state == RUN_QUEUED)
		return suspended;
	return record->run.state == RUN_RUNNING && !suspended;
}

bool overview_is_enough(struct kube *kube, const struct kube_at *at,
			const struct kube_record *record)
{
	struct kube_overview *all;
	bool enough = false;

	/* Whoever follows a run wants to know what it writes. */
	if (watch_is_open(kube, at, record->type, record->name))
		return false;
	/* Under the lock, so that many who want to know ask once. */
	pthread_mutex_lock(&kube->lock);
	all = find(kube, at, record->type);
	if (!all->first)
		all->first = mem_strdup(record->name);
	if (strcmp(all->first, record->name) != 0) {
		if (!all->lines ||
		    time_monotonic_ms() - all->read_ms > FRESH_MS) {
			json_decref(all->lines);
			all->lines = ask(at, record->type);
			all->read_ms = time_monotonic_ms();
		}
		enough = is_unchanged(
			record, json_object_get(all->lines, record->name));
	}
	pthread_mutex_unlock(&kube->lock);
	return enough;
}

void overview_free_all(struct kube_overview *all)
{
	struct kube_overview *next;

	for (; all; all = next) {
		next = all->next;
		json_decref(all->lines);
		free(all->first);
		free(all);
	}
}
