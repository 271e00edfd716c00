/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/google/managed/managed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "providers/google/google_labels.h"
#include "providers/google/managed/managed_internal.h"

#define NAME_MAX_LEN 128
#define NAME_TRIES 1000

void *managed_open(const struct managed_service *as,
		   const struct provider_env *env, struct error *err)
{
	const struct http_options options = { .trace = env->trace_http };
	struct http *http = http_new(&options, err);
	struct managed *managed;

	if (!http)
		return NULL;
	managed = mem_alloc(sizeof(*managed));
	managed->as = as;
	managed->env = *env;
	managed->http = http;
	managed->google = google_open(http);
	managed_shared_init(&managed->shared);
	return managed;
}

void managed_close(void *ctx)
{
	struct managed *managed = ctx;

	if (!managed)
		return;
	google_close(managed->google);
	http_free(managed->http);
	managed_shared_done(&managed->shared);
	free(managed);
}

struct google *managed_google(struct managed *managed)
{
	return managed->google;
}

struct resource *managed_add_run(const struct managed_service *as,
				 const struct job *job, json_t *body,
				 struct resources *out)
{
	struct resource *run = resources_add(out, as->kind, job->job_id, job);
	size_t i;

	for (i = 0; i < run->index; i++)
		resource_needs(out, run, out->items[i]);
	/* The URL is set when the existing jobs are known. */
	run->request = json_object();
	json_put_text(run->request, "method", "POST");
	json_put_text(run->request, "url", "");
	json_put(run->request, "body", body);
	run->properties = as->properties(body);
	return run;
}

int64_t managed_time(const json_t *message, const char *key)
{
	int64_t ms = time_parse(json_get_text(message, key, ""));

	return ms < 0 ? 0 : ms;
}

long long managed_int64(const json_t *message, const char *key,
			long long fallback)
{
	const char *text = json_get_text(message, key, NULL);

	return text ? strtoll(text, NULL, 10)
		    : json_get_int(message, key, fallback);
}

/* ---- reading ----------------------------------------------------------- */

static bool is_listed(const struct managed_runs *runs, const char *field,
		      const char *name)
{
	json_t *item;
	size_t i;

	json_array_foreach(runs->all, i, item)
	{
		if (!strcmp(json_get_text(item, field, ""), name))
			return true;
	}
	return false;
}

/* Returns 1 if the name is free, 0 if a job too old to be listed has it. */
static int is_free(struct managed *managed, const char *parent,
		   const char *name, struct error *err)
{
	struct api_answer answer = { 0 };
	char *path = mem_printf("%s/%s/%s", parent, managed->as->collections[0],
				name);
	int ret = managed_call(managed, "GET", path, "", NULL, NULL, &answer,
			       err);

	if (ret < 0 && answer.status == 404)
		ret = 1;
	api_answer_done(&answer);
	free(path);
	return ret;
}

/* Returns the i-th name to try: the job's id, then with the first 8 digits of
 * the digest, then numbered. */
static const char *try_name(const struct job *job, int i, struct arena *mem)
{
	char end[32] = "";

	if (i == 1)
		snprintf(end, sizeof(end), "_%.8s", job->digest.hex);
	else if (i > 1)
		snprintf(end, sizeof(end), "_%.8s_%d", job->digest.hex, i);
	return arena_printf(mem, "%.*s%s", (int)(NAME_MAX_LEN - strlen(end)),
			    job->job_id, end);
}

static int choose_name(struct managed *managed, const char *parent,
		       const struct job *job, const struct managed_runs *runs,
		       struct arena *mem, const char **out, struct error *err)
{
	const char *field = managed->as->name_field;
	int i, ret;

	for (i = 0; i < NAME_TRIES; i++) {
		*out = try_name(job, i, mem);
		if (is_listed(runs, field, *out))
			continue;
		ret = is_free(managed, parent, *out, err);
		if (ret != 0)
			return ret < 0 ? -1 : 0;
	}
	return error_set(err, ERROR_FAILED,
			 "all possible names of '%s' are taken", job->job_id);
}

