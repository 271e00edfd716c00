/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/page/report_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "cmd/jobrun/page/chart.h"
#include "cmd/jobrun/page/html.h"
#include "cmd/jobrun/page/run_page.h"
#include "core/base/clock.h"
#include "core/base/units.h"

#define POINTS_TOTAL 110000 /* in the data of all curves */
#define DRAWN_TOTAL 60000   /* drawn of all curves */
#define DRAWN_MAX 800       /* drawn of one curve */
#define POINTS_MIN 20       /* of one curve, however many there are */
#define OPEN_MAX 3          /* runs that are not folded */

/* The curves of one metric in all runs that have it. */
struct report_metric {
	const struct metric_info *info;
	struct chart_curve *curves;
	size_t count;
};

struct report_metrics {
	const struct report_runs *report;
	struct arena *mem;
	struct report_metric *items;
	size_t count;
	size_t curve_count; /* of all metrics */
};

static struct report_metric *find_metric(struct report_metrics *all,
					 const struct metric_info *info)
{
	struct report_metric *new;

	for (size_t i = 0; i < all->count; i++)
		if (!strcasecmp(all->items[i].info->name, info->name))
			return &all->items[i];
	if ((all->count & (all->count - 1)) == 0)
		all->items =
			mem_grow(all->items, all->count ? 2 * all->count : 1,
				 sizeof(*all->items));
	new = &all->items[all->count++];
	*new = (struct report_metric){ .info = info };
	return new;
}

/* Returns what distinguishes the curve from the others, as short as
 * possible. */
static const char *label_of(const struct report_metrics *all,
			    const struct run_story *story,
			    const struct story_part *part,
			    const struct log_source *source)
{
	const char *who =
		arena_printf(all->mem, "%s %d", source->type, source->index);

	if (part->trial)
		who = part->metrics.source_count > 1
			      ? arena_printf(all->mem, "trial %d, %s",
					     part->trial->number, who)
			      : arena_printf(all->mem, "trial %d",
					     part->trial->number);
	else if (story->attempt_count > 1)
		who = arena_printf(all->mem, "%s, attempt %d", who,
				   part->run->attempt);
	if (all->report->count == 1)
		return who;
	return arena_printf(all->mem, "%s: %s", run_story_name(story, all->mem),
			    who);
}

static int64_t start_of(const struct story_part *part)
{
	if (part->trial)
		return part->trial->start_time_ms;
	return part->run->start_time_ms ? part->run->start_time_ms
					: part->run->create_time_ms;
}

static void add_curve(struct report_metrics *all, struct report_metric *metric,
		      const struct chart_curve *curve)
{
	size_t n = metric->count;

	if ((n & (n - 1)) == 0)
		metric->curves = mem_grow(metric->curves, n ? 2 * n : 1,
					  sizeof(*metric->curves));
	metric->curves[n] = *curve;
	metric->count++;
	all->curve_count++;
}

static void add_part(struct report_metrics *all, const struct run_story *story,
		     const struct story_part *part)
{
	const struct metric_table *table = part->metrics.table;

	for (size_t i = 0; i < metric_table_count(table); i++) {
		const struct metric_info *info = metric_table_info(table, i);
		struct report_metric *metric = find_metric(all, info);

		for (size_t k = 0; k < part->metrics.source_count; k++) {
			const struct metric_series *series =
				metric_table_series(table, i, k);
			struct chart_curve curve = {
				.series = series,
				.from_ms = start_of(part),
				.style = metric->count,
			};

			if (!series || !series->extremes.count)
				continue;
			curve.label =
				label_of(all, story, part, series->source);
			add_curve(all, metric, &curve);
		}
	}
}

