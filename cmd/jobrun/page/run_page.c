/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/page/run_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/jobrun/page/html.h"
#include "cmd/jobrun/page/timeline.h"
#include "cmd/jobrun/page/trials_page.h"
#include "cmd/jobrun/view/run_facts.h"
#include "cmd/jobrun/ui/uploads.h"
#include "cmd/jobrun/view/usage_view.h"
#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/base/units.h"
#include "core/job/revision.h"
#include "core/plan/diff.h"
#include "core/plan/show_value.h"

#define WORDS 12  /* lines of a task's last output */
#define SPOKEN 3  /* tasks whose last output is shown */
#define LINKED 64 /* tasks whose logs are linked */

static void put_value(const json_t *value, struct buf *out)
{
	struct buf text = { 0 };

	if (value)
		show_value(&text, value);
	html_text(out, buf_text(&text));
	buf_done(&text);
}

static void put_settings(const struct run_record *run, struct arena *mem,
			 struct buf *out)
{
	json_t *facts = run_facts_asked(run);
	struct diff fields;

	json_object_del(facts, "files");
	diff_json(NULL, facts, mem, &fields);
	buf_puts(out, "<section><h4>Settings</h4>\n<div class=\"scroll\" "
		      "tabindex=\"0\" role=\"region\" aria-label=\"Settings\">"
		      "<table><tbody>\n");
	for (size_t i = 0; i < fields.count; i++) {
		buf_puts(out, "<tr><th scope=\"row\">");
		html_text(out, fields.items[i].path);
		buf_puts(out, "</th><td>");
		put_value(fields.items[i].after, out);
		buf_puts(out, "</td></tr>\n");
	}
	buf_puts(out, "</tbody></table></div></section>\n");
	json_decref(facts);
}

static void put_changes(const struct run_story *story, struct arena *mem,
			struct buf *out)
{
	json_t *before, *after;
	struct diff changes;

	if (!story->before)
		return;
	before = run_facts_asked(story->before);
	after = run_facts_asked(story->run);
	diff_json(before, after, mem, &changes);
	buf_printf(out,
		   "<section><h4>Changed since the run before (attempt %d, "
		   "%s)</h4>\n",
		   story->before->attempt,
		   run_state_name(story->before->state));
	if (!changes.count)
		buf_puts(out, "<p>Nothing.</p>\n");
	else
		buf_puts(out, "<div class=\"scroll\" tabindex=\"0\" "
			      "role=\"region\" aria-label=\"Changes\"><table>"
			      "<thead><tr><th scope=\"col\">What</th>"
			      "<th scope=\"col\">Before</th>"
			      "<th scope=\"col\">Now</th></tr></thead>"
			      "<tbody>\n");
	for (size_t i = 0; i < changes.count; i++) {
		buf_puts(out, "<tr><th scope=\"row\">");
		html_text(out, changes.items[i].path);
		buf_puts(out, "</th><td>");
		put_value(changes.items[i].before, out);
		buf_puts(out, "</td><td>");
		put_value(changes.items[i].after, out);
		buf_puts(out, "</td></tr>\n");
	}
	buf_puts(out, changes.count ? "</tbody></table></div></section>\n"
				    : "</section>\n");
	json_decref(before);
	json_decref(after);
}

/* Returns the task that failed first, or else the first task. */
static const struct task_record *speaker(const struct run_story *story)
{
	const struct task_list *tasks = &story->tasks[story->attempt_count - 1];
	const struct task_record *failed = timeline_failed_first(tasks);

	return failed ? failed : tasks->count ? &tasks->items[0] : NULL;
}

static void put_words(const struct story_part *part,
		      const struct task_record *task, struct buf *out)
{
	for (int stream = LOG_STDOUT; stream <= LOG_STDERR; stream++) {
		struct buf text = { 0 };
		struct error ignored;

		if (log_last_lines(part->metrics.folder, task->type,
				   task->index, (enum log_stream)stream, WORDS,
				   &text, &ignored) == 0 &&
		    text.len) {
			buf_puts(out, "<h5>");
			html_text(out, task->type);
			buf_printf(out,
				   " %d, attempt %d, standard %s</h5>\n"
				   "<pre tabindex=\"0\">",
				   task->index, part->run->attempt,
				   stream == LOG_STDOUT ? "output" : "error");
			html_lines(out, buf_text(&text));
			buf_puts(out, "</pre>\n");
		}
		buf_done(&text);
	}
}

/* Shows the last output of the last attempt and of failed ones before it, but
 * not of trials. */
static void put_last_words(const struct run_story *story, struct buf *out)
{
	size_t shown = 0;

	if (story->tuning)
		return;
	buf_puts(out, "<section><h4>Last words</h4>\n");
	for (size_t i = story->part_count; i-- > 0 && shown < SPOKEN;) {
		const struct story_part *part = &story->parts[i];
		const struct task_record *task =
			i + 1 == story->part_count
				? speaker(story)
				: timeline_failed_first(&story->tasks[i]);

		if (!part->read || !task)
			continue;
		put_words(part, task, out);
		shown++;
	}
	buf_puts(out, shown ? "</section>\n" : "<p>None.</p></section>\n");
}

