/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/launch_checkpoints.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/environment.h"
#include "core/base/file.h"
#include "core/base/opt.h"
#include "core/job/job.h"

#define KEEP_USUAL 3
#define QUIET_USUAL_S 10

#define AT(member) offsetof(struct launch_checkpoint_opts, member)
const struct opt launch_checkpoint_options[] = {
	{ 0, "checkpoint-dir", OPT_STRING, AT(directory), "DIR",
	  "where it writes checkpoints, to resume from" },
	{ 0, "checkpoint-to", OPT_STRING, AT(to), "URL",
	  "upload them there: gs://, s3:// or a directory" },
	{ 0, "checkpoint-keep", OPT_COUNT, AT(keep), "N",
	  "keep this many, the newest (3)" },
	{ 0, "checkpoint-metric", OPT_STRING, AT(metric), "NAME",
	  "keep the best by this metric, as it is printed" },
	{ 0, "checkpoint-goal", OPT_CHOICE, AT(goal), "maximize|minimize",
	  "which value of the metric is better" },
	{ 0, "checkpoint-pattern", OPT_LIST, AT(patterns), "NAME=REGEX",
	  "how to find a metric in a line; repeatable" },
	{ 0, "checkpoint-resume", OPT_CHOICE, AT(resume), "newest|best|none",
	  "what to resume from; newest is the default" },
	{ 0, "checkpoint-quiet", OPT_DURATION, AT(quiet_s), "DURATION",
	  "a file unchanged for this long is complete (10s)" },
	{ 0 },
};

static int resume_of(const struct launch_checkpoint_opts *opts)
{
	if (opts->resume && !strcmp(opts->resume, "best"))
		return CHECKPOINT_RESUME_BEST;
	return opts->resume && !strcmp(opts->resume, "none")
		       ? CHECKPOINT_RESUME_NONE
		       : CHECKPOINT_RESUME_NEWEST;
}

static bool is_pattern(const char *text)
{
	const char *equals = strchr(text, '=');

	return equals && equals > text && equals[1];
}

int launch_checkpoints_check(const struct launch_checkpoint_opts *opts,
			     struct error *err)
{
	if (!opts->directory && (opts->to || opts->keep || opts->resume ||
				 opts->quiet_s || opts->metric))
		return error_set(err, ERROR_USAGE,
				 "--checkpoint-dir must say where the command "
				 "writes its checkpoints");
	if (!opts->metric != !opts->goal)
		return error_set(err, ERROR_USAGE,
				 "--checkpoint-metric and --checkpoint-goal "
				 "need each other");
	if (!opts->metric && opts->patterns.count)
		return error_set(err, ERROR_USAGE,
				 "--checkpoint-pattern needs "
				 "--checkpoint-metric");
	if (!opts->metric && resume_of(opts) == CHECKPOINT_RESUME_BEST)
		return error_set(err, ERROR_USAGE,
				 "--checkpoint-resume=best needs "
				 "--checkpoint-metric");
	for (size_t i = 0; i < opts->patterns.count; i++)
		if (!is_pattern(opts->patterns.items[i].value))
			return error_set(err, ERROR_USAGE,
					 "--checkpoint-pattern must be "
					 "NAME=REGEX, not '%s'",
					 opts->patterns.items[i].value);
	return 0;
}

/* Makes a path absolute, relative to the command's working directory, which is
 * ours. */
static const char *absolute(const char *path, struct arena *mem)
{
	char *whole = path_absolute(path);
	const char *out = arena_strdup(mem, whole);

	free(whole);
	return out;
}

static struct pairs patterns_of(const struct launch_checkpoint_opts *opts,
				struct arena *mem)
{
	const struct opt_list *from = &opts->patterns;
	struct pairs out = { .items = arena_alloc(
				     mem, from->count * sizeof(*out.items)) };

	for (; out.count < from->count; out.count++) {
		const char *text = from->items[out.count].value;
		const char *equals = strchr(text, '=');

		out.items[out.count].name =
			arena_strndup(mem, text, (size_t)(equals - text));
		out.items[out.count].value = equals + 1;
	}
	return out;
}

int launch_checkpoints_keep(const struct launch_checkpoint_opts *opts,
			    const char *trace_http, size_t count, size_t self,
			    struct arena *mem, struct environment *env,
			    struct launch_saver **saver, struct error *err)
{
	struct saver_config config = {
		.keep = opts->keep ? opts->keep : KEEP_USUAL,
		.quiet_s = opts->quiet_s ? opts->quiet_s : QUIET_USUAL_S,
		.metric = opts->metric,
		.maximize = opts->goal && !strcmp(opts->goal, "maximize"),
		.resume = resume_of(opts),
		.is_shared = count > 1,
		.fetch_only = self > 0,
	};
	struct launch_saver *started;
	struct pairs patterns;

	if (!opts->directory)
		return 0;
	config.directory = absolute(opts->directory, mem);
	if (opts->to)
		config.to = strstr(opts->to, "://") ? opts->to
						    : absolute(opts->to, mem);
	/* Tasks that share a file system need folders of their own. */
	config.fetched = arena_printf(mem, "%s/.jobrun-resume-%zu",
				      config.directory, self);
	if (opts->metric && !config.fetch_only)
		config.heard =
			arena_printf(mem, "%s/.jobrun-heard", config.directory);
	patterns = patterns_of(opts, mem);
	started = launch_keep(&config, &patterns, keep_checkpoints, trace_http,
			      env, err);
	if (!started)
		return -1;
	if (config.fetch_only)
		launch_saver_free(started);
	else
		*saver = started;
	return 0;
}
