/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan for a terminal:
 *
 *	quickstart  (local)  jobs/a.yaml
 *	  ↻ run  quickstart  not run yet
 *	      command  /usr/bin/python3 -u train.py
 *
 *	Plan: 1 to run.
 */
#include <string.h>

#include "core/job/revision.h"
#include "core/plan/plan.h"
#include "core/base/show.h"
#include "core/plan/show_value.h"

#define COLUMN_MAX 40   /* for names and paths; longer ones push the rest */
#define VALUE_MIN 16    /* for a value, however narrow the terminal is */
#define CONTEXT 8       /* columns kept before the first difference */
#define UNCHANGED_MAX 4 /* lines per job; the others are counted */

#define BOLD "\033[1m"
#define RED "\033[31m"
#define GREEN "\033[32m"
#define YELLOW "\033[33m"
#define CYAN "\033[36m"
#define DIM "\033[2m"
#define RESET "\033[0m"

static const char *const colors[ACTION_TYPE_COUNT] = {
	[ACTION_NOOP] = DIM,      [ACTION_CREATE] = GREEN,
	[ACTION_UPDATE] = YELLOW, [ACTION_REPLACE] = RED,
	[ACTION_DELETE] = RED,    [ACTION_RUN] = CYAN,
};

struct text_render {
	const struct plan_style *style;
	struct buf *out;
	size_t kind_width, name_width; /* of the current job */
};

static void colored(struct text_render *render, const char *color,
		    const char *text)
{
	if (render->style->color)
		buf_puts(render->out, color);
	show_text(render->out, text);
	if (render->style->color)
		buf_puts(render->out, RESET);
}

/* Writes the text, padded with spaces to `width` columns. */
static void padded(struct buf *out, const char *text, size_t width)
{
	size_t start = out->len, n;

	show_text(out, text);
	n = show_width(out->data ? out->data + start : "");
	buf_fill(out, ' ', n < width ? width - n : 0);
}

static size_t wider(size_t width, const char *text)
{
	size_t n = show_width(text);

	return n > width && n <= COLUMN_MAX ? n : width;
}

/* Returns the columns left for each of `count` values behind `used` columns. */
static size_t room(const struct text_render *render, size_t used, size_t count)
{
	size_t width = (size_t)render->style->width;

	if (!width || render->style->verbose)
		return 0;
	if (width < used + count * VALUE_MIN)
		return VALUE_MIN;
	return (width - used) / count;
}

/* Counts the columns that two strings have in common at their start. */
static size_t common(const char *a, const char *b)
{
	size_t i, n = 0;

	for (i = 0; a[i] && a[i] == b[i]; i++)
		n += ((unsigned char)a[i] & 0xc0) != 0x80;
	return n;
}

static void render_both(struct text_render *render, const char *before,
			const char *after, size_t used)
{
	size_t n = show_width(before), m = show_width(after);
	size_t both = room(render, used + strlen(" > "), 1);
	size_t half = both / 2;
	size_t left, right, same, skip = 0;

	/* Each value may use the space that the other does not need. */
	left = both && n + m > both ? half : 0;
	right = left;
	if (left && n < half)
		right = both - n;
	else if (left && m < half)
		left = both - m;
	/* Both values are shifted so that their first difference is not cut
	 * off. */
	same = common(before, after);
	if (left && (same + CONTEXT > left || same + CONTEXT > right) &&
	    same > CONTEXT)
		skip = same - CONTEXT;
	show_cut(render->out, before, skip, left);
	buf_puts(render->out, " → ");
	show_cut(render->out, after, skip, right);
}

static void render_change(struct text_render *render,
			  const struct change *change, size_t path_width)
{
	static const char forces[] = "  (forces replacement)";
	const char *remark = change_remark(change);
	struct buf before = { 0 }, after = { 0 };
	size_t used = 6 + path_width + 2;

	buf_fill(render->out, ' ', 6);
	padded(render->out, change->path, path_width);
	buf_puts(render->out, "  ");
	if (show_width(change->path) > path_width)
		used = 6 + show_width(change->path) + 2;
	if (change->forces)
		used += strlen(forces);
	if (remark)
		used += strlen(remark) + strlen("  ()");
	if (change->before)
		show_value(&before, change->before);
	if (change->after)
		show_value(&after, change->after);
	if (change_is_sealed(change))
		buf_puts(render->out, "(sensitive), changed");
	else if (!change->before)
		show_cut(render->out, buf_text(&after), 0,
			 room(render, used, 1));
	else
		render_both(render, buf_text(&before),
			    change->after ? buf_text(&after) : "(gone)", used);
	if (change->forces)
		colored(render, RED, forces);
	if (remark)
		buf_printf(render->out, "  (%s)", remark);
	buf_putc(render->out, '\n');
	buf_done(&before);
	buf_done(&after);
}

