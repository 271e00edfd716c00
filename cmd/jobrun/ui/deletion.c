/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/ui/deletion.h"

#include <string.h>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/base/units.h"
#include "core/supervise/supervisor.h"
#include "providers/registry.h"

/* How long hosts that a run left behind may take to answer. */
#define LEFT_MS 15000

/* ---- where to look ----------------------------------------------------- */

static bool is_of(const struct deletion *deletion, const char *job_id,
		  const char *provider, const struct provider *at)
{
	return !strcmp(job_id, deletion->job_id) && !strcmp(provider, at->name);
}

static bool was_run_at(const struct deletion *deletion,
		       const struct provider *provider)
{
	const struct run_record *run = &deletion->run;

	return run->job_id && !strcmp(run->provider, provider->name);
}

/* Whether to look at the provider: the file, the store or a set names it, or
 * looking costs nothing. */
static bool may_be_at(const struct deletion *deletion,
		      const struct provider *provider)
{
	size_t i;

	if (!provider->open)
		return false;
	if (!provider->asks || was_run_at(deletion, provider))
		return true;
	if (deletion->job &&
	    !strcmp(deletion->job->jobrun.provider, provider->name))
		return true;
	for (i = 0; i < deletion->members.count; i++)
		if (is_of(deletion, deletion->members.items[i].job_id,
			  deletion->members.items[i].provider, provider))
			return true;
	for (i = 0; i < deletion->intents.count; i++)
		if (is_of(deletion, deletion->intents.items[i].job_id,
			  deletion->intents.items[i].provider, provider))
			return true;
	return false;
}

/* Finds the job's places at the provider, as far as they are known. */
static void find_places(const struct deletion *deletion,
			const struct provider *provider, struct places *out)
{
	size_t i;

	for (i = 0; i < deletion->members.count; i++) {
		const struct task_file_path *one = &deletion->members.items[i];

		if (one->place &&
		    is_of(deletion, one->job_id, one->provider, provider))
			places_add(out, deletion->mem, one->place);
	}
	if (deletion->job)
		places_add_job(out, deletion->mem, provider, NULL,
			       deletion->job);
}

/* Returns the place in the properties of the run, in `mem`; or NULL. */
static const char *place_of_run(const struct deletion *deletion)
{
	const char *text = deletion->run.properties;
	struct error ignored;
	json_t *properties =
		text ? json_read(text, strlen(text), "store", &ignored) : NULL;
	const char *place = json_get_text(properties, "place", NULL);

	place = place ? arena_strdup(deletion->mem, place) : NULL;
	json_decref(properties);
	return place;
}

/* Whether the job may have something at a place that can't be reached; not if
 * it is known to be elsewhere. */
static bool may_be_there(const struct deletion *deletion,
			 const struct provider *provider,
			 const struct places *known, const char *place)
{
	const char *own;
	size_t i;

	if (!place)
		return true;
	for (i = 0; i < known->count; i++)
		if (!strcmp(known->items[i], place))
			return true;
	if (was_run_at(deletion, provider)) {
		own = place_of_run(deletion);
		return !own || !strcmp(own, place);
	}
	return !known->count;
}

/* ---- what is there ----------------------------------------------------- */

/* Fails, or with --force notes what may be left. */
static int miss(struct deletion *deletion, const struct provider *provider,
		const char *place, const struct error *why, struct error *err)
{
	const struct run_record *run = &deletion->run;
	struct buf *left = &deletion->left;

	if (!deletion->force)
		return error_set(err, why->code,
				 "delete '%s': %s; --force forgets it here and "
				 "leaves what may remain there",
				 deletion->job_id, why->text);
	if (!deletion->blind_count ||
	    deletion->blind[deletion->blind_count - 1] != provider)
		deletion->blind[deletion->blind_count++] = provider;
	buf_printf(left, "%s%s%s%s: ", provider->name, place ? " (" : "",
		   place ? place : "", place ? ")" : "");
	if (was_run_at(deletion, provider))
		buf_printf(left, "its run, %s when last seen, ",
			   run_state_name(run->state));
	else
		buf_puts(left, "a run of it ");
	buf_printf(left, "and its files and logs may remain there (%s)\n",
		   why->text);
	return 0;
}

static int find_at(struct deletion *deletion, const struct provider *provider,
		   struct error *err)
{
	struct remains *remains = &deletion->remains[deletion->count];
	struct places places = { 0 };
	struct listing all;
	struct error why;
	void *ctx = session_context(deletion->session, provider, &why);
	size_t i;
	int ret = 0;

