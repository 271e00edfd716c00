/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan as a comment on a pull request:
 *
 *	**jobrun plan:** 1 to run, 1 to replace, 2 unchanged
 *
 *	**Replaced or deleted:**
 *	- ± node `vm-1` of `resnet`: zone cannot change in place
 *
 *	**Jobs:**
 *	- `resnet` (tpu-vm, `jobs/resnet.yaml`): 1 to run, 1 to replace
 *	- unchanged: `mnist`, `bert`
 *
 *	<details><summary>resnet: …</summary> … </details>
 *
 * Each entry is written whole or not at all.
 */
#include <stdlib.h>
#include <string.h>

#include "core/plan/markdown.h"
#include "core/plan/markdown_details.h"
#include "core/job/revision.h"
#include "core/plan/plan.h"

#define SAME_MAX 20  /* names of jobs in one sentence */
#define TAIL_MAX 300 /* bytes reserved for saying what was cut */

struct render {
	const struct plan *plan;
	struct markdown_room room;
	struct section danger, drift, missing, unknown, warnings, jobs, notes,
		details;
};

/* The limits, tried one after the other until no entry is left out. */
static const struct markdown_room rooms[] = {
	{ 0 },          { .files = 50 }, { 4000, 500, 20 }, { 1000, 200, 20 },
	{ 300, 60, 5 }, { 100, 20, 5 },
};

static bool is_danger(const struct action *action)
{
	return action->type == ACTION_REPLACE || action->type == ACTION_DELETE;
}

static void add_danger(struct render *render, const struct action *action)
{
	struct buf *out = &render->danger.text;
	const struct resource *it = action_resource(action);

	buf_printf(out, "- %s %s %s ", action_type_sign(action->type),
		   action_type_name(action->type), it->kind->name);
	markdown_code(out, it->name);
	buf_puts(out, " of ");
	markdown_code(out, action->job->job->job_id);
	buf_puts(out, ": ");
	markdown_sentence(out, action->reason, render->room.width);
	buf_putc(out, '\n');
	section_end_entry(&render->danger);
}

static void job_totals(const struct plan_job *job, size_t *totals,
		       size_t *follow)
{
	size_t i;

	memset(totals, 0, ACTION_TYPE_COUNT * sizeof(*totals));
	*follow = 0;
	for (i = 0; i < job->action_count; i++) {
		totals[job->actions[i]->type]++;
		*follow += job->actions[i]->follow;
	}
}

/* Returns the run of the job if there is something to say about it: it starts,
 * goes on, or has ended badly. */
static const struct action *run_of(const struct plan_job *job)
{
	size_t i;

	for (i = job->action_count; i-- > 0;) {
		const struct action *action = job->actions[i];

		if (!action_is_run(action))
			continue;
		if (action->type != ACTION_NOOP || action->follow ||
		    (action->have && action->have->run.state != RUN_SUCCEEDED))
			return action;
	}
	return NULL;
}

static bool is_unchanged(const struct plan_job *job)
{
	size_t i;

	for (i = 0; i < job->action_count; i++)
		if (job->actions[i]->type != ACTION_NOOP)
			return false;
	return !run_of(job);
}

/* Writes a summary such as "1 to run: not run yet". */
static void job_summary(const struct render *render, const struct plan_job *job,
			struct buf *out)
{
	const struct action *run = run_of(job);
	size_t totals[ACTION_TYPE_COUNT], follow;

	job_totals(job, totals, &follow);
	totals_summary(totals, follow, out);
	if (run) {
		buf_puts(out, "; ");
		markdown_sentence(out, run->reason, render->room.width);
	}
}