static void render_files(struct text_render *render,
			 const struct action *action, size_t path_width)
{
	struct buf text = { 0 };

	file_changes_text(&action->files,
			  render->style->verbose ? 0 : SOURCE_SHOWN_MAX, &text);
	buf_fill(render->out, ' ', 6);
	padded(render->out, action->want->kind->files, path_width);
	buf_puts(render->out, "  ");
	show_text(render->out, buf_text(&text));
	buf_putc(render->out, '\n');
	buf_done(&text);
}

static void render_action(struct text_render *render,
			  const struct action *action)
{
	const struct resource *it = action_resource(action);
	size_t width = 0;
	size_t i;

	buf_puts(render->out, "  ");
	colored(render, colors[action->type], action_type_sign(action->type));
	buf_putc(render->out, ' ');
	padded(render->out, it->kind->name, render->kind_width);
	buf_puts(render->out, "  ");
	padded(render->out, it->name, render->name_width);
	buf_puts(render->out, "  ");
	colored(render, DIM, action->reason);
	if (action_remark(action)) {
		buf_puts(render->out, "; ");
		colored(render, YELLOW, action_remark(action));
	}
	buf_putc(render->out, '\n');
	if (action->type == ACTION_NOOP)
		return;
	for (i = 0; i < action->change_count; i++)
		width = wider(width, action->changes[i].path);
	if (action->files.count)
		width = wider(width, it->kind->files);
	for (i = 0; i < action->change_count; i++)
		render_change(render, &action->changes[i], width);
	if (action->files.count)
		render_files(render, action, width);
}

/* Renders the fields that no line of an action shows. */
static void render_fields(struct text_render *render,
			  const struct plan_job *job)
{
	size_t i, width = 0;

	if (!job->field_count || !plan_job_acts(job))
		return;
	buf_puts(render->out, "  ");
	colored(render, DIM, "the file also says");
	buf_putc(render->out, '\n');
	for (i = 0; i < job->field_count; i++)
		width = wider(width, job->fields[i].path);
	for (i = 0; i < job->field_count; i++)
		render_change(render, &job->fields[i], width);
}

/* Whether the action is counted without a line of its own, as nothing
 * happens. */
static bool is_quiet(const struct action *action)
{
	return action->type == ACTION_NOOP &&
	       !(action->want->kind->flags & KIND_RUN);
}

static void measure(struct text_render *render, const struct plan_job *job)
{
	size_t i, quiet = 0;

	render->kind_width = 0;
	render->name_width = 0;
	for (i = 0; i < job->action_count; i++) {
		const struct action *action = job->actions[i];
		const struct resource *it = action_resource(action);

		if (is_quiet(action) && ++quiet > UNCHANGED_MAX)
			continue;
		render->kind_width = wider(render->kind_width, it->kind->name);
		render->name_width = wider(render->name_width, it->name);
	}
}

static void render_texts(struct text_render *render, const char *color,
			 const char *label, const char **texts, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		buf_puts(render->out, "  ");
		colored(render, color, label);
		show_text(render->out, texts[i]);
		buf_putc(render->out, '\n');
	}
}

static void render_estimate(struct text_render *render,
			    const struct estimate *estimate)
{
	struct buf text = { 0 };

	if (!estimate)
		return;
	estimate_text(estimate, &text);
	buf_puts(render->out, "  ");
	colored(render, DIM, "uses: ");
	show_text(render->out, buf_text(&text));
	buf_putc(render->out, '\n');
	buf_done(&text);
}

static void render_names(struct text_render *render, const struct job *job)
{
	size_t i;

	for (i = 0; i < job->source_entry_count; i++) {
		buf_fill(render->out, ' ', 6);
		show_text(render->out, job->source_entries[i].path);
		buf_putc(render->out, '\n');
	}
	for (i = 0; i < job->source_left_out_count; i++) {
		buf_puts(render->out, "      not ");
		show_text(render->out, job->source_left_out[i].path);
		buf_printf(render->out, " (%s)\n", source_why(job, i));
	}
}

