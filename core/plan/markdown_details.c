/* SPDX-License-Identifier: Apache-2.0 */
/* Shows the action on each resource of a job, and its changes. */
#include "core/plan/markdown_details.h"

#include <stdint.h>
#include <stdlib.h>

#include "core/plan/markdown.h"
#include "core/base/digest.h"
#include "core/plan/show_value.h"

#define CONTEXT 20 /* columns kept before the first difference */

static size_t common(const char *a, const char *b)
{
	size_t i, n = 0;

	for (i = 0; a[i] && a[i] == b[i]; i++)
		n += ((unsigned char)a[i] & 0xc0) != 0x80;
	return n;
}

static void add_value(struct buf *out, char sign, const char *path,
		      const char *value, size_t skip, size_t width)
{
	char *name = markdown_line(path, 0, MARKDOWN_NAME_WIDTH);
	char *line = markdown_line(value, skip, width);

	buf_printf(out, "%c   %s: %s\n", sign, name, line);
	free(line);
	free(name);
}

static void add_change(struct buf *out, const struct change *change,
		       size_t width)
{
	struct buf before = { 0 }, after = { 0 };
	size_t skip = 0;

	if (change->before)
		show_value(&before, change->before);
	if (change->after)
		show_value(&after, change->after);
	/* Both values are shifted so that their first difference is not cut
	 * off. */
	if (width && change->before && change->after)
		skip = common(buf_text(&before), buf_text(&after));
	skip = width && skip > width / 2 ? skip - CONTEXT : 0;
	if (change_is_sealed(change))
		add_value(out, '!', change->path, "(sensitive), changed", 0, 0);
	else if (change->before)
		add_value(out, '-', change->path, buf_text(&before), skip,
			  width);
	if (change->after && !change_is_sealed(change))
		add_value(out, '+', change->path, buf_text(&after), skip,
			  width);
	if (change->forces)
		buf_puts(out, "!   (forces replacement)\n");
	if (change_remark(change))
		buf_printf(out, "!   (%s)\n", change_remark(change));
	buf_done(&before);
	buf_done(&after);
}

/* Writes either the changes that had a value before, which reviewers look for,
 * or the others. */
static size_t add_changes(struct buf *out, const struct change *changes,
			  size_t count, bool was, size_t most, size_t width)
{
	size_t i, n = 0;

	for (i = 0; i < count && (!most || n < most); i++)
		if (!!changes[i].before == was) {
			add_change(out, &changes[i], width);
			n++;
		}
	return n;
}

static void add_all_changes(struct buf *out, const struct change *changes,
			    size_t count, const struct markdown_room *room)
{
	size_t most = room->changes, n;
	struct buf rest = { 0 };
	struct digest digest;

	n = add_changes(out, changes, count, true, most, room->width);
	if (!most || n < most)
		n += add_changes(out, changes, count, false,
				 most ? most - n : 0, room->width);
	if (n == count)
		return;
	add_changes(&rest, changes, count, true, 0, 0);
	add_changes(&rest, changes, count, false, 0, 0);
	buf_printf(out, "!   … and %zu more", count - n);
	digest_bytes(rest.data, rest.len, &digest);
	buf_printf(out, " [SHA-256 of all: %s]", digest.hex);
	buf_putc(out, '\n');
	buf_done(&rest);
}

static void add_files(struct buf *out, const struct action *action,
		      const struct markdown_room *room)
{
	struct buf text = { 0 };
	char *line;

	file_changes_text(&action->files, room->files, &text);
	line = markdown_line(buf_text(&text), 0, 0);
	buf_printf(out, "!   %s: %s\n", action->want->kind->files, line);
	free(line);
	buf_done(&text);
}

static void add_action(struct buf *out, const struct action *action,
		       const struct markdown_room *room)
{
	const struct resource *it = action_resource(action);
	char *name = markdown_line(it->name, 0, MARKDOWN_NAME_WIDTH);
	char *reason = markdown_line(action->reason, 0, room->width);
	const char *remark = action_remark(action);

	/* The line begins with "@@", as "+" or "-" would colour it as a
	 * change. */
	buf_printf(out, "@@ %s %s %s @@ %s%s%s\n",
		   action_type_name(action->type), it->kind->name, name, reason,
		   remark ? "; " : "", remark ? remark : "");
	add_all_changes(out, action->changes, action->change_count, room);
	if (action->files.count)
		add_files(out, action, room);
	free(name);
	free(reason);
}

static void add_path(struct buf *out, const char *path, const char *why)
{
	char *line = markdown_line(path, 0, MARKDOWN_NAME_WIDTH);

	if (why)
		buf_printf(out, "    not %s (%s)\n", line, why);
	else
		buf_printf(out, "    %s\n", line);
	free(line);
}

/* The digest of the source vouches for the names that are not listed. */
static void add_source(struct buf *out, const struct plan_job *plan_job,
		       const struct markdown_room *room)
{
	const struct job *job = plan_job->job;
	size_t most = room->files ? room->files : SIZE_MAX;
	struct buf text = { 0 };
	size_t i;

	if (!job->source_digest.hex[0])
		return;
	source_text(job, &text);
	buf_printf(out, "@@ %s %s @@ SHA-256 %s\n",
		   plan_job_ships(plan_job) ? "ships" : "source:",
		   buf_text(&text), job->source_digest.hex);
	buf_done(&text);
	for (i = 0; i < job->source_entry_count && i < most; i++)
		add_path(out, job->source_entries[i].path, NULL);
	if (i < job->source_entry_count)
		buf_printf(out, "    … and %zu more\n",
			   job->source_entry_count - i);
	for (i = 0; i < job->source_left_out_count && i < most; i++)
		add_path(out, job->source_left_out[i].path, source_why(job, i));
	if (i < job->source_left_out_count)
		buf_printf(out, "    … and %zu more that are not\n",
			   job->source_left_out_count - i);
}

/* Writes the details within a fence.  Each line in it starts with a sign, so
 * that none can end the fence. */
void markdown_details(const struct plan_job *job,
		      const struct markdown_room *room, struct buf *out)
{
	size_t i;

	buf_puts(out, "<details><summary><code>");
	markdown_html(out, job->job->job_id);
	buf_puts(out, "</code></summary>\n\n```diff\n");
	for (i = 0; i < job->action_count; i++)
		if (job->actions[i]->type != ACTION_NOOP)
			add_action(out, job->actions[i], room);
	if (job->field_count && plan_job_acts(job)) {
		buf_puts(out, "@@ the file also says @@\n");
		add_all_changes(out, job->fields, job->field_count, room);
	}
	add_source(out, job, room);
	buf_puts(out, "```\n\n</details>\n");
}