static void add_job(struct render *render, const struct plan_job *job)
{
	struct buf *out = &render->jobs.text;
	struct buf from = { 0 };

	buf_puts(out, "- ");
	markdown_code(out, job->job->job_id);
	buf_printf(out, " (%s", job->provider->name);
	if (job->job->file) {
		buf_puts(out, ", ");
		markdown_code(out, job->job->file);
	}
	buf_puts(out, "): ");
	job_summary(render, job, out);
	if (job->job->source_digest.hex[0]) {
		buf_puts(out, plan_job_ships(job) ? "; ships " : "; source: ");
		source_text(job->job, out);
	}
	revision_text(job->job->revision, &from);
	if (from.len) {
		buf_puts(out, "; from ");
		markdown_sentence(out, from.data, render->room.width);
	}
	buf_done(&from);
	if (job->estimate) {
		buf_puts(out, "; uses ");
		estimate_text(job->estimate, out);
	}
	buf_putc(out, '\n');
	section_end_entry(&render->jobs);
}

static void add_unchanged(struct render *render)
{
	struct buf *out = &render->jobs.text;
	size_t i, n = 0;

	for (i = 0; i < plan_job_count(render->plan); i++) {
		const struct plan_job *job = plan_job_at(render->plan, i);

		if (!is_unchanged(job) || n++ >= SAME_MAX)
			continue;
		buf_puts(out, n == 1 ? "- unchanged: " : ", ");
		markdown_code(out, job->job->job_id);
	}
	if (n > SAME_MAX)
		buf_printf(out, " and %zu more", n - SAME_MAX);
	if (n) {
		buf_putc(out, '\n');
		section_end_entry(&render->jobs);
	}
}

/* A message of one job; a message that many jobs share is printed once. */
struct said {
	const char *text;
	size_t job; /* index of the job in the plan */
	size_t at;  /* index among all texts, in the order of the plan */
};

static int by_text(const void *a, const void *b)
{
	const struct said *x = a, *y = b;
	int cmp = strcmp(x->text, y->text);

	return cmp ? cmp : (x->at > y->at) - (x->at < y->at);
}

/* Orders groups by the index of their first message. */
static int by_place(const void *a, const void *b)
{
	const struct said *const *x = a, *const *y = b;

	return ((*x)->at > (*y)->at) - ((*x)->at < (*y)->at);
}

static void add_said(struct render *render, struct section *section,
		     const struct said *first, size_t n)
{
	struct buf *out = &section->text;
	size_t i, names = 0;

	buf_puts(out, "- ");
	for (i = 0; i < n && names < 3; i++, names++) {
		const struct plan_job *job =
			plan_job_at(render->plan, first[i].job);

		buf_puts(out, i ? ", " : "");
		markdown_code(out, job->job->job_id);
	}
	if (n > names)
		buf_printf(out, " and %zu more", n - names);
	buf_puts(out, ": ");
	markdown_sentence(out, first->text, render->room.width);
	buf_putc(out, '\n');
	section_end_entry(section);
}

static size_t group_len(const struct said *all, size_t i, size_t n)
{
	size_t end = i + 1;

	while (end < n && !strcmp(all[end].text, all[i].text))
		end++;
	return end - i;
}

enum texts {
	TEXTS_MISSING,
	TEXTS_UNKNOWN,
	TEXTS_NOTES,
};

static const char *const *texts_of(const struct resources *desired,
				   enum texts which, size_t *count)
{
	switch (which) {
	case TEXTS_MISSING:
		*count = desired->missing_count;
		return desired->missing;
	case TEXTS_UNKNOWN:
		*count = desired->unknown != NULL;
		return &desired->unknown;
	case TEXTS_NOTES:
		break;
	}
	*count = desired->note_count;
	return desired->notes;
}

/* Adds the messages of one kind from all jobs. */
static void add_texts(struct render *render, struct section *section,
		      enum texts which)
{
	const struct said **groups;
	struct said *all = NULL;
	size_t i, j, n = 0, count = 0, room = 0;

