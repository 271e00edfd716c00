/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <unistd.h>

#include "cmd/jobrun/commands.h"
#include "cmd/jobrun/ui/load.h"
#include "providers/registry.h"
#include "schema/import/import.h"
#include "schema/describe/outline.h"

static void show(const struct app *app, struct problems *found)
{
	struct buf text = { 0 };

	problems_sort(found);
	problems_text(found, app->err_color ? PROBLEMS_COLOUR : 0, &text);
	app_put_messages(app, &text);
	buf_done(&text);
}

/* The result is shown even if it is invalid, as it follows the command line. */
static int check(const struct app *app, const struct buf *text,
		 struct error *err)
{
	struct schema_options schema = load_plain_options();
	struct problems found = { 0 };
	struct jobs jobs = { 0 };
	int status = 0;

	if (schema_load_text("import", buf_text(text), text->len, &schema,
			     &jobs, &found, err) < 0)
		return app_fail(app, err);
	show(app, &found);
	if (problems_errors(&found))
		status = ERROR_INVALID;
	problems_done(&found);
	jobs_done(&jobs);
	return status;
}

static int run(struct app *app, int argc, char **argv)
{
	struct problems found = { 0 };
	struct buf text = { 0 };
	struct outline all;
	struct error err;
	int status = 0;
	int first;

	first = options_parse(app, &cmd_import, argc, argv, NULL, 1, INT_MAX,
			      &status);
	if (first < 0)
		return status;
	outline_init(&all, providers);
	if (import_gcloud(argv + first, (size_t)(argc - first),
			  all.provider_names, &found, &text, &err) == 0) {
		app_print(app, &text);
		status = check(app, &text, &err);
	} else {
		show(app, &found);
		status = problems_errors(&found) ? ERROR_INVALID
						 : app_fail(app, &err);
	}
	problems_done(&found);
	buf_done(&text);
	return status;
}

const struct command cmd_import = {
	.name = "import",
	.args = "-- gcloud ARGUMENT...",
	.summary = "the job file that says what an old command line said",
	.help = "  jobrun import -- gcloud ai-platform jobs submit training "
		"NAME --region=us-central1 \\\n"
		"      --config=config.yaml -- --epochs 90 >job.yaml\n\n"
		"Also takes 'gcloud ai custom-jobs create'.  What has no "
		"counterpart becomes a comment.\n",
	.run = run,
};
