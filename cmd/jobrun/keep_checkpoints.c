/* SPDX-License-Identifier: Apache-2.0 */
/* The process that uploads a run's checkpoints; started by 'apply' and
 * 'launch', not by users. */
#include "cmd/jobrun/commands.h"
#include "cmd/jobrun/launch_checkpoints.h"
#include "core/checkpoint/saver.h"
#include "providers/stores.h"

int keep_checkpoints(const void *trace_http)
{
	/* A request that fails for this long is reported, and repeated by the
	 * saver. */
	static const struct retry_policy retry = {
		.first_ms = 500,
		.max_ms = 8000,
		.total_ms = 10000,
	};
	const struct object_env env = { .trace_http = trace_http,
					.retry = &retry };
	struct object_store *objects = object_store_new(object_schemes, &env);
	int status = saver_main(objects);

	object_store_free(objects);
	return status;
}

static int run(struct app *app, int argc, char **argv)
{
	int status;

	if (options_parse(app, &cmd_keep_checkpoints, argc, argv, NULL, 0, 0,
			  &status) < 0)
		return status;
	return keep_checkpoints(app->trace_http);
}

const struct command cmd_keep_checkpoints = {
	.name = SAVER_COMMAND,
	.args = "",
	.summary = "keep the checkpoints of a run; started by 'apply'",
	.hidden = true,
	.remote = true,
	.run = run,
};