	for (i = 0; i < plan_job_count(render->plan); i++) {
		size_t more;
		const char *const *texts = texts_of(
			plan_job_at(render->plan, i)->desired, which, &more);

		for (j = 0; j < more; j++, n++) {
			if (n == room) {
				room = room ? 2 * room : 16;
				all = mem_grow(all, room, sizeof(*all));
			}
			all[n] = (struct said){ texts[j], i, n };
		}
	}
	groups = mem_alloc((n + 1) * sizeof(*groups));
	if (n)
		qsort(all, n, sizeof(*all), by_text);
	for (i = 0; i < n; i += group_len(all, i, n))
		groups[count++] = &all[i];
	if (count)
		qsort(groups, count, sizeof(*groups), by_place);
	for (i = 0; i < count; i++)
		add_said(render, section, groups[i],
			 group_len(all, (size_t)(groups[i] - all), n));
	free(groups);
	free(all);
}

static bool is_drifted(const struct action *action)
{
	return action->type != ACTION_NOOP &&
	       (action->drift == DRIFT_CHANGED || action->drift == DRIFT_GONE);
}

static void add_drift(struct render *render, const struct action *action)
{
	struct buf *out = &render->drift.text;
	const struct resource *it = action_resource(action);
	size_t i, n = 0;

	buf_printf(out, "- %s ", it->kind->name);
	markdown_code(out, it->name);
	buf_puts(out, " of ");
	markdown_code(out, action->job->job->job_id);
	if (action->drift == DRIFT_GONE)
		buf_puts(out, ": deleted");
	for (i = 0; i < action->change_count; i++) {
		if (action->changes[i].cause != CHANGE_OUTSIDE &&
		    action->changes[i].cause != CHANGE_BOTH)
			continue;
		buf_puts(out, n++ ? ", " : ": ");
		markdown_code(out, action->changes[i].path);
	}
	buf_putc(out, '\n');
	section_end_entry(&render->drift);
}

static void add_details(struct render *render, const struct plan_job *job)
{
	markdown_details(job, &render->room, &render->details.text);
	section_end_entry(&render->details);
}

static void add_warning(struct render *render, const struct plan_job *job)
{
	struct buf *out = &render->warnings.text;
	struct buf text = { 0 };

	plan_job_warning(job, &text);
	if (text.len) {
		buf_puts(out, "- ");
		markdown_code(out, job->job->job_id);
		buf_puts(out, ": ");
		markdown_sentence(out, text.data, render->room.width);
		buf_putc(out, '\n');
		section_end_entry(&render->warnings);
	}
	buf_done(&text);
}

static void collect(struct render *render)
{
	const struct plan *plan = render->plan;
	size_t i, j;

	for (i = 0; i < plan_job_count(plan); i++) {
		const struct plan_job *job = plan_job_at(plan, i);
		bool details = false;

		for (j = 0; j < job->action_count; j++) {
			if (is_danger(job->actions[j]))
				add_danger(render, job->actions[j]);
			if (is_drifted(job->actions[j]))
				add_drift(render, job->actions[j]);
			details |= job->actions[j]->type != ACTION_NOOP;
		}
		add_warning(render, job);
		if (!is_unchanged(job))
			add_job(render, job);
		if (details)
			add_details(render, job);
	}
	add_unchanged(render);
	add_texts(render, &render->missing, TEXTS_MISSING);
	add_texts(render, &render->unknown, TEXTS_UNKNOWN);
	add_texts(render, &render->notes, TEXTS_NOTES);
}

static void write_cut(const size_t *missing, struct buf *out)
{
	static const char *const what[] = {
		"of what is replaced or deleted",
		"of what was changed outside",
		"of what is missing",
		"of what is unknown",
		"of the warnings",
		"of the jobs",
		"of the notes",
		"with the details of a job",
	};
	const char *between = " ";
	size_t i;

	for (i = 0; i < COUNT(what); i++)
		if (missing[i])
			break;
	if (i == COUNT(what))
		return;
	buf_puts(out, "\n_Cut to fit into a comment; omitted:");
	for (; i < COUNT(what); i++) {
		if (!missing[i])
			continue;
		buf_printf(out, "%s%zu %s %s", between, missing[i],
			   missing[i] == 1 ? "entry" : "entries", what[i]);
		between = ", ";
	}
	buf_puts(out, ". `jobrun plan` shows all._\n");
}

