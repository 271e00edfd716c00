/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/page/plan_page.h"

#include "cmd/jobrun/page/html.h"
#include "core/job/revision.h"
#include "core/plan/show_value.h"

static void put_paragraph(const char *text, struct buf *out)
{
	if (!*text)
		return;
	buf_puts(out, "<p>");
	html_text(out, text);
	buf_puts(out, "</p>\n");
}

static void put_value(const json_t *value, struct buf *out)
{
	struct buf text = { 0 };

	buf_puts(out, "<td>");
	if (value)
		show_value(&text, value);
	html_text(out, buf_text(&text));
	buf_puts(out, "</td>");
	buf_done(&text);
}

static void put_head_row(const char *a, const char *b, const char *c,
			 const char *d, struct buf *out)
{
	buf_printf(out,
		   "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
		   "aria-label=\"%s\"><table><thead><tr>"
		   "<th scope=\"col\">%s</th><th scope=\"col\">%s</th>"
		   "<th scope=\"col\">%s</th><th scope=\"col\">%s</th></tr>"
		   "</thead><tbody>\n",
		   a, a, b, c, d);
}

static void put_changes(const struct action *action, struct buf *out)
{
	if (!action->change_count)
		return;
	put_head_row("Field", "Before", "After", "Remark", out);
	for (size_t i = 0; i < action->change_count; i++) {
		const struct change *change = &action->changes[i];
		const char *remark = change_remark(change);

		buf_puts(out, "<tr><th scope=\"row\">");
		html_text(out, change->path);
		buf_puts(out, "</th>");
		put_value(change->before, out);
		put_value(change->after, out);
		buf_puts(out, "<td>");
		html_text(out, remark ? remark : "");
		buf_puts(out, "</td></tr>\n");
	}
	buf_puts(out, "</tbody></table></div>\n");
}

static void put_action(const struct action *action, struct buf *out)
{
	const struct resource *it = action_resource(action);
	const char *remark = action_remark(action);
	const char *name = action_type_name(action->type);

	buf_printf(out, "<h3><span class=\"%s\">%s %s</span> %s ",
		   action->type == ACTION_RUN ? "run-action" : name,
		   action_type_sign(action->type), name, it->kind->name);
	html_text(out, it->name);
	buf_puts(out, "</h3>\n");
	put_paragraph(action->reason ? action->reason : "", out);
	put_paragraph(remark ? remark : "", out);
	if (action->type != ACTION_NOOP)
		put_changes(action, out);
}

static void put_list(const char *title, const char *const *texts, size_t count,
		     struct buf *out)
{
	if (!count)
		return;
	buf_printf(out, "<h3>%s</h3>\n<ul>\n", title);
	for (size_t i = 0; i < count; i++) {
		buf_puts(out, "<li>");
		html_text(out, texts[i]);
		buf_puts(out, "</li>\n");
	}
	buf_puts(out, "</ul>\n");
}

static void put_job(const struct plan_job *job, struct buf *out)
{
	struct buf text = { 0 };

	buf_puts(out, "<section>\n<h2>");
	html_text(out, job->job->job_id);
	buf_puts(out, "</h2>\n<p>");
	html_text(out, job->provider->name);
	if (job->job->file) {
		buf_puts(out, ", ");
		html_text(out, job->job->file);
	}
	buf_puts(out, "</p>\n");
	plan_job_warning(job, &text);
	put_paragraph(buf_text(&text), out);
	buf_clear(&text);
	revision_text(job->job->revision, &text);
	put_paragraph(buf_text(&text), out);
	buf_clear(&text);
	if (job->estimate)
		estimate_text(job->estimate, &text);
	put_paragraph(buf_text(&text), out);
	buf_done(&text);
	for (size_t i = 0; i < job->action_count; i++)
		put_action(job->actions[i], out);
	put_list("Missing", job->desired->missing, job->desired->missing_count,
		 out);
	put_list("Notes", job->desired->notes, job->desired->note_count, out);
	buf_puts(out, "</section>\n");
}

static void put_danger(const struct plan *plan, struct buf *out)
{
	bool any = false;

	for (size_t i = 0; i < plan_count(plan); i++) {
		const struct action *action = plan_at(plan, i);

		if (action->type != ACTION_REPLACE &&
		    action->type != ACTION_DELETE)
			continue;
		if (!any)
			buf_puts(out, "<section>\n<h2>Replaced or deleted</h2>"
				      "\n<ul>\n");
		any = true;
		buf_printf(out, "<li class=\"%s\">",
			   action_type_name(action->type));
		html_text(out, action->id);
		buf_puts(out, ": ");
		html_text(out, action->reason);
		buf_puts(out, "</li>\n");
	}
	if (any)
		buf_puts(out, "</ul>\n</section>\n");
}

void plan_html(const struct plan *plan, struct buf *out)
{
	const struct estimate_total *total = plan_estimate(plan);
	struct buf text = { 0 };

	plan_summary(plan, &text);
	html_begin(out, "jobrun plan", text.len ? text.data : "nothing to do");
	buf_clear(&text);
	if (total)
		estimate_total_text(total, &text);
	put_paragraph(buf_text(&text), out);
	buf_clear(&text);
	plan_drift_text(plan, &text);
	put_paragraph(buf_text(&text), out);
	put_danger(plan, out);
	for (size_t i = 0; i < plan_job_count(plan); i++)
		put_job(plan_job_at(plan, i), out);
	html_end(out);
	buf_done(&text);
}
