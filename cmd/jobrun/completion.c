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
			  "no completion for '%s'; there is one for bash, zsh "
			  "and fish",
			  argv[first]);
		return app_fail(app, &err);
	}
	app_write(app, file->text, strlen(file->text));
	return 0;
}

const struct command cmd_completion = {
	.name = "completion",
	.group = GROUP_MACHINE,
	.args = "bash|zsh|fish",
	.summary = "print a shell's completion of commands, options and jobs",
	.help = "  bash: echo 'eval \"$(jobrun completion bash)\"' "
		">>~/.bashrc\n"
		"  zsh:  echo 'eval \"$(jobrun completion zsh)\"' >>~/.zshrc, "
		"after compinit\n"
		"  fish: jobrun completion fish "
		">~/.config/fish/completions/jobrun.fish\n\n"
		"'make install' puts them where the shells look.\n",
	.run = run,
};
