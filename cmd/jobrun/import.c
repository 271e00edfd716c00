/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <unistd.h>

#include "cmd/jobrun/commands.h"
#include "cmd/jobrun/import_file.h"
#include "cmd/jobrun/ui/load.h"
#include "providers/registry.h"
#include "schema/catalogue/catalogue_get.h"
#include "schema/import/import.h"
#include "schema/describe/outline.h"

#define PLACES_MAX 16

struct import_opts {
	bool lossy;
};

static const struct opt options[] = {
	{ 0, "lossy", OPT_FLAG, offsetof(struct import_opts, lossy), NULL,
	  "succeed although something is lost" },
	{ 0 },
};

static void show(const struct app *app, struct problems *found)
{
	struct buf text = { 0 };

	problems_sort(found);
	problems_text(found, app->err_color ? PROBLEMS_COLOUR : 0, &text);
	app_put_messages(app, &text);
	buf_done(&text);
}

/* Checks the result, which is shown even if it is invalid, as it follows the
 * command line. */
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

/* Reports what was lost; returns the exit status. */
static int say_lost(struct app *app, int lost, const char *hint)
{
	app_say(app,
		"%d setting%s cannot be kept in a job file: see the comments%s",
		lost, lost == 1 ? "" : "s", hint);
	return ERROR_INVALID;
}

static int foreign(const char *path, const char *folder, struct problems *found,
		   struct buf *out, struct error *err)
{
	struct import_place places[PLACES_MAX] = { { 0 } };
	const struct catalogue *catalogue;
	size_t i;

	for (i = 0; i + 1 < COUNT(places) && providers[i]; i++)
		places[i] = (struct import_place){
			.name = providers[i]->name,
			.traits = providers[i]->traits,
			.block = providers[i]->block,
		};
	catalogue_beside(path);
	catalogue = catalogue_get(err);
	if (!catalogue)
		return -1;
	return import_foreign(path, folder, places, catalogue, found, out, err);
}

int import_file(struct app *app, const char *path, const char *folder,
		struct buf *text, struct error *err)
{
	struct problems found = { 0 };
	int lost = foreign(path, folder, &found, text, err), status = 0;

	if (lost < 0) {
		show(app, &found);
		if (problems_errors(&found))
			error_set(err, ERROR_INVALID,
				  "'%s' cannot be converted", path);
	} else {
		status = check(app, text, err);
		if (status)
			lost = error_set(err, (enum error_code)status,
					 "the job from '%s' is not valid",
					 path);
	}
	if (lost > 0)
		say_lost(app, lost, "");
	problems_done(&found);
	return lost < 0 ? -1 : 0;
}

static int run(struct app *app, int argc, char **argv)
{
	struct problems found = { 0 };
	struct buf text = { 0 };
	struct outline all;
	struct error err;
	struct import_opts opts = { 0 };
	int status = 0;
	int first, lost;

	first = options_parse(app, &cmd_import, argc, argv, &opts, 1, INT_MAX,
			      &status);
	if (first < 0)
		return status;
	outline_init(&all, providers);
	/* Every command has more words than one. */
	if (argc - first == 1)
		lost = foreign(argv[first], NULL, &found, &text, &err);
	else
		lost = import_gcloud(argv + first, (size_t)(argc - first),
				     all.provider_names, &found, &text, &err);
	if (lost >= 0) {
		app_print(app, &text);
		status = check(app, &text, &err);
		if (lost && !opts.lossy && !status)
			status = say_lost(app, lost, " (--lossy drops them)");
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
	.group = GROUP_FILES,
	.args = "[--lossy] FILE | -- gcloud ARGUMENT...",
	.summary = "convert an old command line to a job file",
	.help = "A FILE is a Kubernetes Job, JobSet or TrainJob, a script of "
		"sbatch, or a task of\n"
		"SkyPilot or dstack.\n\n"
		"  jobrun import -- gcloud ai-platform jobs submit training "
		"NAME \\\n"
		"      --region=us-central1 --config=config.yaml -- --epochs "
		"90 >job.yaml\n\n"
		"Also takes 'gcloud ai custom-jobs create' and 'gcloud ai "
		"hp-tuning-jobs create'.\n"
		"What has no counterpart becomes a comment, and the exit "
		"status is 65.\n",
	.options = options,
	.run = run,
};
