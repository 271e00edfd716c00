/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the subcommand, and does what all of them need: open standard
 * descriptors, and a check for a closed or full standard output. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/jobrun/habits.h"
#include "cmd/jobrun/ui/command.h"
#include "core/base/alloc.h"
#include "core/base/json.h"
#include "core/base/start.h"
#include "core/base/nearest.h"
#include "core/process/process.h"
#include "core/store/store.h"

/* Fills missing standard descriptors, so that no file opened later becomes
 * standard output by accident.  Returns whether standard output was missing. */
static bool fill_standard_descriptors(void)
{
	bool no_output = fcntl(STDOUT_FILENO, F_GETFD) < 0;
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
	return no_output;
}

static int unknown_command(const struct app *app, const char *name)
{
	const char *names[64];
	struct error err;
	const char *near;
	size_t i, n = 0;

	for (i = 0; commands[i] && n < COUNT(names); i++)
		if (!commands[i]->hidden)
			names[n++] = commands[i]->name;
	near = nearest_name(name, names, n);
	if (near)
		error_set(&err, ERROR_USAGE,
			  "unknown command '%s'; did you mean '%s'?", name,
			  near);
	else
		error_set(&err, ERROR_USAGE,
			  "unknown command '%s'; see 'jobrun help'", name);
	return app_fail(app, &err);
}

/* Restores LD_PRELOAD, which the starter of an installed jobrun has hidden from
 * our loader. */
static void restore_preload(void)
{
	const char *kept = getenv(START_PRELOAD_KEPT);

	if (!kept)
		return;
	setenv(START_PRELOAD_LOADER, kept, true);
	unsetenv(START_PRELOAD_KEPT);
}

int main(int argc, char **argv)
{
	static char help[] = "help";
	static char *help_argv[] = { help, NULL };
	const struct command *command;
	struct error err;
	struct app app;
	bool no_output;
	int status;

	process_without_core();
	json_init();
	store_init();
	no_output = fill_standard_descriptors();
	restore_preload();
	app_init(&app);
	app.out_missing = no_output;
	/* Ignore SIGPIPE: write() reports a closed pipe, which we check. */
	app.sigpipe = signal(SIGPIPE, SIG_IGN);
	if (argc < 2) {
		command_find("help")->run(&app, 1, help_argv);
		return ERROR_USAGE;
	}
	if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help"))
		command = command_find("help");
	else if (!strcmp(argv[1], "-V") || !strcmp(argv[1], "--version"))
		command = command_find("version");
	else
		command = habit_command(&argc, argv, &err);
	if (!command)
		return err.text[0] ? app_fail(&app, &err)
				   : unknown_command(&app, argv[1]);
	if (!command->hidden) {
		argv[1] = (char *)command->name;
		argc--;
		if (habit_options(command, &argc, argv + 1, &err) < 0)
			return app_fail(&app, &err);
		argc++;
	}
	status = command->run(&app, argc - 1, argv + 1);
	if (app.out_errno) {
		errno = app.out_errno;
		error_errno(&err, "cannot write to standard output");
		app_fail(&app, &err);
		return status ? status : ERROR_FAILED;
	}
	return status;
}
