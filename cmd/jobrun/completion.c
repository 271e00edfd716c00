/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cmd/jobrun/commands.h"
#include "cmd/jobrun/ui/embedded.h"

static int run(struct app *app, int argc, char **argv)
{
	const struct embedded *file = completion_files;
	struct error err;
	int status = 0;
	int first;

	first = options_parse(app, &cmd_completion, argc, argv, NULL, 1, 1,
			      &status);
	if (first < 0)
		return status;
	while (file->path && strcmp(file->path, argv[first]) != 0)
		file++;
	if (!file->path) {
		error_set(&err, ERROR_USAGE,
			  "there are completions for bash, zsh and fish, not "
			  "for '%s'",
			  argv[first]);
		return app_fail(app, &err);
	}
	app_write(app, file->text, strlen(file->text));
	return 0;
}

const struct command cmd_completion = {
	.name = "completion",
	.args = "bash|zsh|fish",
	.summary = "the completion of commands, options and jobs in a shell",
	.help = "  bash: echo 'eval \"$(jobrun completion bash)\"' "
		">>~/.bashrc\n"
		"  zsh:  echo 'eval \"$(jobrun completion zsh)\"' >>~/.zshrc, "
		"after compinit\n"
		"  fish: jobrun completion fish "
		">~/.config/fish/completions/jobrun.fish\n\n"
		"'make install' puts them where the shells look by "
		"themselves.\n",
	.run = run,
};
