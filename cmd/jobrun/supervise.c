/* SPDX-License-Identifier: Apache-2.0 */
/* The hidden command that 'apply' starts to own a run's processes; not for
 * users. */
#include <limits.h>

#include "cmd/jobrun/commands.h"
#include "core/base/units.h"
#include "core/supervise/supervisor.h"
#include "providers/registry.h"
#include "providers/stores.h"

static int run(struct app *app, int argc, char **argv)
{
	struct error err;
	long attempt;
	int status;
	int first;

	first = options_parse(app, &cmd_supervise, argc, argv, NULL, 2, 2,
			      &status);
	if (first < 0)
		return status;
	if (number_parse(argv[first + 1], 1, INT_MAX, &attempt, &err) < 0)
		return app_fail(app, &err);
	return supervisor_main(argv[first], (int)attempt, providers,
			       object_schemes);
}

const struct command cmd_supervise = {
	.name = "supervise",
	.args = "JOBID ATTEMPT",
	.summary = "supervise a local run; started by 'apply'",
	.hidden = true,
	.run = run,
};
