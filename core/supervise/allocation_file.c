/* SPDX-License-Identifier: Apache-2.0 */
#include "core/supervise/allocation_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/json.h"
#include "core/provider/listing.h"
#include "core/provider/provider.h"
#include "core/supervise/allocation.h"

#define INTERVAL_S 30

/* A resource and all its needs, each once and after its own needs. */
struct closure {
	const struct resource **items;
	size_t count;
	bool for_run;
};

static size_t find(const struct closure *closure, const struct resource *one)
{
	size_t i = 0;

	while (i < closure->count && closure->items[i] != one)
		i++;
	return i;
}

static void collect(struct closure *closure, const struct resource *of)
{
	size_t i;

	for (i = 0; i < of->need_count; i++) {
		const struct resource *need = of->needs[i];

		if (find(closure, need) < closure->count)
			continue;
		collect(closure, need);
		closure->items = mem_grow(closure->items, closure->count + 1,
					  sizeof(*closure->items));
		closure->items[closure->count++] = need;
		closure->for_run |= !!(need->kind->flags & KIND_FOR_RUN);
	}
}

static json_t *one_json(const struct closure *closure,
			const struct resource *one)
{
	json_t *out = json_object();
	json_t *needs = json_array();
	size_t i;

	json_put_text(out, "kind", one->kind->name);
	json_put_text(out, "name", one->name);
	if (one->place)
		json_put_text(out, "place", one->place);
	json_put(out, "properties", json_deep_copy(one->properties));
	if (one->request)
		json_put(out, "request", json_deep_copy(one->request));
	for (i = 0; i < one->need_count; i++)
		json_array_append_new(needs, json_integer((json_int_t)find(
						     closure, one->needs[i])));
	json_put(out, "needs", needs);
	return out;
}

static json_t *uploads_json(const struct closure *closure,
			    const struct resource *run, const char *provider,
			    long interval_s)
{
	const struct job *job = run->job;
	const struct scheduling *limits = &job->training_input.scheduling;
	json_t *out = json_object(), *list = json_array();
	size_t i;

	json_put_text(out, "provider", provider);
	json_put_text(out, "cleanup", cleanup_name(job->jobrun.cleanup));
	json_put_text(out, "jobId", job->job_id);
	json_put_text(out, "digest", job->digest.hex);
	if (job->set)
		json_put_text(out, "applyset", job->set);
	json_put_int(out, "intervalS", interval_s);
	json_put_int(out, "maxRunningTimeS", limits->max_running_time_s);
	json_put_int(out, "maxWaitTimeS", limits->max_wait_time_s);
	for (i = 0; i < closure->count; i++)
		json_array_append_new(list,
				      one_json(closure, closure->items[i]));
	json_put(out, "resources", list);
	return out;
}

const char *allocation_text(const struct resource *run, const char *provider,
			    long interval_s, struct arena *mem)
{
	struct closure closure = { 0 };
	const char *out = NULL;
	json_t *kept;
	char *text;

	collect(&closure, run);
	if (closure.for_run) {
		kept = uploads_json(&closure, run, provider, interval_s);
		text = json_canonical(kept);
		out = arena_strdup(mem, text);
		free(text);
		json_decref(kept);
	}
	free(closure.items);
	return out;
}

static struct job *read_job(const json_t *kept)
{
	struct arena *mem = arena_new();
	struct job *job = arena_alloc(mem, sizeof(*job));
	struct scheduling *limits = &job->training_input.scheduling;

	job->mem = mem;
	job->job_id = json_copy_text(kept, "jobId", mem);
	job->set = json_copy_text(kept, "applyset", mem);
	job->jobrun.provider = json_copy_text(kept, "provider", mem);
	job->jobrun.cleanup =
		cleanup_parse(json_get_text(kept, "cleanup", NULL));
	snprintf(job->digest.hex, sizeof(job->digest.hex), "%s",
		 json_get_text(kept, "digest", ""));
	limits->max_running_time_s =
		(long)json_get_int(kept, "maxRunningTimeS", 0);
	limits->max_wait_time_s = (long)json_get_int(kept, "maxWaitTimeS", 0);
	return job;
}

static const struct kind *find_kind(const struct provider *provider,
				    const char *name)
{
	const struct kind *const *kind;

	for (kind = provider->kinds; *kind; kind++)
		if (!strcmp((*kind)->name, name))
			return *kind;
	return NULL;
}

static int read_one(const json_t *value, struct allocation_file *out,
		    struct error *err)
{
	struct resources *all = out->resources;
	const char *kind = json_get_text(value, "kind", "");
	const struct kind *known = find_kind(out->provider, kind);
	struct resource *one;
	json_t *need;
	size_t i;

	if (!known)
		return error_set(err, ERROR_FAILED,
				 "provider '%s' has no resource '%s'",
				 out->provider->name, kind);
	one = resources_add(
		all, known,
		arena_strdup(all->mem, json_get_text(value, "name", "")),
		out->job);
	one->place = json_copy_text(value, "place", all->mem);
	one->properties = json_deep_copy(json_object_get(value, "properties"));
	one->request = json_deep_copy(json_object_get(value, "request"));
	json_array_foreach(json_object_get(value, "needs"), i, need)
	{
		size_t at = (size_t)json_integer_value(need);

		if (at >= one->index)
			return error_set(err, ERROR_FAILED,
					 "'%s' needs what is not there",
					 one->name);
		resource_needs(all, one, all->items[at]);
	}
	return 0;
}

int allocation_read(const json_t *kept, const struct provider *const *providers,
		    struct allocation_file *out, struct error *err)
{
	const char *name = json_get_text(kept, "provider", "");
	const json_t *value;
	size_t i;

	*out = (struct allocation_file){ 0 };
	for (; *providers; providers++)
		if (!strcmp((*providers)->name, name))
			out->provider = *providers;
	if (!out->provider || !out->provider->open)
		return error_set(err, ERROR_FAILED, "no provider '%s'", name);
	out->job = read_job(kept);
	out->resources = resources_new();
	out->interval_ms = json_get_int(kept, "intervalS", INTERVAL_S) * 1000;
	json_array_foreach(json_object_get(kept, "resources"), i, value)
	{
		if (read_one(value, out, err) < 0) {
			allocation_file_done(out);
			return -1;
		}
	}
	return 0;
}

void allocation_file_done(struct allocation_file *kept)
{
	resources_free(kept->resources);
	job_free(kept->job);
	*kept = (struct allocation_file){ 0 };
}
