/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/ui/refresh.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "cmd/jobrun/ui/aside.h"
#include "cmd/jobrun/ui/visit.h"
#include "core/base/json.h"
#include "core/remote/remote_run.h"
#include "core/supervise/supervised.h"

/* How many places are asked at once; runs of further places share the last
 * process. */
#define PLACES_MAX 32
/* A place that reports nothing for this long is given up. */
#define SILENT_MS 1600

/* A report on one run, sent through a pipe in one write. */
struct report {
	size_t run;
	char why[512]; /* "": the run is fresh */
};

struct survey_place {
	const char *key;
	struct aside aside;
	struct refreshing *survey;
};

struct refreshing {
	struct session *session;
	struct arena *mem;
	struct run_record *const *runs;
	size_t count;
	const char **stale;
	size_t *place_of; /* by run; PLACES_MAX: not asked */
	struct survey_place places[PLACES_MAX];
	size_t place_count;
	int out; /* in the process of a place */
};

/* Returns the key of a run's place, which is in the properties of runs
 * elsewhere. */
static const char *key_of(const struct run_record *run, struct arena *mem)
{
	const struct provider *provider;
	struct resource resource = session_resource(run, &provider);
	json_t *properties;
	const char *key;

	if (!provider || !provider->asks ||
	    resource.kind == &kind_supervised_run)
		return NULL;
	properties = remote_run_properties(run);
	key = arena_printf(mem, "%s %s", provider->name,
			   json_get_text(properties, "place", ""));
	json_decref(properties);
	return key;
}

static size_t find_place(struct refreshing *survey, const char *key)
{
	size_t i;

	for (i = 0; i < survey->place_count; i++)
		if (!strcmp(survey->places[i].key, key))
			return i;
	if (i == PLACES_MAX)
		return i - 1;
	survey->places[survey->place_count++] = (struct survey_place){
		.key = key, .aside = { .from = -1 }, .survey = survey
	};
	return i;
}

/* ---- in a place's process ---------------------------------------------- */

static void send_report(void *arg, size_t run, const struct error *why)
{
	struct refreshing *survey = arg;
	struct report report = { .run = run };

	if (why)
		snprintf(report.why, sizeof(report.why), "%s", why->text);
	aside_report(survey->out, &report, sizeof(report));
}

static void look_at(void *arg, int out)
{
	const struct survey_place *at = arg;
	struct refreshing *survey = at->survey;
	size_t place = (size_t)(at - survey->places);
	struct session session;
	struct error err;
	size_t *some = arena_alloc(survey->mem, survey->count * sizeof(*some));
	size_t n = 0, i;

	survey->out = out;
	for (i = 0; i < survey->count; i++)
		if (survey->place_of[i] == place)
			some[n++] = i;
	if (session_open(&session, survey->session->app, 0, &err) == 0)
		session_refresh_some(&session, survey->mem, survey->runs, some,
				     n, send_report, survey);
	else
		for (i = 0; i < n; i++)
			send_report(survey, some[i], &err);
}

/* ---- here -------------------------------------------------------------- */

static void take_report(struct refreshing *survey, struct survey_place *place)
{
	struct report report;

	if (!aside_read(&place->aside, &report, sizeof(report)))
		return;
	if (report.run >= survey->count)
		aside_end(&place->aside);
	else
		survey->stale[report.run] =
			*report.why ? arena_strdup(survey->mem, report.why)
				    : NULL;
}

/* Reads reports until all places are done or silent. */
static void hear(struct refreshing *survey)
{
	struct pollfd wait[PLACES_MAX];
	struct survey_place *of[PLACES_MAX];
	size_t i, n;

	do {
		int64_t left_ms = SILENT_MS, own_ms;

		for (i = 0, n = 0; i < survey->place_count; i++) {
			struct survey_place *place = &survey->places[i];

			if (place->aside.from < 0)
				continue;
			own_ms = aside_left_ms(&place->aside, SILENT_MS);
			if (own_ms < left_ms)
				left_ms = own_ms;
			wait[n] =
				(struct pollfd){ place->aside.from, POLLIN, 0 };
			of[n++] = place;
		}
		if (n && poll(wait, n, (int)left_ms) < 0)
			continue;
		/* What is there counts, however late it is read. */
		for (i = 0; i < n; i++)
			if (wait[i].revents)
				take_report(survey, of[i]);
			else if (!aside_left_ms(&of[i]->aside, SILENT_MS))
				aside_end(&of[i]->aside);
	} while (n);
}

/* Reads a run again, and also later attempts that a look may have found. */
static int read_again(struct refreshing *survey, size_t i, struct error *err)
{
	struct run_record *run = survey->runs[i];
	struct store *store = survey->session->env.store;
	int ret = store_run_get(store, run->job_id, run->attempt, survey->mem,
				run, err);

	while (ret == 0 && run_state_is_final(run->state))
		ret = store_run_after(store, run, survey->mem, run, err);
	return ret < 0 ? -1 : 0;
}

int refresh_runs(struct session *session, struct arena *mem,
		 struct run_record *const *runs, size_t count,
		 const char **stale, struct error *err)
{
	struct refreshing survey = {
		.session = session,
		.mem = mem,
		.runs = runs,
		.count = count,
		.stale = stale,
		.place_of = arena_alloc(mem, (count + 1) * sizeof(size_t)),
	};
	struct session *home;
	const char *key;
	struct error why;
	size_t i;
	int ret = 0;

	for (i = 0; i < count; i++) {
		survey.place_of[i] = PLACES_MAX;
		stale[i] = NULL;
		if (run_state_is_final(runs[i]->state))
			continue;
		/* A visited place has answered already. */
		home = visit_of(session, runs[i]->job_id);
		key = home != session ? NULL : key_of(runs[i], mem);
		if (key) {
			survey.place_of[i] = find_place(&survey, key);
			stale[i] = "no answer yet";
		}
	}
	for (i = 0; i < survey.place_count && ret == 0; i++)
		ret = aside_start(&survey.places[i].aside, look_at,
				  &survey.places[i], err);
	for (i = 0; i < count; i++) {
		home = visit_of(session, runs[i]->job_id);
		if (survey.place_of[i] == PLACES_MAX &&
		    !(home != session && visit_is_fresh(session)) &&
		    session_refresh_one(home, mem, runs[i], &why) < 0)
			stale[i] = arena_strdup(mem, why.text);
	}
	if (ret == 0)
		hear(&survey);
	for (i = 0; i < survey.place_count; i++)
		aside_end(&survey.places[i].aside);
	for (i = 0; i < count && ret == 0; i++)
		if (survey.place_of[i] < PLACES_MAX)
			ret = read_again(&survey, i, err);
	return ret;
}