static void render_source(struct text_render *render,
			  const struct plan_job *job)
{
	struct buf text = { 0 };

	if (!job->job->source_digest.hex[0])
		return;
	source_text(job->job, &text);
	buf_puts(render->out, "  ");
	colored(render, DIM, plan_job_ships(job) ? "ships " : "source: ");
	buf_printf(render->out, "%s\n", buf_text(&text));
	if (render->style->verbose)
		render_names(render, job->job);
	buf_clear(&text);
	plan_job_warning(job, &text);
	if (text.len) {
		buf_puts(render->out, "  ");
		colored(render, RED, "warning: ");
		show_text(render->out, text.data);
		buf_putc(render->out, '\n');
	}
	buf_done(&text);
}

static void render_revision(struct text_render *render, const struct job *job)
{
	struct buf text = { 0 };

	revision_text(job->revision, &text);
	if (text.len) {
		buf_puts(render->out, "  ");
		colored(render, DIM, "from: ");
		show_text(render->out, text.data);
		buf_putc(render->out, '\n');
	}
	buf_done(&text);
}

static void render_job(struct text_render *render, const struct plan_job *job)
{
	const struct resources *desired = job->desired;
	size_t i, quiet = 0;

	measure(render, job);
	colored(render, BOLD, job->job->job_id);
	buf_printf(render->out, "  (%s)", job->provider->name);
	if (job->job->file) {
		buf_puts(render->out, "  ");
		show_text(render->out, job->job->file);
	}
	buf_putc(render->out, '\n');
	for (i = 0; i < job->action_count; i++)
		if (!is_quiet(job->actions[i]) || ++quiet <= UNCHANGED_MAX)
			render_action(render, job->actions[i]);
	if (quiet > UNCHANGED_MAX)
		buf_printf(render->out, "  · and %zu more, unchanged\n",
			   quiet - UNCHANGED_MAX);
	render_fields(render, job);
	render_source(render, job);
	render_revision(render, job->job);
	render_estimate(render, job->estimate);
	render_texts(render, DIM, "note: ", desired->notes,
		     desired->note_count);
	render_texts(render, RED, "! missing: ", desired->missing,
		     desired->missing_count);
	render_texts(render, RED,
		     "! unknown: ", (const char *[]){ desired->unknown },
		     desired->unknown != NULL);
	buf_putc(render->out, '\n');
}

static void render_summary(struct text_render *render, const struct plan *plan)
{
	struct buf text = { 0 };

	if (plan_is_empty(plan) && !plan_follow_count(plan)) {
		buf_puts(render->out, "Nothing to do.\n");
		return;
	}
	buf_puts(render->out, "Plan: ");
	plan_summary(plan, render->out);
	buf_puts(render->out, ".\n");
	plan_drift_text(plan, &text);
	if (text.len)
		buf_printf(render->out, "%s\n", text.data);
	buf_clear(&text);
	if (plan_job_count(plan) > 1 && plan_estimate(plan)) {
		estimate_total_text(plan_estimate(plan), &text);
		buf_printf(render->out, "The runs use %s.\n", text.data);
	}
	buf_clear(&text);
	if (plan_estimate(plan))
		estimate_unpriced_text(plan_estimate(plan), &text);
	if (text.len) {
		show_text(render->out, text.data);
		buf_putc(render->out, '\n');
	}
	buf_done(&text);
}

static void render_targets(struct text_render *render, const struct plan *plan)
{
	size_t i;

	if (!plan_target_count(plan))
		return;
	buf_puts(render->out, "Partial: only ");
	for (i = 0; i < plan_target_count(plan); i++) {
		buf_puts(render->out, i ? ", " : "");
		show_text(render->out, plan_target_at(plan, i));
	}
	buf_puts(render->out, " and what it depends on (--target).\n");
}

static void render_missing(struct text_render *render, const struct plan *plan)
{
	size_t i, n = 0;

	for (i = 0; i < plan_job_count(plan); i++)
		n += plan_job_at(plan, i)->desired->missing_count > 0;
	if (n)
		buf_printf(render->out,
			   "%zu %s cannot be applied yet: something is "
			   "missing.\n",
			   n, n == 1 ? "job" : "jobs");
}

void plan_render_text(const struct plan *plan, const struct plan_style *style,
		      struct buf *out)
{
	struct text_render render = { .style = style, .out = out };
	size_t i;

	for (i = 0; i < plan_job_count(plan); i++)
		render_job(&render, plan_job_at(plan, i));
	render_summary(&render, plan);
	render_targets(&render, plan);
	render_missing(&render, plan);
}