/* Finds what `adapt` needs: a free name and the parent. */
static int look_for_room(struct managed *managed, const char *parent,
			 const struct job *job, const struct managed_runs *runs,
			 struct arena *mem, struct resource *found,
			 struct error *err)
{
	const struct managed_service *as = managed->as;
	const char *location = as->location ? as->location(job) : NULL;
	const char *name = NULL;
	struct buf url = { 0 };

	if (as->name_field &&
	    choose_name(managed, parent, job, runs, mem, &name, err) < 0)
		return -1;
	endpoint_add(as->service, location, &url);
	buf_printf(&url, "v1/%s/%s", parent, as->collection(job));
	found->outputs = json_object();
	json_put_text(found->outputs, "url", url.data);
	if (name)
		json_put_text(found->outputs, as->name_field, name);
	buf_done(&url);
	return 0;
}

static void show_run(struct managed *managed, const struct job *job,
		     const struct managed_runs *runs, struct arena *mem,
		     struct resource *found)
{
	const json_t *body = managed_newest(runs);
	struct managed_state now = { 0 };

	managed->as->read(body, mem, &now);
	found->run.state = now.state;
	found->run.attempt = (int)json_array_size(runs->ours);
	found->run.exit_code = -1;
	found->run.unbegun =
		now.state == RUN_CANCELLED && !managed_time(body, "startTime");
	run_status_set_origin(&found->run,
			      managed_label_of(body, GOOGLE_LABEL_ORIGIN));
	resource_found(
		found, managed->as->properties(body), managed_digest(job, body),
		managed_label_of(body, MANAGED_LABEL_DIGEST_2), now.error);
}

/* Finds the parent.  A job without its file is where it was listed, or where
 * the record says. */
static int find_parent(struct managed *managed, const struct resource *want,
		       struct arena *mem, const char **out, struct error *err)
{
	const struct job *job = want->job;
	struct run_record run;
	const char *name;
	int ret;

	if (job->file)
		return managed_parent(managed, job, mem, out, err);
	if (want->place) {
		*out = want->place;
		return 0;
	}
	ret = managed_recorded(managed, job->job_id, mem, &run, &name, err);
	if (ret == 0)
		*out = managed_parent_of(name, mem);
	return ret;
}

int managed_read(void *ctx, const struct resource *want, struct resource *found,
		 struct error *err)
{
	struct managed *managed = ctx;
	struct arena *mem = arena_new();
	struct managed_runs runs = { 0 };
	struct error ignored;
	const json_t *body;
	const char *parent;
	int ret = find_parent(managed, want, mem, &parent, err);

	if (ret == 0)
		ret = managed_find_shared(managed, parent, want->job->job_id,
					  &runs, err);
	if (ret == 0 && want->job->file)
		ret = look_for_room(managed, parent, want->job, &runs, mem,
				    found, err);
	body = ret == 0 ? managed_newest(&runs) : NULL;
	if (body) {
		show_run(managed, want->job, &runs, mem, found);
		/* Another machine may have started the run.  If the store can't
		 * be written, nothing is recorded. */
		if (managed->env.store && want->job->file)
			managed_record(managed, want->job,
				       managed_name(managed, parent, body, mem),
				       body, &ignored);
	}
	managed_runs_done(&runs);
	arena_free(mem);
	return ret < 0 ? -1 : 0;
}

void managed_adapt(struct resource *want, const struct resource *found)
{
	json_t *body = json_object_get(want->request, "body");
	const char *key;
	json_t *value;

	json_object_foreach(found->outputs, key, value)
	{
		if (strcmp(key, "url") != 0)
			json_object_set(body, key, value);
		else
			json_object_set(want->request, key, value);
	}
}

/* ---- starting ---------------------------------------------------------- */

/*
 * Adopts a run with the job's digest that was not there when this was planned:
 * an earlier try has left it.  Returns 1 if there is none.
 */
