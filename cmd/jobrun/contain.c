/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a command in a container; started by jobrun itself, not by users. */
#include <limits.h>

#include "cmd/jobrun/commands.h"
#include "core/container/container.h"

static int run(struct app *app, int argc, char **argv)
{
	struct error err;
	int status = 0;
	int first = options_parse(app, &cmd_contain, argc, argv, NULL, 2,
				  INT_MAX, &status);

	if (first < 0)
		return status;
	container_exec(argc - first, argv + first, &err);
	return app_fail(app, &err);
}

const struct command cmd_contain = {
	.name = CONTAINER_COMMAND,
	.args = "WORD... -- COMMAND [ARGUMENT]...",
	.summary = "run a command in a container; started by jobrun itself",
	.hidden = true,
	.wraps = true,
	.run = run,
};
