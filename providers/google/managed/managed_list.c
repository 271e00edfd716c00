/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists all runs that jobrun has started at a managed service, by their labels.
 * Pruning and deleting find runs by this on a machine without records.
 */
#include "providers/google/managed/managed_internal.h"

#include <ctype.h>
#include <string.h>

#include "core/base/json.h"
#include "core/remote/remote_run.h"
#include "providers/google/auth/credentials.h"
#include "providers/google/google_labels.h"
#include "providers/google/google_place.h"

#define ANY_PROJECT "projects/-"

const char *managed_place(const struct job *job, const char *location,
			  struct arena *mem)
{
	const char *project = job->jobrun.project;

	if (!project && !location)
		return NULL;
	return arena_printf(mem, "projects/%s%s%s", project ? project : "-",
			    location ? "/locations/" : "",
			    location ? location : "");
}

/* ---- one run ----------------------------------------------------------- */

/* Returns the length of a title without the end that try_name() in managed.c
 * has added: "resnet_01234567", "resnet_01234567_2". */
static size_t stem_len(const char *title)
{
	size_t len = strlen(title), i = len;

	while (i && isdigit((unsigned char)title[i - 1]))
		i--;
	if (i && i < len && title[i - 1] == '_' && i > 9 &&
	    title[i - 10] == '_')
		len = i - 1;
	if (len < 9 || title[len - 9] != '_')
		return strlen(title);
	for (i = len - 8; i < len; i++)
		if (!isxdigit((unsigned char)title[i]))
			return strlen(title);
	return len - 9;
}

static bool is_labelled(const char *job_id, const char *label)
{
	char own[GOOGLE_LABEL_MAX];

	google_label(job_id, own);
	return !strcmp(own, label);
}

/* Returns the job's id, or NULL if the run is not ours.  The label is lower
 * case and shortened, the title has the whole id. */
static const char *job_id_of(const struct managed *managed, const json_t *body,
			     struct arena *mem)
{
	const char *title = json_get_text(body, managed->as->title_field, "");
	const char *label = managed_label_of(body, "jobrun-job");
	const char *out = title;

	if (strlen(label) < GOOGLE_LABEL_MAX - 1)
		out = arena_strndup(mem, title, strlen(label));
	else if (managed->as->name_field)
		out = arena_strndup(mem, title, stem_len(title));
	return *out && is_labelled(out, label) ? out : NULL;
}

static void add_run(const struct managed *managed, const char *place,
		    const char *job_id, const json_t *body, struct arena *mem,
		    struct listing *out)
{
	const char *set = managed_label_of(body, "jobrun-applyset");
	struct managed_state now = { 0 };
	struct listed one = {
		.kind = managed->as->kind,
		.name = job_id,
		.place = place,
		.labels = { .job_id = job_id,
			    .digest = managed_label_of(body, "jobrun-digest"),
			    .set_digest = *set ? set : NULL,
			    .origin = managed_label_of(body,
						       GOOGLE_LABEL_ORIGIN) },
		.create_time_ms = managed_time(body, "createTime"),
	};

	managed->as->read(body, mem, &now);
	one.live = !run_state_is_final(now.state);
	one.succeeded = now.state == RUN_SUCCEEDED;
	listing_add(out, &one);
}

/* ---- all of a place ---------------------------------------------------- */

static int list_place(struct managed *managed, const char *place,
		      struct arena *mem, struct listing *out, struct error *err)
{
	struct managed_runs runs = { 0 };
	json_t *newest = json_object();
	const char *job_id;
	json_t *body;
	size_t i;
	int ret = managed_find(managed, place, NULL, &runs, err);

	json_array_foreach(runs.ours, i, body)
	{
		job_id = job_id_of(managed, body, mem);
		if (job_id) /* later items are newer */
			json_object_set(newest, job_id, body);
	}
	json_object_foreach(newest, job_id, body)
		add_run(managed, place, job_id, body, mem, out);
	json_decref(newest);
	managed_runs_done(&runs);
	return ret;
}

static const char *place_of(const json_t *properties, struct arena *mem)
{
	return managed_parent_of(json_get_text(properties, "name", ""), mem);
}

/* Lists the runs that the service has forgotten or that are elsewhere. */
static int list_remembered(struct managed *managed, struct listing *out,
			   struct error *err)
{
	return remote_run_list(&managed->env, managed->as->provider,
			       managed->as->kind, place_of, NULL, out, err);
}

/* Returns "projects/-/locations/R" with the configured project; NULL if there
 * is none. */
static const char *find_place(struct managed *managed, const char *place,
			      struct arena *mem)
{
	struct google_place here;

	if (place && strncmp(place, ANY_PROJECT, strlen(ANY_PROJECT)) != 0)
		return place;
	place_find(managed->google, NULL, NULL, mem, &here);
	if (!here.project.text)
		return NULL;
	if (place)
		return arena_printf(mem, "projects/%s%s", here.project.text,
				    place + strlen(ANY_PROJECT));
	if (!managed->as->location)
		return arena_printf(mem, "projects/%s", here.project.text);
	if (!here.region.text)
		return NULL;
	return arena_printf(mem, "projects/%s/locations/%s", here.project.text,
			    here.region.text);
}

/* Lists the place set up on this machine, where maybe nothing was ever run:
 * without access to the service there is nothing of ours. */
static int list_here(struct managed *managed, struct arena *mem,
		     struct listing *out, struct error *err)
{
	const char *place = credentials_are_set_up()
				    ? find_place(managed, NULL, mem)
				    : NULL;
	struct error why;

	if (!place || list_place(managed, place, mem, out, &why) == 0 ||
	    error_is_denied(&why) || why.code == ERROR_FAILED)
		return list_remembered(managed, out, err);
	*err = why;
	return -1;
}

int managed_list(void *ctx, const char *place, struct listing *out,
		 struct error *err)
{
	struct managed *managed = ctx;
	struct arena *mem = arena_new();
	int ret = -1;

	if (!place) {
		ret = list_here(managed, mem, out, err);
	} else {
		place = find_place(managed, place, mem);
		if (place)
			ret = list_place(managed, place, mem, out, err);
		else
			place_need_project(&(struct google_place){ 0 }, err);
	}
	arena_free(mem);
	return ret;
}
