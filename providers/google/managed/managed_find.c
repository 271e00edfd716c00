/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the runs of a job at its service. */
#include "core/base/clock.h"
#include "providers/google/managed/managed_internal.h"

#include <string.h>

#include "core/base/json.h"
#include "core/base/text.h"
#include "providers/google/google_labels.h"
#include "providers/google/google_place.h"

struct pairs managed_labels(const struct job *job, struct arena *mem)
{
	struct pairs out = { .items =
				     arena_alloc(mem, 5 * sizeof(*out.items)) };
	char label[GOOGLE_LABEL_MAX];

	google_label(job->job_id, label);
	out.items[out.count].name = "jobrun-job";
	out.items[out.count++].value = arena_strdup(mem, label);
	google_label(job->digest.hex, label);
	out.items[out.count].name = "jobrun-digest";
	out.items[out.count++].value = arena_strdup(mem, label);
	if (job->set) {
		set_digest(job->set, label);
		out.items[out.count].name = "jobrun-applyset";
		out.items[out.count++].value = arena_strdup(mem, label);
	}
	/* A job with as many labels as allowed has only digest 1. */
	if (job->labels.count + out.count < GOOGLE_LABELS) {
		google_label(job->digest2.hex, label);
		out.items[out.count].name = MANAGED_LABEL_DIGEST_2;
		out.items[out.count++].value = arena_strdup(mem, label);
	}
	if (job->origin && job->labels.count + out.count < GOOGLE_LABELS) {
		origin_label(job->origin, label);
		out.items[out.count].name = GOOGLE_LABEL_ORIGIN;
		out.items[out.count++].value = arena_strdup(mem, label);
	}
	return out;
}

void managed_put_labels(const struct job *job, const struct pairs *more,
			json_t *message)
{
	const struct pairs *const both[] = { &job->labels, more };
	json_t *labels = json_object();
	size_t i, j;

	for (i = 0; i < COUNT(both); i++)
		for (j = 0; both[i] && j < both[i]->count; j++)
			json_put_text(labels, both[i]->items[j].name,
				      both[i]->items[j].value);
	if (json_object_size(labels))
		json_object_set(message, "labels", labels);
	json_decref(labels);
}

const char *managed_label_of(const json_t *body, const char *name)
{
	return json_get_text(json_object_get(body, "labels"), name, "");
}

const char *managed_digest(const struct job *job, const json_t *body)
{
	const char *label = managed_label_of(body, "jobrun-digest");
	char own[GOOGLE_LABEL_MAX];

	if (!job)
		return label;
	google_label(job->digest.hex, own);
	return strcmp(label, own) == 0 ? job->digest.hex : label;
}

/* ---- where ------------------------------------------------------------- */

int managed_parent(struct managed *managed, const struct job *job,
		   struct arena *mem, const char **out, struct error *err)
{
	struct google_place file = { .project = { job->jobrun.project,
						  "jobrun.project" } };
	const char *location =
		managed->as->location ? managed->as->location(job) : NULL;
	struct google_place place;

	place_find(managed->google, &file, NULL, mem, &place);
	if (place_need_project(&place, err) < 0)
		return -1;
	*out = arena_printf(mem, "projects/%s%s%s", place.project.text,
			    location ? "/locations/" : "",
			    location ? location : "");
	return 0;
}

const char *managed_parent_of(const char *name, struct arena *mem)
{
	const char *end = strrchr(name, '/');

	while (end && end > name && end[-1] != '/')
		end--;
	return end ? arena_strndup(mem, name, (size_t)(end - 1 - name)) : name;
}

const char *managed_name(struct managed *managed, const char *parent,
			 const json_t *body, struct arena *mem)
{
	const struct managed_service *as = managed->as;

	if (!as->name_field)
		return arena_strdup(mem, json_get_text(body, "name", ""));
	return arena_printf(mem, "%s/%s/%s", parent, as->collections[0],
			    json_get_text(body, as->name_field, ""));
}

/* Returns the region in a name, or NULL; allocated in `mem`. */
static const char *region_of(const char *name, struct arena *mem)
{
	const char *at = strstr(name, "/locations/");

	if (!at)
		return NULL;
	at += strlen("/locations/");
	return arena_strndup(mem, at, strcspn(at, "/"));
}

int managed_call(struct managed *managed, const char *method, const char *name,
		 const char *suffix, const char *const *query,
		 const json_t *body, struct api_answer *answer,
		 struct error *err)
{
	struct arena *mem = arena_new();
	struct api_request request = {
		.service = managed->as->service,
		.region = region_of(name, mem),
		.method = method,
		.path = arena_printf(mem, "v1/%s%s", name, suffix),
		.query = query,
		.body = body,
		/* Except for creation, requests are about one named object and
		 * can be repeated. */
		.repeatable = true,
	};
	int ret = api_call(managed->google, &request, answer, err);

	arena_free(mem);
	return ret;
}

/* ---- finding ----------------------------------------------------------- */

struct managed_search {
	struct managed *managed;
	const char *collection;
	const char *job_id; /* NULL: every job */
	char label[GOOGLE_LABEL_MAX];
	struct managed_runs *out;
	size_t pages; /* that are left; 0: none is too many */
	bool more;    /* there are more of them */
};