	if (!ctx)
		return miss(deletion, provider, NULL, &why, err);
	find_places(deletion, provider, &places);
	listing_init(&all);
	provider_list(provider, ctx, &places, &all);
	for (i = 0; i < all.unreached_count && ret == 0; i++)
		if (may_be_there(deletion, provider, &places,
				 all.unreached[i].place))
			ret = miss(deletion, provider, all.unreached[i].place,
				   &all.unreached[i].why, err);
	if (ret == 0) {
		deletion->count++;
		if (remains_read(provider, ctx, &all, deletion->job_id, remains,
				 &why) < 0) {
			ret = miss(deletion, provider, NULL, &why, err);
			remains_done(remains);
			deletion->count--;
		}
	}
	listing_done(&all);
	places_done(&places);
	return ret;
}

/* ---- what to do -------------------------------------------------------- */

static int check_run(const struct deletion *deletion,
		     const struct resource *live, struct error *err)
{
	const struct run_record *run = &deletion->run;
	char since[48] = "", age[32];

	if (deletion->job && !deletion->take_over &&
	    plan_check_origin(deletion->job_id, &live->run,
			      deletion->job->origin, err) < 0)
		return -1;
	if (live->run.state == RUN_CANCELLING)
		return error_set(err, ERROR_TRY_AGAIN,
				 "delete '%s': it is still being ended: "
				 "'jobrun wait %s' waits for that",
				 deletion->job_id, deletion->job_id);
	if (run->job_id && run->start_time_ms) {
		duration_format(
			(long)((time_now_ms() - run->start_time_ms) / 1000),
			age, sizeof(age));
		snprintf(since, sizeof(since), ", for %s", age);
	}
	return error_set(err, ERROR_TRY_AGAIN,
			 "delete '%s': still running; 'jobrun cancel %s' stops "
			 "it (attempt %d%s)",
			 deletion->job_id, deletion->job_id, live->run.attempt,
			 since);
}

/* Refuses to delete the ended run of another project, to which its logs and
 * models belong. */
static int check_ended(const struct deletion *deletion, struct error *err)
{
	const struct run_record *run = &deletion->run;
	struct run_status status = { .state = run->state,
				     .attempt = run->attempt };

	if (!deletion->job || deletion->take_over || !run->job_id)
		return 0;
	run_status_set_origin(&status, run->job_origin);
	return plan_check_origin(deletion->job_id, &status,
				 deletion->job->origin, err);
}

static int plan_all(struct deletion *deletion, struct error *err)
{
	const char *held = NULL;
	size_t i;

	if (check_ended(deletion, err) < 0)
		return -1;

	for (i = 0; i < deletion->count; i++) {
		struct remains *one = &deletion->remains[i];
		const struct resource *run = remains_live_run(one);
		const char *why;

		if (run && check_run(deletion, run, err) < 0)
			return -1;
		why = remains_leave_held(one);
		if (why)
			buf_printf(&deletion->left, "%s\n", held = why);
		if (!remains_are_none(one))
			remains_plan(one, "as asked", deletion->plan);
	}
	if (held && !plan_count(deletion->plan))
		return error_set(err, ERROR_TRY_AGAIN, "delete '%s': %s",
				 deletion->job_id, held);
	return 0;
}

static void forget_found(struct deletion *deletion)
{
	size_t i;

	for (i = 0; i < deletion->count; i++)
		remains_done(&deletion->remains[i]);
	deletion->count = 0;
}

/* Finds what there is, and plans to delete it. */
static int find_all(struct deletion *deletion, struct error *err)
{
	size_t i;

	for (i = 0; providers[i]; i++)
		if (may_be_at(deletion, providers[i]) &&
		    find_at(deletion, providers[i], err) < 0)
			return -1;
	return plan_all(deletion, err);
}

/* Whether a run that was going when last seen is nowhere now. */
static bool has_vanished(const struct deletion *deletion)
{
	return deletion->run.job_id &&
	       !run_state_is_final(deletion->run.state) &&
	       deletion_is_empty(deletion);
}

