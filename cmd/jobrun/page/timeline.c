/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/page/timeline.h"

#include <inttypes.h>
#include <stdio.h>

#include "cmd/jobrun/page/html.h"
#include "core/base/clock.h"
#include "core/base/units.h"

#define TASKS_SHOWN 64 /* per attempt; failed ones always */

struct timeline {
	int64_t from_ms, to_ms;
	struct buf *out;
};

/* The times of a bar; 0 means unknown, or not reached yet. */
struct bar {
	int64_t queued_ms, started_ms, running_ms, ended_ms;
	enum run_state state;
	bool first_failed;
};

static int64_t end_of(int64_t end_ms)
{
	return end_ms ? end_ms : time_now_ms();
}

static double percent(const struct timeline *line, int64_t time_ms)
{
	return (double)(time_ms - line->from_ms) * 100 /
	       (double)(line->to_ms - line->from_ms);
}

static void put_part(const struct timeline *line, const char *what,
		     int64_t from_ms, int64_t to_ms)
{
	if (!from_ms || to_ms <= from_ms)
		return;
	buf_printf(line->out,
		   "<rect class=\"%s\" x=\"%.2f%%\" width=\"%.2f%%\" y=\"3\" "
		   "height=\"14\"/>",
		   what, percent(line, from_ms),
		   percent(line, to_ms) - percent(line, from_ms));
}

/* Writes one span; returns the separator before the next one. */
static const char *put_span(const struct timeline *line, const char *before,
			    const char *what, int64_t from_ms, int64_t to_ms)
{
	char text[32];

	if (!from_ms || to_ms <= from_ms)
		return before;
	if (to_ms - from_ms < 1000)
		snprintf(text, sizeof(text), "%" PRId64 " ms", to_ms - from_ms);
	else
		duration_format((long)((to_ms - from_ms) / 1000), text,
				sizeof(text));
	buf_printf(line->out, "%s%s %s", before, what, text);
	return ", ";
}

static void put_bar(const struct timeline *line, const struct bar *bar)
{
	int64_t end_ms = end_of(bar->ended_ms);
	int64_t start_ms = bar->started_ms ? bar->started_ms : end_ms;
	int64_t run_ms = bar->running_ms ? bar->running_ms : end_ms;
	bool failed = bar->state == RUN_FAILED;
	const char *before;

	buf_puts(line->out, "\n<svg class=\"bar\" width=\"100%\" height=\"20\" "
			    "aria-hidden=\"true\">");
	put_part(line, "queued", bar->queued_ms, start_ms);
	put_part(line, "preparing", bar->started_ms, run_ms);
	put_part(line,
		 failed                        ? "running failed"
		 : bar->state == RUN_CANCELLED ? "running cancelled"
		 : bar->state == RUN_SUCCEEDED ? "running succeeded"
					       : "running",
		 bar->running_ms, end_ms);
	if (failed)
		buf_printf(line->out,
			   "<text class=\"cross\" x=\"%.2f%%\" y=\"15\" "
			   "text-anchor=\"end\">%s</text>",
			   percent(line, end_ms),
			   bar->first_failed ? "✖ first" : "✖");
	buf_puts(line->out, "</svg>\n<span class=\"what\">");
	buf_printf(line->out, "<b class=\"state %s\">%s</b>",
		   run_state_name(bar->state), run_state_name(bar->state));
	before = put_span(line, ": ", "queued", bar->queued_ms, start_ms);
	before = put_span(line, before, "preparing", bar->started_ms, run_ms);
	put_span(line, before, "running", bar->running_ms, end_ms);
}

const struct task_record *timeline_failed_first(const struct task_list *tasks)
{
	const struct task_record *first = NULL;

	for (size_t i = 0; i < tasks->count; i++) {
		const struct task_record *task = &tasks->items[i];

		if (task->state == RUN_FAILED && task->end_time_ms &&
		    (!first || task->end_time_ms < first->end_time_ms))
			first = task;
	}
	return first;
}

