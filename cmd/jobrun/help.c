/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cmd/jobrun/commands.h"

static const char *const titles[GROUPS] = {
	[GROUP_RUN] = "Run",
	[GROUP_WATCH] = "Watch and compare",
	[GROUP_CLEAN_UP] = "Clean up",
	[GROUP_FILES] = "Job files",
	[GROUP_DATA] = "Data and programs",
	[GROUP_MACHINE] = "This machine",
};

static int widest_name(void)
{
	int widest = 0;
	size_t i;

	for (i = 0; commands[i]; i++)
		if (!commands[i]->hidden &&
		    (int)strlen(commands[i]->name) > widest)
			widest = (int)strlen(commands[i]->name);
	return widest;
}

static void print_all(struct buf *out)
{
	int width = widest_name();
	size_t i;

	buf_puts(
		out,
		"jobrun: plan, run and follow training jobs written as YAML\n\n"
		"Usage: jobrun COMMAND [OPTION]... [ARGUMENT]...\n\n"
		"  jobrun plan job.yaml     show what apply would do; review "
		"it\n"
		"  jobrun apply job.yaml    do it, and follow the run to its "
		"end\n\n"
		"Commands:\n");
	for (int group = 0; group < GROUPS; group++) {
		buf_printf(out, " %s\n", titles[group]);
		for (i = 0; commands[i]; i++)
			if (commands[i]->group == (enum command_group)group &&
			    !commands[i]->hidden)
				buf_printf(out, "  %-*s  %s\n", width,
					   commands[i]->name,
					   commands[i]->summary);
	}
	buf_puts(out,
		 "\n"
		 "'jobrun help COMMAND' shows the help of one.\n"
		 "Exit status: 0 success, 1 the job or an action failed, 2 "
		 "changes are pending\n"
		 "(plan --detailed-exitcode), 64 wrong usage, 65 invalid job "
		 "file, 66 no such\n"
		 "job, 69 can't be reached, 75 try again, 77 not authorised, "
		 "124 timed out,\n"
		 "130 interrupted.\n");
}

static int run(struct app *app, int argc, char **argv)
{
	struct buf text = { 0 };
	const struct command *command;
	struct error err;
	int status = 0;
	int first;

	first = options_parse(app, &cmd_help, argc, argv, NULL, 0, 1, &status);
	if (first < 0)
		return status;
	if (first == argc) {
		print_all(&text);
	} else {
		command = command_find(argv[first]);
		if (!command || command->hidden) {
			error_set(&err, ERROR_USAGE,
				  "unknown command '%s'; see 'jobrun help'",
				  argv[first]);
			return app_fail(app, &err);
		}
		command_help(command, &text);
	}
	app_print(app, &text);
	buf_done(&text);
	return 0;
}

const struct command cmd_help = {
	.name = "help",
	.group = GROUP_MACHINE,
	.args = "[COMMAND]",
	.summary = "show this help, or that of a command",
	.help = "  jobrun help plan\n",
	.run = run,
};
