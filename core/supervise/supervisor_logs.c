/* SPDX-License-Identifier: Apache-2.0 */
/* The upload of a run's logs by its supervisor. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/spec/upload_event.h"
#include "core/checkpoint/log_uploader.h"
#include "core/supervise/claim.h"
#include "core/supervise/ended.h"
#include "core/supervise/supervisor_process.h"

/* How long to wait for a failing store once the run has ended, or was
 * cancelled. */
#define PATIENCE_S 30
#define PATIENCE_CANCELLED_S 3

/* Names the folder after the time, such as "20261121T101500.123Z", as jobs of
 * the same name may run anywhere. */
static int run_folder(struct supervisor *s, char **out, struct error *err)
{
	struct run_record first;
	char time[40];
	size_t n = 0;

	if (store_run_get(s->store, s->run.job_id, s->run.origin, s->mem,
			  &first, err) != 0)
		return error_set(err, ERROR_FAILED, "the run is not recorded");
	time_format(first.create_time_ms, time, sizeof(time));
	for (const char *at = time; *at; at++)
		if (*at != '-' && *at != ':')
			time[n++] = *at;
	time[n] = '\0';
	*out = path_join(s->context.spec.logs.to, time);
	return 0;
}

void supervisor_keep_logs(struct supervisor *s,
			  const struct object_scheme *const *schemes)
{
	/* A request that fails for this long is reported, and repeated
	 * later. */
	static const struct retry_policy retry = {
		.first_ms = 500,
		.max_ms = 8000,
		.total_ms = 10000,
	};
	static const struct object_env env = { .retry = &retry };
	struct log_uploader_deps deps = {
		.first = s->run.origin, .every_s = s->context.spec.logs.every_s
	};
	char *to = NULL, *attempts = NULL, *events = NULL;
	char *first = store_run_folder(s->store, s->run.job_id, s->run.origin);
	struct error err;

	if (!s->context.spec.logs.to || run_folder(s, &to, &err) < 0)
		goto out;
	s->objects = object_store_new(schemes, &env);
	attempts = mem_strdup(first);
	*(strrchr(attempts, '.') + 1) = '\0';
	events = path_join(first, LOG_KEEPER_EVENTS);
	deps.objects = s->objects;
	deps.to = to;
	deps.attempts = attempts;
	deps.events = events;
	s->log_uploader = log_uploader_new(&deps, &err);
	if (s->log_uploader)
		log_uploader_attempt(s->log_uploader, s->run.attempt);
	else
		upload_event_add(events, UPLOAD_FAILING, err.text);
out:
	free(first);
	free(to);
	free(attempts);
	free(events);
}

void supervisor_keep_claim(struct supervisor *s)
{
	struct claim_keeper_deps deps = {
		.schemes = s->schemes,
		.url = claim_url(s->context.spec.ended, s->mem),
		.lease_s = s->context.spec.hosts.lease_s,
	};
	struct error err;
	char *owner;

	if (!deps.url)
		return;
	owner = store_owner(s->store, &err);
	deps.owner = owner;
	if (owner)
		s->claim = claim_keeper_new(&deps, &s->run, &err);
	if (!s->claim)
		fprintf(stderr, "cannot claim the job: %s\n", err.text);
	free(owner);
}

void supervisor_keep_end(struct supervisor *s)
{
	static const struct object_env env = { 0 };
	const struct object_put how = { .content_type = "application/json",
					.replace = true };
	struct object_store *objects;
	struct error err;
	char *text;

	if (!s->context.spec.ended || !ended_counts(&s->run))
		return;
	objects = object_store_new(s->schemes, &env);
	text = ended_text(&s->run);
	if (object_put_text(objects, s->context.spec.ended, text, &how, &err) <
	    0)
		fprintf(stderr, "cannot keep how it ended: %s\n", err.text);
	free(text);
	object_store_free(objects);
}

void supervisor_keep_last_logs(struct supervisor *s)
{
	if (s->log_uploader)
		log_uploader_end(s->log_uploader, s->run.state == RUN_CANCELLED
							  ? PATIENCE_CANCELLED_S
							  : PATIENCE_S);
	s->log_uploader = NULL;
	object_store_free(s->objects);
	s->objects = NULL;
}