static int adopt(struct managed *managed, const char *parent,
		 const struct resource *want, struct arena *mem,
		 struct error *err)
{
	const struct job *job = want->job;
	struct managed_runs runs = { 0 };
	const json_t *body;
	int ret = managed_find(managed, parent, job->job_id, &runs, err);

	if (ret < 0)
		return -1;
	body = managed_newest(&runs);
	ret = 1;
	if (body && (int)json_array_size(runs.ours) > want->run.attempt &&
	    job_was_run(job, managed_digest(job, body),
			managed_label_of(body, MANAGED_LABEL_DIGEST_2)))
		ret = managed_record(managed, job,
				     managed_name(managed, parent, body, mem),
				     body, err);
	managed_runs_done(&runs);
	return ret;
}

/*
 * Keeps one of several runs.  The service chooses names, so two clients, or a
 * request whose answer was lost, may have created two runs.  The oldest run
 * that was not there when this was planned stays, and the younger ones are
 * cancelled.  `made` is the run just created: it counts even if the list does
 * not show it yet, or shows only that it has ended.
 */
static int settle_twins(struct managed *managed, const char *parent,
			const struct resource *want, const json_t *made,
			struct arena *mem, struct error *err)
{
	const struct job *job = want->job;
	struct managed_runs runs = { 0 };
	const json_t *kept = NULL;
	json_t *body;
	size_t i;
	int ret = managed_find(managed, parent, job->job_id, &runs, err);

	json_array_foreach(runs.ours, i, body)
	{
		struct managed_state now = { 0 };

		managed->as->read(body, mem, &now);
		if ((int)i < want->run.attempt || ret < 0 ||
		    run_state_is_final(now.state) ||
		    !job_was_run(
			    job, managed_digest(job, body),
			    managed_label_of(body, MANAGED_LABEL_DIGEST_2)))
			continue;
		if (!kept)
			kept = body;
		else if (now.state != RUN_CANCELLING)
			ret = managed_end(
				managed,
				managed_name(managed, parent, body, mem), mem,
				err);
	}
	if (!kept)
		kept = made;
	if (ret == 0)
		ret = managed_record(managed, job,
				     managed_name(managed, parent, kept, mem),
				     kept, err);
	managed_runs_done(&runs);
	return ret;
}

static int post(struct managed *managed, const char *parent,
		const struct resource *want, struct arena *mem,
		struct error *err)
{
	const struct managed_service *as = managed->as;
	const struct job *job = want->job;
	struct api_request request = {
		.service = as->service,
		.region = as->location ? as->location(job) : NULL,
		.method = "POST",
		.path = arena_printf(mem, "v1/%s/%s", parent,
				     as->collection(job)),
		.body = json_object_get(want->request, "body"),
		.repeatable = as->create_repeatable,
	};
	struct api_answer answer = { 0 };
	int ret = api_call(managed->google, &request, &answer, err);

	if (ret == 0 && !as->name_field)
		ret = settle_twins(managed, parent, want, answer.body, mem,
				   err);
	else if (ret == 0)
		ret = managed_record(
			managed, job,
			managed_name(managed, parent, answer.body, mem),
			answer.body, err);
	else if (answer.status == 409)
		ret = 1;
	api_answer_done(&answer);
	return ret;
}

int managed_create(void *ctx, const struct resource *want, struct error *err)
{
	struct managed *managed = ctx;
	struct arena *mem = arena_new();
	const char *parent;
	int ret = managed_parent(managed, want->job, mem, &parent, err);

	managed_forget(managed);
	if (ret == 0)
		ret = adopt(managed, parent, want, mem, err);
	if (ret == 1)
		ret = post(managed, parent, want, mem, err);
	/* The name is taken, by our previous try or by others. */
	if (ret == 1)
		ret = adopt(managed, parent, want, mem, err);
	if (ret == 1)
		ret = error_set_final(
			err, ERROR_TRY_AGAIN,
			"somebody else has taken its name '%s' since the plan: "
			"plan again",
			json_get_text(json_object_get(want->request, "body"),
				      managed->as->title_field, ""));
	arena_free(mem);
	return ret;
}