int deletion_find(struct deletion *deletion, struct error *err)
{
	struct store *store = deletion->session->env.store;
	int ret;

	deletion->mem = arena_new();
	deletion->plan = plan_new();
	if (store_member_list(store, NULL, deletion->mem, &deletion->members,
			      err) < 0 ||
	    store_intent_list(store, deletion->mem, &deletion->intents, err) <
		    0 ||
	    store_run_get(store, deletion->job_id, 0, deletion->mem,
			  &deletion->run, err) < 0)
		return -1;
	ret = find_all(deletion, err);
	/* A look finds out how it has ended, and what is left then. */
	if (ret == 0 && has_vanished(deletion)) {
		ret = session_refresh_one(deletion->session, deletion->mem,
					  &deletion->run, err);
		forget_found(deletion);
		if (ret == 0)
			ret = find_all(deletion, err);
	}
	return ret;
}

static int end_left(struct deletion *deletion, const struct run_record *run,
		    bool now, struct error *err)
{
	struct store *store = deletion->session->env.store;
	struct left_hosts left;
	struct error ignored;
	size_t i;

	if (supervisor_left(store, run, deletion->mem, &left, err) < 0)
		return -1;
	if (!left.count || (now && supervisor_end_left(store, run, true,
						       LEFT_MS, &ignored) == 0))
		return 0;
	if (supervisor_left(store, run, deletion->mem, &left, err) < 0)
		return -1;
	for (i = 0; i < left.count; i++) {
		left_host_put(&left.items[i], &deletion->left);
		buf_putc(&deletion->left, '\n');
	}
	return now ? supervisor_forget_left(store, run, err) : 0;
}

int deletion_end_left(struct deletion *deletion, bool now, struct error *err)
{
	struct run_list all;
	int ret = 0;
	size_t i;

	if (!deletion->force)
		return 0;
	if (store_run_list(deletion->session->env.store, true, deletion->mem,
			   &all, err) < 0)
		return -1;
	/* All attempts of a run share these hosts. */
	for (i = 0; i < all.count && ret == 0; i++)
		if (!strcmp(all.items[i].job_id, deletion->job_id) &&
		    all.items[i].attempt == all.items[i].origin)
			ret = end_left(deletion, &all.items[i], now, err);
	return ret;
}

bool deletion_is_empty(const struct deletion *deletion)
{
	return !plan_count(deletion->plan) && !deletion->blind_count;
}

/* ---- afterwards -------------------------------------------------------- */

static bool was_looked_at(const struct deletion *deletion, const char *provider)
{
	size_t i;

	for (i = 0; i < deletion->count; i++)
		if (!strcmp(deletion->remains[i].provider->name, provider))
			return true;
	for (i = 0; i < deletion->blind_count; i++)
		if (!strcmp(deletion->blind[i]->name, provider))
			return true;
	return false;
}

/* Forgets all attempts whose places can't be reached. */
static int forget_runs(struct deletion *deletion, struct error *err)
{
	struct store *store = deletion->session->env.store;
	struct run_record run;
	int ret;
	size_t i;

	for (;;) {
		ret = store_run_get(store, deletion->job_id, 0, deletion->mem,
				    &run, err);
		if (ret != 0)
			return ret < 0 ? -1 : 0;
		for (i = 0; i < deletion->blind_count; i++)
			if (!strcmp(deletion->blind[i]->name, run.provider))
				break;
		if (i == deletion->blind_count)
			return 0;
		if (store_run_delete(store, &run, err) < 0)
			return -1;
	}
}

int deletion_forget(struct deletion *deletion, struct error *err)
{
	struct store *store = deletion->session->env.store;
	size_t i;
	int ret = 0;

	for (i = 0; i < deletion->members.count && ret == 0; i++) {
		const struct task_file_path *one = &deletion->members.items[i];

		if (!strcmp(one->job_id, deletion->job_id) &&
		    was_looked_at(deletion, one->provider))
			ret = store_member_drop(store, NULL, one->job_id,
						one->provider, err);
	}
	/* Close the intents that a killed command left for the job. */
	for (i = 0; i < deletion->intents.count && ret == 0; i++) {
		const struct intent_record *one = &deletion->intents.items[i];

		if (!strcmp(one->job_id, deletion->job_id) &&
		    was_looked_at(deletion, one->provider))
			ret = store_intent_end(store, one, INTENT_DONE, NULL,
					       err);
	}
	return ret < 0 ? -1 : forget_runs(deletion, err);
}

void deletion_done(struct deletion *deletion)
{
	plan_free(deletion->plan);
	forget_found(deletion);
	buf_done(&deletion->left);
	arena_free(deletion->mem);
}
