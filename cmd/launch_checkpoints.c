/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/launch_checkpoints.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/job.h"

#define KEEP_USUAL 3
#define QUIET_USUAL_S 10

#define AT(member) offsetof(struct launch_checkpoint_opts, member)
const struct opt launch_checkpoint_options[] = {
	{ 0, "checkpoint-dir", OPT_STRING, AT(directory), "DIR",
	  "where the command writes checkpoints; it goes on from the newest" },
	{ 0, "checkpoint-to", OPT_STRING, AT(to), "URL",
	  "keep them there: a gs:// URL or a directory" },
	{ 0, "checkpoint-keep", OPT_NUMBER, AT(keep), "N",
	  "so many of them, the last ones (3)" },
	{ 0, "checkpoint-resume", OPT_CHOICE, AT(resume), "newest|none",
	  "what the command goes on from; newest is the default" },
	{ 0, "checkpoint-quiet", OPT_DURATION, AT(quiet_s), "DURATION",
	  "a file that is left alone for so long is whole (10s)" },
	{ 0 },
};

int launch_checkpoints_check(const struct launch_checkpoint_opts *opts,
			     struct error *err)
{
	if (!opts->directory &&
	    (opts->to || opts->keep || opts->resume || opts->quiet_s))
		return error_set(err, ERROR_USAGE,
				 "--checkpoint-dir must say where the command "
				 "writes its checkpoints");
	return 0;
}

/* From where the command starts: this process is there. */
static const char *absolute(const char *path, struct arena *mem)
{
	char *whole = path_absolute(path);
	const char *out = arena_strdup(mem, whole);

	free(whole);
	return out;
}

int launch_checkpoints_keep(const struct launch_checkpoint_opts *opts,
			    const char *trace_http, size_t count, size_t self,
			    struct arena *mem, struct environment *env,
			    struct launch_keeper **keeper, struct error *err)
{
	struct keeper_config config = {
		.keep = opts->keep ? opts->keep : KEEP_USUAL,
		.quiet_s = opts->quiet_s ? opts->quiet_s : QUIET_USUAL_S,
		.is_shared = count > 1,
		.fetch_only = self > 0,
	};
	struct launch_keeper *started;

	if (!opts->directory)
		return 0;
	config.directory = absolute(opts->directory, mem);
	if (opts->to)
		config.to = strstr(opts->to, "://") ? opts->to
						    : absolute(opts->to, mem);
	if (opts->resume && !strcmp(opts->resume, "none"))
		config.resume = CHECKPOINT_RESUME_NONE;
	/* Several tasks may share a file system. */
	config.fetched = arena_printf(mem, "%s/.jobrun-resume-%zu",
				      config.directory, self);
	started = launch_keep(&config, keep_checkpoints, trace_http, env, err);
	if (!started)
		return -1;
	if (config.fetch_only)
		launch_keeper_free(started);
	else
		*keeper = started;
	return 0;
}
