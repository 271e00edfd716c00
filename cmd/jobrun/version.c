/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/commands.h"

static int run(struct app *app, int argc, char **argv)
{
	struct buf text = { 0 };
	int status;

	if (options_parse(app, &cmd_version, argc, argv, NULL, 0, 0, &status) <
	    0)
		return status;
	buf_puts(&text, "jobrun " JOBRUN_VERSION "\n");
	app_print(app, &text);
	buf_done(&text);
	return 0;
}

const struct command cmd_version = {
	.name = "version",
	.group = GROUP_MACHINE,
	.args = "",
	.summary = "print the version",
	.run = run,
};
