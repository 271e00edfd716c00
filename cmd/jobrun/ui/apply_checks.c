/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/ui/apply_checks.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/data/object_store.h"
#include "core/job/origin.h"
#include "core/job/traits.h"
#include "providers/stores.h"

int apply_check_missing(struct app *app, const struct plan *plan)
{
	struct error err;
	int status = 0;
	size_t i, j;

	for (i = 0; i < plan_job_count(plan); i++) {
		const struct plan_job *job = plan_job_at(plan, i);
		const struct resources *all = job->desired;

		for (j = 0; j < all->missing_count; j++) {
			bool denied =
				j >= all->missing_count - all->denied_count;

			error_set(&err, denied ? ERROR_DENIED : ERROR_INVALID,
				  "%s: %s", job->job->job_id, all->missing[j]);
			snprintf(err.where, sizeof(err.where), "%s",
				 job->job->file);
			app_fail(app, &err);
			if (status != ERROR_INVALID)
				status = err.code;
		}
	}
	return status;
}

int apply_check_stores(struct app *app, const struct plan *plan)
{
	const struct object_env env = { .trace_http = app->trace_http };
	struct object_store *store = object_store_new(object_schemes, &env);
	struct error err;
	int status = 0;
	size_t i;

	for (i = 0; i < plan_count(plan) && !status; i++) {
		const struct action *action = plan_at(plan, i);
		const struct job *job = action->job->job;
		const char *to = job->jobrun.checkpoints.to;

		if (!to || !strstr(to, "://") || action->type == ACTION_NOOP ||
		    !action->want || !action_is_run(action) ||
		    job->jobrun.hosts.count ||
		    !traits_have(action->job->provider->traits,
				 TRAIT_THIS_MACHINE) ||
		    object_check(store, to, &err) == 0)
			continue;
		error_prefix(&err, "%s: jobrun.checkpoints.to", job->job_id);
		status = app_fail(app, &err);
	}
	object_store_free(store);
	return status;
}

int apply_ask(struct app *app, const struct plan *plan, bool yes)
{
	bool must = plan_total(plan, ACTION_REPLACE) > 0 ||
		    plan_total(plan, ACTION_DELETE) > 0;
	struct error err;
	size_t i;

	for (i = 0; i < plan_job_count(plan); i++)
		if (plan_job_at(plan, i)->provider->asks)
			must = true;
	if (yes || !must || plan_is_empty(plan))
		return 0;
	if (app_confirm(app, "Do this?"))
		return 0;
	error_set(&err, ERROR_FAILED, "nothing done: %s",
		  isatty(STDIN_FILENO) && app->err_terminal
			  ? "not confirmed"
			  : "refusing without confirmation; pass --yes");
	return app_fail(app, &err);
}

int apply_take_over(const struct session *session, struct error *err)
{
	const struct plan *plan = session->plan;
	struct arena *mem = arena_new();
	struct run_record run;
	int ret = 0;
	size_t i;

	for (i = 0; i < plan_count(plan) && ret >= 0; i++) {
		const struct action *action = plan_at(plan, i);

		if (!action->follow ||
		    origin_is_same(action->have->run.origin,
				   action->want->job->origin))
			continue;
		ret = store_run_get(session->env.store, action->want->name, 0,
				    mem, &run, err);
		if (ret == 0)
			ret = store_run_put_origin(session->env.store, &run,
						   action->want->job->origin,
						   err);
	}
	arena_free(mem);
	return ret < 0 ? -1 : 0;
}