static int64_t first_start(const struct task_list *tasks, int trial)
{
	int64_t first_ms = 0;

	for (size_t i = 0; i < tasks->count; i++) {
		int64_t at_ms = tasks->items[i].start_time_ms;

		if ((!trial || tasks->items[i].trial == trial) && at_ms &&
		    (!first_ms || at_ms < first_ms))
			first_ms = at_ms;
	}
	return first_ms;
}

static void put_task(const struct timeline *line,
		     const struct task_record *task, bool first)
{
	struct bar bar = {
		.running_ms = task->start_time_ms,
		.ended_ms = task->end_time_ms,
		.state = task->state,
		.first_failed = first,
	};

	buf_puts(line->out, "<li class=\"task\"><span class=\"who\">");
	html_text(line->out, task->type);
	buf_printf(line->out, " %d</span>", task->index);
	put_bar(line, &bar);
	if (task->exit_code > 0)
		buf_printf(line->out, "; exit status %d", task->exit_code);
	if (first)
		buf_puts(line->out, "; failed first");
	if (task->host) {
		buf_puts(line->out, "; on ");
		html_text(line->out, task->host);
	}
	buf_puts(line->out, "</span></li>\n");
}

static void put_attempt(const struct timeline *line,
			const struct run_record *run,
			const struct task_list *tasks)
{
	const struct task_record *failed = timeline_failed_first(tasks);
	int64_t running_ms = first_start(tasks, 0);
	struct bar bar = {
		.queued_ms = run->create_time_ms,
		.started_ms = run->start_time_ms,
		.running_ms = running_ms ? running_ms : run->start_time_ms,
		.ended_ms = run->end_time_ms,
		.state = run->state,
	};
	size_t left = 0;

	buf_printf(line->out,
		   "<li class=\"attempt\"><span class=\"who\">attempt "
		   "%d</span>",
		   run->attempt);
	put_bar(line, &bar);
	if (run->error) {
		buf_puts(line->out, ": ");
		html_text(line->out, run->error);
	}
	buf_puts(line->out, "</span></li>\n");
	for (size_t i = 0; i < tasks->count; i++) {
		const struct task_record *task = &tasks->items[i];

		if (task->trial)
			continue;
		if (i < TASKS_SHOWN || task == failed)
			put_task(line, task, task == failed);
		else
			left++;
	}
	if (left)
		buf_printf(line->out,
			   "<li class=\"task\"><span class=\"who\">and %zu "
			   "more tasks</span></li>\n",
			   left);
}

static void put_trial(const struct timeline *line,
		      const struct trial_record *trial,
		      const struct task_list *tasks)
{
	struct bar bar = {
		.started_ms = trial->start_time_ms,
		.running_ms = first_start(tasks, trial->number),
		.ended_ms = trial->end_time_ms,
		.state = trial->state,
	};

	if (!bar.running_ms)
		bar.running_ms = bar.started_ms;
	buf_printf(line->out,
		   "<li class=\"task\"><span class=\"who\">trial %d</span>",
		   trial->number);
	if (trial->start_time_ms)
		put_bar(line, &bar);
	else
		buf_puts(line->out, "<span></span><span class=\"what\">not "
				    "started");
	if (trial->early)
		buf_puts(line->out, "; stopped early");
	buf_puts(line->out, "</span></li>\n");
}

void timeline_html(const struct run_story *story, struct buf *out)
{
	const struct task_list *tasks = &story->tasks[story->attempt_count - 1];
	struct timeline line = {
		.from_ms = story->attempts[0].create_time_ms,
		.to_ms = end_of(story->run->end_time_ms),
		.out = out,
	};
	char from[40], to[40];

	if (line.to_ms <= line.from_ms)
		line.to_ms = line.from_ms + 1;
	time_format_log_utc(line.from_ms, from, sizeof(from));
	time_format_log_utc(line.to_ms, to, sizeof(to));
	buf_printf(out,
		   "<p class=\"ends\"><span>%s</span> <span>%s</span></p>\n"
		   "<ol class=\"timeline\">\n",
		   from, to);
	for (size_t i = 0; i < story->attempt_count; i++)
		put_attempt(&line, &story->attempts[i], &story->tasks[i]);
	for (size_t i = 0; i < story->trials.count; i++)
		put_trial(&line, &story->trials.items[i], tasks);
	buf_puts(out, "</ol>\n");
}
