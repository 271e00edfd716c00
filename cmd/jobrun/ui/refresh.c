/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/ui/refresh.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
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
	pid_t pid;
	int from; /* pipe with reports; -1: ended */
	int64_t heard_ms;
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
	survey->places[survey->place_count++] =
		(struct survey_place){ .key = key, .from = -1 };
	return i;
}

/* ---- in a place's process ---------------------------------------------- */

static void send_report(void *arg, size_t run, const struct error *why)
{
	struct refreshing *survey = arg;
	struct report report = { .run = run };

	if (why)
		snprintf(report.why, sizeof(report.why), "%s", why->text);
	if (write(survey->out, &report, sizeof(report)) < 0)
		_exit(1);
}

_Noreturn static void look_at(struct refreshing *survey, size_t place)
{
	struct session session;
	struct error err;
	size_t *some = arena_alloc(survey->mem, survey->count * sizeof(*some));
	size_t n = 0, i;

	for (i = 0; i < survey->count; i++)
		if (survey->place_of[i] == place)
			some[n++] = i;
	if (session_open(&session, survey->session->app, 0, &err) == 0)
		session_refresh_some(&session, survey->mem, survey->runs, some,
				     n, send_report, survey);
	else
		for (i = 0; i < n; i++)
			send_report(survey, some[i], &err);
	_exit(0);
}

/* ---- here -------------------------------------------------------------- */

static int begin(struct refreshing *survey, size_t i, struct error *err)
{
	struct survey_place *place = &survey->places[i];
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_errno(err, "cannot create a pipe");
	place->pid = fork();
	if (place->pid == 0) {
		/* The process and its children end with this process. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setpgid(0, 0);
		survey->out = ends[1];
		look_at(survey, i);
	}
	close(ends[1]);
	place->from = ends[0];
	place->heard_ms = time_monotonic_ms();
	if (place->pid > 0)
		return 0;
	close(place->from);
	place->from = -1;
	return error_errno(err, "cannot start a process");
}

static void end(struct survey_place *place)
{
	if (place->from < 0)
		return;
	close(place->from);
	place->from = -1;
	kill(-place->pid, SIGKILL);
	kill(place->pid, SIGKILL);
	while (waitpid(place->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static void take_report(struct refreshing *survey, struct survey_place *place)
{
	struct report report;
	ssize_t n = read(place->from, &report, sizeof(report));

	if (n < 0 && errno == EINTR)
		return;
	if (n != (ssize_t)sizeof(report) || report.run >= survey->count) {
		end(place);
		return;
	}
	place->heard_ms = time_monotonic_ms();
	survey->stale[report.run] =
		*report.why ? arena_strdup(survey->mem, report.why) : NULL;
}

/* Reads reports until all places are done or silent. */
static void hear(struct refreshing *survey)
{
	struct pollfd wait[PLACES_MAX];
	struct survey_place *of[PLACES_MAX];
	size_t i, n;

	do {
		int64_t left_ms = SILENT_MS, now_ms = time_monotonic_ms();

		for (i = 0, n = 0; i < survey->place_count; i++) {
			struct survey_place *place = &survey->places[i];
			int64_t until_ms = place->heard_ms + SILENT_MS;

			if (now_ms >= until_ms)
				end(place);
			if (place->from < 0)
				continue;
			if (until_ms - now_ms < left_ms)
				left_ms = until_ms - now_ms;
			wait[n] = (struct pollfd){ place->from, POLLIN, 0 };
			of[n++] = place;
		}
		if (n && poll(wait, n, (int)left_ms) > 0)
			for (i = 0; i < n; i++)
				if (wait[i].revents)
					take_report(survey, of[i]);
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
		key = session->visit ? NULL : key_of(runs[i], mem);
		if (key) {
			survey.place_of[i] = find_place(&survey, key);
			stale[i] = "no answer yet";
		}
	}
	for (i = 0; i < survey.place_count && ret == 0; i++)
		ret = begin(&survey, i, err);
	for (i = 0; i < count; i++)
		if (survey.place_of[i] == PLACES_MAX &&
		    session_refresh_one(session, mem, runs[i], &why) < 0)
			stale[i] = arena_strdup(mem, why.text);
	if (ret == 0)
		hear(&survey);
	for (i = 0; i < survey.place_count; i++)
		end(&survey.places[i]);
	for (i = 0; i < count && ret == 0; i++)
		if (survey.place_of[i] < PLACES_MAX)
			ret = read_again(&survey, i, err);
	return ret;
}
