/* SPDX-License-Identifier: Apache-2.0 */
/* Sends the new bytes in the folder of a run to a jobrun on another machine;
 * not for users. */
#include <stdlib.h>
#include <unistd.h>

#include "cmd/jobrun/commands.h"
#include "core/base/file.h"
#include "core/remote/log_sync.h"

#define HAVE_MAX ((size_t)64 << 20)

static int run(struct app *app, int argc, char **argv)
{
	struct buf out = { 0 };
	struct error err;
	char *have;
	size_t len;
	int status = 0;
	int first;

	first = options_parse(app, &cmd_log_sync, argc, argv, NULL, 1, 1,
			      &status);
	if (first < 0)
		return status;
	have = file_read_fd(STDIN_FILENO, "standard input", HAVE_MAX, &len,
			    &err);
	if (!have || log_sync_send(argv[first], have, &out, &err) < 0)
		status = app_fail(app, &err);
	else
		app_print(app, &out);
	free(have);
	buf_done(&out);
	return status;
}

const struct command cmd_log_sync = {
	.name = "mirror",
	.args = "FOLDER",
	.summary = "write what is new in the folder of a run; called by jobrun",
	.hidden = true,
	.run = run,
};
