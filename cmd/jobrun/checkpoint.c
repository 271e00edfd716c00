/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/jobrun/commands.h"
#include "core/base/file.h"
#include "core/checkpoint/checkpoint_scan.h"

static int commit(const char *folder, struct error *err)
{
	char *path = path_join(folder, CHECKPOINT_COMMIT);
	struct stat st;
	int ret = -1;

	if (stat(folder, &st) < 0)
		error_errno(err, "cannot commit '%s'", folder);
	else if (!S_ISDIR(st.st_mode))
		error_set(err, ERROR_INVALID,
			  "cannot commit '%s': it is not a folder; a file "
			  "counts when it is closed, or renamed to its name",
			  folder);
	else
		ret = file_write(path, "", 0, err);
	free(path);
	return ret;
}

static int run(struct app *app, int argc, char **argv)
{
	struct error err;
	int status = 0;
	int first, i;

	first = options_parse(app, &cmd_checkpoint, argc, argv, NULL, 2, argc,
			      &status);
	if (first < 0)
		return status;
	if (strcmp(argv[first], "commit") != 0) {
		error_set(&err, ERROR_USAGE,
			  "'%s' is not 'commit'; 'jobrun checkpoints' lists "
			  "those of jobs",
			  argv[first]);
		return app_fail(app, &err);
	}
	for (i = first + 1; i < argc; i++)
		if (commit(argv[i], &err) < 0)
			return app_fail(app, &err);
	return 0;
}

const struct command cmd_checkpoint = {
	.name = "checkpoint",
	.group = GROUP_DATA,
	.args = "commit FOLDER...",
	.summary = "mark a folder as a complete checkpoint",
	.help = "  jobrun checkpoint commit "
		"\"$JOBRUN_CHECKPOINT_DIR/step-300\"\n"
		"\n"
		"For programs that write folders in place: jobrun cannot know "
		"when the\n"
		"last file is there.  Puts an empty file COMPLETE into each.\n",
	.run = run,
};
