/* SPDX-License-Identifier: Apache-2.0 */
/* Shows the action on each resource of a job, and its changes. */
#include "core/plan/markdown_details.h"

#include <stdlib.h>

#include "core/plan/markdown.h"
#include "core/base/show.h"
#include "core/plan/show_value.h"

#define CONTEXT 20     /* columns kept before the first difference */
#define CHANGES_MAX 60 /* of an action; the others are counted */

static size_t common(const char *a, const char *b)
{
	size_t i, n = 0;

	for (i = 0; a[i] && a[i] == b[i]; i++)
		n += ((unsigned char)a[i] & 0xc0) != 0x80;
	return n;
}

static void add_value(struct buf *out, char sign, const char *path,
		      const char *value, size_t skip)
{
	char *name = markdown_line(path, MARKDOWN_NAME_WIDTH);

	buf_printf(out, "%c   %s: ", sign, name);
	show_cut(out, value, skip, MARKDOWN_VALUE_WIDTH);
	free(name);
}

static void add_change(struct buf *out, const struct change *change)
{
	struct buf before = { 0 }, after = { 0 };
	size_t skip = 0;

	if (change->before)
		show_value(&before, change->before);
	if (change->after)
		show_value(&after, change->after);
	/* A difference that the cut would hide is moved into sight. */
	if (change->before && change->after)
		skip = common(buf_text(&before), buf_text(&after));
	skip = skip > MARKDOWN_VALUE_WIDTH / 2 ? skip - CONTEXT : 0;
	if (change_is_sealed(change)) {
		add_value(out, '!', change->path, "(sensitive), changed", 0);
		buf_putc(out, '\n');
	} else if (change->before) {
		add_value(out, '-', change->path, buf_text(&before), skip);
		buf_putc(out, '\n');
	}
	if (change->after && !change_is_sealed(change)) {
		add_value(out, '+', change->path, buf_text(&after), skip);
		buf_putc(out, '\n');
	}
	if (change->forces)
		buf_puts(out, "!   (forces replacement)\n");
	if (change_remark(change))
		buf_printf(out, "!   (%s)\n", change_remark(change));
	buf_done(&before);
	buf_done(&after);
}

static void add_files(struct buf *out, const struct action *action)
{
	struct buf text = { 0 };
	char *line;

	file_changes_text(&action->files, &text);
	line = markdown_line(buf_text(&text), 2 * MARKDOWN_VALUE_WIDTH);
	buf_printf(out, "!   %s: %s\n", action->want->kind->files, line);
	free(line);
	buf_done(&text);
}

static void add_action(struct buf *out, const struct action *action)
{
	const struct resource *it = action_resource(action);
	char *name = markdown_line(it->name, MARKDOWN_NAME_WIDTH);
	char *reason = markdown_line(action->reason, MARKDOWN_VALUE_WIDTH);
	const char *remark = action_remark(action);
	size_t i;

	/* Not with a sign that would colour the line as a change of it. */
	buf_printf(out, "@@ %s %s %s @@ %s%s%s\n",
		   action_type_name(action->type), it->kind->name, name, reason,
		   remark ? "; " : "", remark ? remark : "");
	for (i = 0; i < action->change_count && i < CHANGES_MAX; i++)
		add_change(out, &action->changes[i]);
	if (i < action->change_count)
		buf_printf(out, "    … and %zu more\n",
			   action->change_count - i);
	if (action->files.count)
		add_files(out, action);
	free(name);
	free(reason);
}

/* In a fence that no line of it can end: each starts with a sign. */
void markdown_details(const struct plan_job *job, struct buf *out)
{
	size_t i;

	buf_puts(out, "<details><summary><code>");
	markdown_html(out, job->job->job_id);
	buf_puts(out, "</code></summary>\n\n```diff\n");
	for (i = 0; i < job->action_count; i++)
		if (job->actions[i]->type != ACTION_NOOP)
			add_action(out, job->actions[i]);
	buf_puts(out, "```\n\n</details>\n");
}