static void put_charts(const struct report_metrics *all, struct buf *out)
{
	size_t each = all->curve_count ? POINTS_TOTAL / all->curve_count : 0;
	size_t drawn = all->curve_count ? DRAWN_TOTAL / all->curve_count : 0;
	char id[32];

	if (each > METRIC_EXTREMES_MAX)
		each = METRIC_EXTREMES_MAX;
	each = each < POINTS_MIN ? POINTS_MIN : each;
	drawn = drawn > DRAWN_MAX ? DRAWN_MAX : drawn;
	drawn = drawn < POINTS_MIN ? POINTS_MIN : drawn;
	drawn = drawn > each ? each : drawn;
	buf_puts(out, "<section id=\"metrics\">\n<h2>Metrics</h2>\n"
		      "<div class=\"charts\">\n");
	for (size_t i = 0; i < all->count; i++) {
		struct chart chart = {
			.name = all->items[i].info->name,
			.id = id,
			.info = all->items[i].info,
			.curves = all->items[i].curves,
			.count = all->items[i].count,
			.points = each,
			.drawn = drawn,
		};

		snprintf(id, sizeof(id), "metric-%zu", i + 1);
		if (chart.count)
			chart_html(&chart, out);
	}
	if (!all->curve_count)
		buf_puts(out, "<p>No metrics in the tasks' output.</p>\n");
	buf_puts(out, "</div>\n</section>\n");
}

static void put_metrics(const struct report_runs *report, struct buf *out)
{
	struct report_metrics all = { .report = report, .mem = arena_new() };

	for (size_t i = 0; i < report->count; i++)
		for (size_t k = 0; k < report->stories[i].part_count; k++)
			if (report->stories[i].parts[k].read)
				add_part(&all, &report->stories[i],
					 &report->stories[i].parts[k]);
	put_charts(&all, out);
	for (size_t i = 0; i < all.count; i++)
		free(all.items[i].curves);
	free(all.items);
	arena_free(all.mem);
}

static void put_run_line(const struct run_story *story, size_t i,
			 struct buf *out)
{
	const struct run_record *run = story->run;
	const struct run_record *first = &story->attempts[0];
	int64_t from_ms = first->start_time_ms ? first->start_time_ms
					       : first->create_time_ms;
	int64_t to_ms = run->end_time_ms ? run->end_time_ms : time_now_ms();
	const char *state = run_state_name(run->state);
	char started[40], age[32];

	time_format_log_utc(from_ms, started, sizeof(started));
	duration_format((long)((to_ms - from_ms) / 1000), age, sizeof(age));
	buf_printf(out, "<tr><th scope=\"row\"><a href=\"#run-%zu\">", i + 1);
	html_text(out, run->job_id);
	buf_printf(out,
		   "</a></th><td class=\"state %s\">%s</td><td>%d</td><td>",
		   state, state, run->attempt);
	html_text(out, run->provider);
	buf_printf(out, "</td><td>%s</td><td>%s</td><td>%zu</td></tr>\n",
		   started, age, story->attempt_count - 1);
}

static void put_runs(const struct report_runs *report, struct buf *out)
{
	buf_puts(out, "<section id=\"runs\">\n<h2>Runs</h2>\n"
		      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
		      "aria-label=\"Runs\"><table class=\"numbers\">"
		      "<thead><tr><th scope=\"col\">Job</th>"
		      "<th scope=\"col\">State</th><th scope=\"col\">Attempt"
		      "</th><th scope=\"col\">Provider</th>"
		      "<th scope=\"col\">Started</th><th scope=\"col\">Time"
		      "</th><th scope=\"col\">Restarts</th></tr></thead>"
		      "<tbody>\n");
	for (size_t i = 0; i < report->count; i++)
		put_run_line(&report->stories[i], i, out);
	buf_puts(out, "</tbody></table></div>\n</section>\n");
}

void report_html(const struct report_runs *report, struct buf *out)
{
	struct buf title = { 0 };
	char now[40], id[32];
	char *under;

	time_format_log_utc(time_now_ms(), now, sizeof(now));
	for (size_t i = 0; i < report->count && i < OPEN_MAX; i++)
		buf_printf(&title, "%s%s", i ? ", " : "",
			   report->stories[i].run->job_id);
	if (report->count > OPEN_MAX)
		buf_printf(&title, " and %zu more", report->count - OPEN_MAX);
	under = mem_printf("%zu run%s as of %s", report->count,
			   report->count == 1 ? "" : "s", now);
	html_begin(out, title.data, under);
	free(under);
	buf_done(&title);
	put_runs(report, out);
	put_metrics(report, out);
	buf_puts(out, "<section>\n<h2>Details</h2>\n");
	for (size_t i = 0; i < report->count; i++) {
		snprintf(id, sizeof(id), "run-%zu", i + 1);
		run_html(report->session, &report->stories[i], id,
			 report->count <= OPEN_MAX, out);
	}
	buf_puts(out, "</section>\n");
	html_end(out);
}
