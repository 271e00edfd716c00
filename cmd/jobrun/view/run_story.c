/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/view/run_story.h"

#include "cmd/jobrun/view/run_name.h"
#include "cmd/jobrun/view/trials.h"

/* Reads the attempts from the first up to this one. */
static int read_attempts(struct store *store, const struct run_record *run,
			 struct arena *mem, struct run_story *out,
			 struct error *err)
{
	size_t room = (size_t)(run->attempt - run->origin) + 1;
	struct run_record *all = arena_alloc(mem, room * sizeof(*all));
	struct run_record at;
	size_t n = 0;
	int ret;

	ret = store_run_get(store, run->job_id, run->origin, mem, &at, err);
	while (ret == 0 && at.attempt < run->attempt && n + 1 < room) {
		all[n++] = at;
		ret = store_run_after(store, &at, mem, &at, err);
	}
	if (ret < 0)
		return -1;
	all[n++] = *run;
	out->attempts = all;
	out->attempt_count = n;
	out->run = &all[n - 1];
	out->tasks = arena_alloc(mem, n * sizeof(*out->tasks));
	for (size_t i = 0; i < n; i++)
		if (store_task_list(store, &all[i], mem, &out->tasks[i], err) <
		    0)
			return -1;
	return 0;
}

static int read_before(struct store *store, struct arena *mem,
		       struct run_story *out, struct error *err)
{
	struct run_record *before = arena_alloc(mem, sizeof(*before));
	int ret = 1;

	if (out->run->origin > 1)
		ret = store_run_get(store, out->run->job_id,
				    out->run->origin - 1, mem, before, err);
	if (ret == 0)
		out->before = before;
	return ret < 0 ? -1 : 0;
}

/* Reads a part.  If the logs can't be read, it has no metrics, but the rest of
 * the story is still useful. */
static void read_part(struct session *session, const struct run_record *run,
		      const struct trial_record *trial, struct run_story *out)
{
	static const struct source_choice all = { 0 };
	struct story_part *part = &out->parts[out->part_count++];
	int number = trial ? trial->number : 0;
	struct error err;

	part->run = run;
	part->trial = trial;
	if (run_metrics_open(session, run, number, &all, &part->metrics, &err) <
		    0 ||
	    run_metrics_step(&part->metrics, run_state_is_final(run->state),
			     &err) < 0) {
		if (!trial || trial->start_time_ms)
			app_say(session->app, "%s: no metrics: %s", run->job_id,
				err.text);
		run_metrics_close(&part->metrics);
		return;
	}
	part->read = true;
}

static void read_parts(struct session *session, struct arena *mem,
		       struct run_story *out)
{
	size_t room = out->attempt_count + out->trials.count;

	out->parts = arena_alloc(mem, room * sizeof(*out->parts));
	if (!out->tuning)
		for (size_t i = 0; i < out->attempt_count; i++)
			read_part(session, &out->attempts[i], NULL, out);
	else
		for (size_t i = 0; i < out->trials.count; i++)
			if (!out->trial ||
			    out->trials.items[i].number == out->trial)
				read_part(session, out->run,
					  &out->trials.items[i], out);
}

int run_story_read(struct session *session, const char *name, struct arena *mem,
		   struct run_story *out, struct error *err)
{
	struct store *store = session->env.store;
	struct run_record run;

	*out = (struct run_story){ 0 };
	if (run_name_find(session, name, mem, &run, &out->trial, err) < 0 ||
	    read_attempts(store, &run, mem, out, err) < 0 ||
	    read_before(store, mem, out, err) < 0 ||
	    store_trial_list(store, &run, mem, &out->trials, err) < 0)
		return -1;
	if (out->trials.count)
		out->tuning = trials_spec(session, out->run, mem);
	read_parts(session, mem, out);
	return 0;
}

void run_story_done(struct run_story *story)
{
	for (size_t i = 0; i < story->part_count; i++)
		if (story->parts[i].read)
			run_metrics_close(&story->parts[i].metrics);
	story->part_count = 0;
}

const char *run_story_name(const struct run_story *story, struct arena *mem)
{
	if (story->trial)
		return arena_printf(mem, "%s.%d/%d", story->run->job_id,
				    story->run->attempt, story->trial);
	return arena_printf(mem, "%s.%d", story->run->job_id,
			    story->run->attempt);
}

const struct trial_record *run_story_trial(const struct run_story *story,
					   int number)
{
	for (size_t i = 0; i < story->trials.count; i++)
		if (story->trials.items[i].number == number)
			return &story->trials.items[i];
	return NULL;
}