/* Whether the job is ours.  Labels are lower case and shortened, so check the
 * title, too. */
static bool is_ours(const struct managed_search *search, const json_t *body)
{
	const char *title =
		json_get_text(body, search->managed->as->title_field, "");

	if (!search->job_id)
		return *managed_label_of(body, "jobrun-job");
	return !strcmp(managed_label_of(body, "jobrun-job"), search->label) &&
	       text_starts(title, search->job_id);
}

static int64_t created_ms(const json_t *body)
{
	return time_parse(json_get_text(body, "createTime", ""));
}

/* Inserts by time, the oldest first; equal times in order of arrival. */
static void insert(json_t *list, json_t *body)
{
	size_t i = json_array_size(list);

	while (i > 0 &&
	       created_ms(json_array_get(list, i - 1)) > created_ms(body))
		i--;
	json_array_insert(list, i, body);
}

static int take_page(void *arg, const json_t *page, struct error *err)
{
	struct managed_search *search = arg;
	json_t *item;
	size_t i;

	if (search->pages && --search->pages == 0 &&
	    *json_get_text(page, "nextPageToken", "")) {
		search->more = true;
		return error_set(err, ERROR_FAILED, "there are too many runs");
	}
	json_array_foreach(json_object_get(page, search->collection), i, item)
	{
		json_array_append(search->out->all, item);
		if (is_ours(search, item))
			insert(search->out->ours, item);
	}
	return 0;
}

static bool is_out_of_reach(const struct error *err)
{
	return err->code == ERROR_DENIED || strstr(err->text, "status 404") ||
	       strstr(err->text, "status 501");
}

void managed_pick(struct managed *managed, json_t *all, const char *job_id,
		  struct managed_runs *out)
{
	struct managed_search search = { .managed = managed, .job_id = job_id };
	json_t *item;
	size_t i;

	google_label(job_id, search.label);
	*out = (struct managed_runs){ json_incref(all), json_array() };
	json_array_foreach(all, i, item)
	{
		if (is_ours(&search, item))
			insert(out->ours, item);
	}
}

int managed_find(struct managed *managed, const char *parent,
		 const char *job_id, struct managed_runs *out,
		 struct error *err)
{
	return managed_find_some(managed, parent, job_id, 0, out, err);
}

int managed_find_some(struct managed *managed, const char *parent,
		      const char *job_id, size_t pages,
		      struct managed_runs *out, struct error *err)
{
	struct managed_search search = { .managed = managed,
					 .job_id = job_id,
					 .out = out };
	struct arena *mem = arena_new();
	struct buf filter = { 0 };
	const char *query[] = { "filter", NULL, "pageSize", "100", NULL };
	const char *const *collection;
	int ret = 0;

	*out = (struct managed_runs){ json_array(), json_array() };
	if (job_id)
		google_label(job_id, search.label);
	managed->as->filter(job_id, job_id ? search.label : NULL, &filter);
	query[1] = buf_text(&filter);
	for (collection = managed->as->collections; *collection && ret == 0;
	     collection++) {
		struct api_request request = {
			.service = managed->as->service,
			.region = region_of(parent, mem),
			.method = "GET",
			.path = arena_printf(mem, "v1/%s/%s", parent,
					     *collection),
			.query = filter.len ? query : query + 2,
		};

		search.collection = *collection;
		search.pages = pages;
		ret = api_list(managed->google, &request, take_page, &search,
			       err);
		/* Without access to a collection we have created nothing in
		 * it. */
		if (ret < 0 && collection > managed->as->collections &&
		    is_out_of_reach(err))
			ret = 0;
	}
	if (ret < 0)
		managed_runs_done(out);
	buf_done(&filter);
	arena_free(mem);
	return search.more ? 1 : ret;
}

void managed_runs_done(struct managed_runs *runs)
{
	json_decref(runs->all);
	json_decref(runs->ours);
	*runs = (struct managed_runs){ 0 };
}

/* Whether `body` already existed when `other` was created, which is then a
 * twin: two clients acted at once, or a request was repeated after its answer
 * was lost. */
static bool covers(const json_t *body, const json_t *other)
{
	const char *end = json_get_text(body, "endTime", NULL);

	return !strcmp(managed_label_of(body, "jobrun-digest"),
		       managed_label_of(other, "jobrun-digest")) &&
	       created_ms(body) <= created_ms(other) &&
	       (!end || time_parse(end) > created_ms(other));
}

static bool is_cancelled_twin(const struct managed_runs *runs, size_t i)
{
	const json_t *body = json_array_get(runs->ours, i);
	size_t j;

	if (!strstr(json_get_text(body, "state", ""), "CANCELL"))
		return false;
	for (j = 0; j < i; j++)
		if (covers(json_array_get(runs->ours, j), body))
			return true;
	return false;
}

const json_t *managed_newest(const struct managed_runs *runs)
{
	size_t n = json_array_size(runs->ours);

	while (n > 1 && is_cancelled_twin(runs, n - 1))
		n--;
	return n ? json_array_get(runs->ours, n - 1) : NULL;
}
