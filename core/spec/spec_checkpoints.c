/* SPDX-License-Identifier: Apache-2.0 */
#include "core/spec/spec_checkpoints.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/spec/saver_config.h"
#include "core/spec/upload_event.h"
#include "core/spec/spec.h"

#define OWN_FOLDER "checkpoints"
/* The number of options of launch, not counting patterns of metrics. */
#define OPTIONS_MAX 8

const char *spec_job_folder(const struct job *job, const char *to,
			    struct arena *mem)
{
	char *whole, *joined;
	const char *out;

	if (!to)
		return NULL;
	whole = strstr(to, "://") ? mem_strdup(to)
				  : path_absolute(job_path(job, to));
	joined = path_join(whole, job->job_id);
	out = arena_strdup(mem, joined);
	free(joined);
	free(whole);
	return out;
}

void spec_checkpoints_from_job(const struct job *job, struct arena *mem,
			       struct run_checkpoints *out)
{
	const struct checkpoints *from = &job->jobrun.checkpoints;

	*out = (struct run_checkpoints){ 0 };
	if (!job_has(job, "checkpoints"))
		return;
	*out = (struct run_checkpoints){
		.is_used = true,
		.directory = from->directory,
		.to = spec_job_folder(job, from->to, mem),
		.keep = from->keep,
		.metric = from->metric,
		.maximize = from->goal == CHECKPOINT_GOAL_MAXIMIZE,
		.resume = from->resume,
		.quiet_s = from->quiet_period_s,
	};
}

char *spec_checkpoints_folder(const struct run_spec *spec)
{
	return spec->checkpoints.directory
		       ? path_join(spec->directory, spec->checkpoints.directory)
		       : path_join(spec->output, OWN_FOLDER);
}

void spec_checkpoints_config(const struct run_spec *spec, struct arena *mem,
			     struct saver_config *out)
{
	const struct run_checkpoints *from = &spec->checkpoints;
	char *folder = spec_checkpoints_folder(spec);

	*out = (struct saver_config){
		.attempt = spec->attempt,
		.directory = arena_strdup(mem, folder),
		.to = from->to,
		.keep = from->keep,
		.metric = from->metric,
		.maximize = from->maximize,
		.resume = from->resume,
		.quiet_s = from->quiet_s,
		.fetched = arena_printf(mem, "%s/.jobrun-resume", folder),
		.events = arena_printf(mem, "%s/" UPLOAD_EVENTS, spec->home),
		.run_folder = spec->folder,
	};
	free(folder);
}

static void add(struct strings *list, const char *text)
{
	list->items[list->count++] = text;
}

/* Adds the options for the metric.  It is read on the host, from the output of
 * the first task: its clock is that of the files, and no connection is
 * needed. */
static void add_metric(struct strings *out, const struct run_spec *spec,
		       struct arena *mem)
{
	const struct run_checkpoints *from = &spec->checkpoints;

	if (!from->metric)
		return;
	add(out, arena_printf(mem, "--checkpoint-metric=%s", from->metric));
	add(out, from->maximize ? "--checkpoint-goal=maximize"
				: "--checkpoint-goal=minimize");
	for (size_t i = 0; i < spec->metrics.count; i++)
		add(out, arena_printf(mem, "--checkpoint-pattern=%s=%s",
				      spec->metrics.items[i].name,
				      spec->metrics.items[i].value));
}

void spec_checkpoints_options(const struct run_spec *spec,
			      const char *directory, struct arena *mem,
			      struct strings *out)
{
	const struct run_checkpoints *from = &spec->checkpoints;

	*out = (struct strings){
		.items = arena_alloc(mem, (spec->metrics.count + OPTIONS_MAX) *
						  sizeof(*out->items)),
	};
	add(out, arena_printf(mem, "--checkpoint-dir=%s", directory));
	if (from->to)
		add(out, arena_printf(mem, "--checkpoint-to=%s", from->to));
	add(out, arena_printf(mem, "--checkpoint-keep=%ld", from->keep));
	add(out, arena_printf(mem, "--checkpoint-quiet=%ld", from->quiet_s));
	if (from->resume == CHECKPOINT_RESUME_NONE)
		add(out, "--checkpoint-resume=none");
	else if (from->resume == CHECKPOINT_RESUME_BEST)
		add(out, "--checkpoint-resume=best");
	add_metric(out, spec, mem);
}