/* Writes a path as a link to a file. */
static void put_link(const char *path, const char *name, struct buf *out)
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"0123456789-._~/";

	buf_puts(out, "<a href=\"file://");
	for (const char *p = path; *p; p++)
		if (strchr(plain, *p))
			buf_putc(out, *p);
		else
			buf_printf(out, "%%%02X", (unsigned char)*p);
	buf_puts(out, "\">");
	html_text(out, name);
	buf_puts(out, "</a>");
}

static void put_place(const char *name, const char *path, struct buf *out)
{
	if (!path)
		return;
	buf_puts(out, "<li>");
	html_text(out, name);
	buf_puts(out, ": ");
	if (*path == '/') {
		put_link(path, path, out);
	} else {
		buf_puts(out, "<code>");
		html_text(out, path);
		buf_puts(out, "</code>");
	}
	buf_puts(out, "</li>\n");
}

static void put_places(const struct run_story *story, struct buf *out)
{
	const struct run_spec *spec = NULL;
	char *folder;

	buf_puts(out, "<section><h4>Logs and checkpoints</h4>\n<ul>\n");
	for (size_t i = 0; i < story->part_count && i < LINKED; i++) {
		const struct story_part *part = &story->parts[i];
		char name[64];

		if (!part->read)
			continue;
		spec = part->metrics.spec;
		folder = mem_printf("%s/logs", part->metrics.folder);
		if (part->trial)
			snprintf(name, sizeof(name), "logs of trial %d",
				 part->trial->number);
		else
			snprintf(name, sizeof(name), "logs of attempt %d",
				 part->run->attempt);
		put_place(name, folder, out);
		free(folder);
	}
	if (spec) {
		put_place("files of the program", spec->output, out);
		put_place("copies of the logs", spec->logs.to, out);
	}
	if (spec && spec->checkpoints.is_used) {
		folder = spec_checkpoints_folder(spec);
		put_place("checkpoints, as written", folder, out);
		put_place("checkpoints, as kept", spec->checkpoints.to, out);
		free(folder);
	}
	buf_puts(out, "</ul></section>\n");
}

static void put_lines(const char *name, const struct buf *text, struct buf *out)
{
	const char *p = buf_text(text);
	char *line;

	while (*p) {
		size_t len = strcspn(p, "\n");

		line = mem_printf("%.*s", (int)len, p);
		html_row(out, name, line + strspn(line, " "));
		free(line);
		p += len + (p[len] == '\n');
	}
}

static void put_cost(struct session *session, const struct run_story *story,
		     struct buf *out)
{
	int64_t ms = run_facts_task_ms(story);
	char text[64];
	double cost;

	duration_format((long)((ms + 500) / 1000), text, sizeof(text));
	if (ms)
		html_row(out, "time of all tasks", text);
	if (run_facts_cost(story, session->prices, &cost)) {
		snprintf(text, sizeof(text), "%.2f %s", cost,
			 session->prices->currency);
		html_row(out, "cost, by the price list", text);
	}
}

static void put_facts(struct session *session, const struct run_story *story,
		      struct arena *mem, struct buf *out)
{
	const struct run_record *run = story->run;
	struct buf text = { 0 };
	struct uploads kept;
	char time[40];

	buf_puts(out, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
		      "aria-label=\"Facts\"><table><tbody>\n");
	html_row(out, "why", run->error);
	html_row(out, "provider", run->provider);
	time_format_log_utc(story->attempts[0].create_time_ms, time,
			    sizeof(time));
	html_row(out, "applied", time);
	if (run->end_time_ms) {
		time_format_log_utc(run->end_time_ms, time, sizeof(time));
		html_row(out, "ended", time);
	}
	html_row(out, "job file", run->job_file);
	revision_text(run->revision, &text);
	html_row(out, "source", text.len ? text.data : NULL);
	buf_clear(&text);
	put_cost(session, story, out);
	usage_text(session, run, &text);
	put_lines("use", &text, out);
	buf_clear(&text);
	uploads_read(session, run, mem, &kept);
	uploads_text(&kept, false, &text);
	put_lines("uploads", &text, out);
	buf_puts(out, "</tbody></table></div>\n");
	buf_done(&text);
}

void run_html(struct session *session, const struct run_story *story,
	      const char *id, bool open, struct buf *out)
{
	struct arena *mem = arena_new();
	const char *state = run_state_name(story->run->state);

	buf_printf(out, "<details class=\"run\" id=\"%s\"%s><summary><h3>", id,
		   open ? " open" : "");
	html_text(out, run_story_name(story, mem));
	buf_printf(out, " <span class=\"state %s\">%s</span></h3></summary>\n",
		   state, state);
	put_facts(session, story, mem, out);
	buf_puts(out, "<section><h4>Timeline</h4>\n");
	timeline_html(story, out);
	buf_puts(out, "</section>\n");
	if (story->tuning)
		trials_html(story, id, out);
	put_changes(story, mem, out);
	put_last_words(story, out);
	put_settings(story->run, mem, out);
	put_places(story, out);
	buf_puts(out, "</details>\n");
	arena_free(mem);
}
