/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/jobrun/commands.h"
#include "cmd/jobrun/page/report_page.h"
#include "core/base/file.h"

struct report_opts {
	const char *out;
	const char *prices;
};

static const struct opt options[] = {
	{ 'o', "out", OPT_STRING, offsetof(struct report_opts, out), "FILE",
	  "the file to write; '-' is standard output" },
	{ 0, "prices", OPT_STRING, offsetof(struct report_opts, prices), "FILE",
	  "a price list, to show the cost of the runs" },
	{ 0 },
};

static int write_page(struct app *app, const struct report_runs *report,
		      const char *path, struct error *err)
{
	struct buf page = { 0 };
	char *name = NULL;
	int ret = 0;

	report_html(report, &page);
	if (!path)
		path = name =
			mem_printf("%s.html", report->stories[0].run->job_id);
	if (!strcmp(path, "-"))
		app_print(app, &page);
	else
		ret = file_write(path, page.data, page.len, err);
	if (ret == 0 && strcmp(path, "-") != 0)
		app_say(app, "wrote '%s' (%zu kB)", path,
			(page.len + 999) / 1000);
	free(name);
	buf_done(&page);
	return ret;
}

static int run(struct app *app, int argc, char **argv)
{
	struct report_opts opts = { 0 };
	struct session session = { 0 };
	struct arena *mem = arena_new();
	struct run_story *stories = NULL;
	struct report_runs report = { .session = &session };
	struct error err;
	int status = 0;
	int first, i;

	first = options_parse(app, &cmd_report, argc, argv, &opts, 1, INT_MAX,
			      &status);
	if (first < 0)
		goto out;
	stories = arena_alloc(mem, (size_t)argc * sizeof(*stories));
	report.stories = stories;
	if (session_open(&session, app, 0, &err) < 0 ||
	    session_prices(&session, opts.prices, &err) < 0)
		goto fail;
	for (i = first; i < argc; i++)
		if (run_story_read(&session, argv[i], mem,
				   &stories[report.count++], &err) < 0)
			goto fail;
	if (write_page(app, &report, opts.out, &err) == 0)
		goto out;
fail:
	status = app_fail(app, &err);
out:
	while (report.count)
		run_story_done(&stories[--report.count]);
	session_close(&session);
	arena_free(mem);
	return status;
}

const struct command cmd_report = {
	.name = "report",
	.group = GROUP_WATCH,
	.args = "[-o FILE] [--prices FILE] JOB...",
	.summary = "write a page of runs: timeline, curves, trials, changes",
	.help = "Writes one self-contained HTML file.  JOB.3 is the run as of "
		"attempt 3.\n"
		"  jobrun report quickstart\n"
		"  jobrun report -o compare.html run_a run_b\n",
	.options = options,
	.remote = true,
	.run = run,
};
