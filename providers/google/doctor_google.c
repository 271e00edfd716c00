/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/google/doctor_google.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/job/job.h"
#include "core/net/http.h"
#include "core/provider/checks.h"
#include "core/provider/provider.h"
#include "providers/google/auth/credentials.h"
#include "providers/google/base/endpoint.h"
#include "providers/google/google.h"
#include "providers/google/google_place.h"

#define GROUP "google"
#define REACH_TIMEOUT_MS 5000

struct reach {
	struct buf url;
	struct http_request request;
	struct http_call *call;
};

static void add_place(struct checks *all, const char *name,
		      const struct place_value *value, const char *advice)
{
	struct doctor_check *check =
		checks_add(all, GROUP, name,
			   value->text ? CHECK_OK : CHECK_MISSING, value->text);

	check->source = value->source;
	if (!value->text)
		check->advice = advice;
}

static void look_for_place(struct google *google, struct checks *all,
			   struct google_place *place)
{
	place_find(google, NULL, NULL, all->mem, place);
	add_place(all, "project", &place->project,
		  "set GOOGLE_CLOUD_PROJECT, or jobrun.project in the file");
	add_place(all, "zone", &place->zone,
		  "set jobrun.zone in the file, or 'gcloud config set "
		  "compute/zone NAME'");
	add_place(all, "region", &place->region,
		  "set trainingInput.region in the file");
}

/* Checks the token; returns true if there is one. */
static bool look_for_token(struct google *google, struct checks *all)
{
	struct buf token = { 0 };
	struct credentials *who;
	struct error err;
	int ret;

	who = google_credentials(google, &err);
	if (!who) {
		/* Having no credentials is fine; unreadable credentials are
		 * not. */
		if (getenv("GOOGLE_APPLICATION_CREDENTIALS"))
			checks_fail(all, GROUP, "credentials", &err);
		else
			checks_add(all, GROUP, "credentials", CHECK_MISSING,
				   NULL)
				->advice = arena_strdup(all->mem, err.text);
		return false;
	}
	checks_add(all, GROUP, "credentials", CHECK_OK,
		   arena_strdup(all->mem, credentials_text(who)));
	ret = credentials_token(who, &token, &err);
	secret_done(&token);
	if (ret < 0)
		checks_fail(all, GROUP, "access token", &err);
	else
		checks_add(all, GROUP, "access token", CHECK_OK, "given");
	return ret == 0;
}

static void start_reach(struct http *http, enum google_service service,
			const char *region, struct reach *reach)
{
	static const struct retry_policy once = { 0 };

	endpoint_add_root(service, region, &reach->url);
	reach->request = (struct http_request){
		.method = "GET",
		.url = reach->url.data,
		.flags = HTTP_REPEATABLE,
		.connect_timeout_ms = REACH_TIMEOUT_MS,
		.total_timeout_ms = REACH_TIMEOUT_MS,
		.retry = &once,
	};
	reach->call = http_start(http, &reach->request);
}

/* Checks that the service answers.  Any answer will do, as the requested object
 * does not exist. */
static void end_reach(struct reach *reach, enum google_service service,
		      struct checks *all)
{
	const char *name =
		arena_printf(all->mem, "%s API", service_name(service));
	struct http_response answer = { 0 };
	struct error err;

	if (http_wait(reach->call, &answer, &err) < 0)
		checks_fail(all, GROUP, name, &err);
	else
		checks_add(
			all, GROUP, name, CHECK_OK,
			arena_printf(all->mem, "%s answers", reach->url.data));
	http_response_done(&answer);
	buf_done(&reach->url);
}

static void look_for_services(struct http *http, const char *region,
			      struct checks *all)
{
	struct reach reach[SERVICE_COUNT] = { 0 };
	int i;

	for (i = 0; i < SERVICE_COUNT; i++)
		if (i != SERVICE_AIPLATFORM || region)
			start_reach(http, (enum google_service)i, region,
				    &reach[i]);
	for (i = 0; i < SERVICE_COUNT; i++)
		if (reach[i].call)
			end_reach(&reach[i], (enum google_service)i, all);
}

void doctor_google(const struct provider_env *env, struct checks *all)
{
	const struct http_options options = { .trace = env->trace_http };
	struct google *google;
	struct google_place place;
	struct error err;
	struct http *http = http_new(&options, &err);
	bool given;

	if (!http) {
		checks_fail(all, GROUP, "HTTP client", &err);
		return;
	}
	google = google_open(http);
	given = look_for_token(google, all);
	look_for_place(google, all, &place);
	if (given)
		look_for_services(http, place.region.text, all);
	google_close(google);
	http_free(http);
}

/* ---- a job ---- */

static void check_place(struct google *google, const struct job *job,
			const struct google_need *need, struct checks *all)
{
	const struct google_place file = {
		.project = { job->jobrun.project, "jobrun.project" },
		.zone = { job->jobrun.zone, "jobrun.zone" },
	};
	struct google_place place;
	struct error err;

	place_find(google, &file, NULL, all->mem, &place);
	if (place_need_project(&place, &err) < 0)
		checks_fail(all, GROUP, "project", &err);
	else
		add_place(all, "project", &place.project, NULL);
	if (need->zone && place_need_zone(&place, &err) < 0)
		checks_fail(all, GROUP, "zone", &err);
	else if (need->zone)
		add_place(all, "zone", &place.zone, NULL);
	if (need->region)
		checks_add(all, GROUP, "region", CHECK_OK, need->region);
}

void doctor_google_job(const struct job *job, const struct provider_env *env,
		       const struct google_need *need, struct checks *all)
{
	const struct http_options options = { .trace = env->trace_http };
	struct google *google;
	struct reach reach = { 0 };
	struct error err;
	struct http *http = http_new(&options, &err);

	if (!http) {
		checks_fail(all, GROUP, "HTTP client", &err);
		return;
	}
	google = google_open(http);
	if (!google_credentials(google, &err)) {
		checks_fail(all, GROUP, "credentials", &err);
	} else if (look_for_token(google, all)) {
		start_reach(http, need->service, need->region, &reach);
		end_reach(&reach, need->service, all);
	}
	check_place(google, job, need, all);
	google_close(google);
	http_free(http);
}