static void write_drift(const struct plan *plan, struct buf *out)
{
	struct buf text = { 0 };

	plan_drift_text(plan, &text);
	if (text.len)
		buf_printf(out, "\n%s\n", text.data);
	buf_done(&text);
}

static void write_estimate(const struct plan *plan, struct buf *out)
{
	const struct estimate_total *total = plan_estimate(plan);
	struct buf text = { 0 };

	if (!total)
		return;
	buf_puts(out, "\nThe runs use ");
	estimate_total_text(total, out);
	buf_puts(out, ".\n");
	estimate_unpriced_text(total, &text);
	if (text.len) {
		buf_putc(out, '\n');
		markdown_sentence(out, text.data, 0);
		buf_putc(out, '\n');
	}
	buf_done(&text);
}

static void write_targets(const struct plan *plan, struct buf *out)
{
	size_t i;

	if (!plan_target_count(plan))
		return;
	buf_puts(out, "\n**Partial:** only ");
	for (i = 0; i < plan_target_count(plan); i++) {
		buf_puts(out, i ? ", " : "");
		markdown_code(out, plan_target_at(plan, i));
	}
	buf_puts(out, " and what it depends on (`--target`).\n");
}

static void write_head(const struct plan *plan, struct buf *out)
{
	buf_puts(out, "**jobrun plan:** ");
	if (plan_is_empty(plan) && !plan_follow_count(plan))
		buf_puts(out, plan_count(plan) ? "nothing to do, "
					       : "nothing to do");
	plan_summary(plan, out);
	buf_putc(out, '\n');
	write_estimate(plan, out);
	write_drift(plan, out);
	write_targets(plan, out);
}

/* Writes the sections if they fit, or if this is the `last` way to write them;
 * returns whether they fit. */
static bool write_sections(struct render *render, size_t left, bool last,
			   struct buf *out)
{
	/* The sections by importance, which is also their order on the page. */
	struct section *const sections[] = {
		&render->danger,  &render->drift,    &render->missing,
		&render->unknown, &render->warnings, &render->jobs,
		&render->notes,   &render->details,
	};
	unsigned char *taken[COUNT(sections)];
	size_t chosen[COUNT(sections)], cut[COUNT(sections)];
	bool fits = true;
	size_t i;

	for (i = 0; i < COUNT(sections); i++) {
		taken[i] = mem_alloc(sections[i]->count + 1);
		chosen[i] = section_choose(sections[i], taken[i], &left);
		cut[i] = sections[i]->count - chosen[i];
		fits = fits && !cut[i];
	}
	if (fits || last) {
		for (i = 0; i < COUNT(sections); i++)
			section_write(sections[i], taken[i], chosen[i], out);
		write_cut(cut, out);
	}
	for (i = 0; i < COUNT(sections); i++) {
		free(taken[i]);
		section_done(sections[i]);
	}
	return fits;
}

void plan_render_markdown(const struct plan *plan, struct buf *out)
{
	size_t i, start = out->len, left;
	bool done = false;

	write_head(plan, out);
	left = PLAN_MARKDOWN_MAX - TAIL_MAX - (out->len - start);
	for (i = 0; i < COUNT(rooms) && !done; i++) {
		struct render render = { .plan = plan, .room = rooms[i] };

		render.danger.title = "**Replaced or deleted:**";
		render.drift.title =
			"**Changed outside jobrun since the last apply:**";
		render.missing.title =
			"**Missing, so these cannot be applied yet:**";
		render.unknown.title =
			"**Not checked, so the plan may change:**";
		render.warnings.title = "**Warnings:**";
		render.jobs.title = "**Jobs:**";
		render.notes.title = "**Notes:**";
		collect(&render);
		done = write_sections(&render, left, i + 1 == COUNT(rooms),
				      out);
	}
}
