/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A subcommand is a row: its name, its help, its options, and a function.
 *
 * To add `foo`: cmd/jobrun/foo.c, tests/cli/foo.bats, man/jobrun-foo.1, and one
 * line in cmd/jobrun/commands.c.
 */
#ifndef JOBRUN_COMMAND_H
#define JOBRUN_COMMAND_H

#include <stddef.h>

#include "cmd/jobrun/ui/app.h"
#include "core/base/opt.h"

/* Under which title help lists a command; those of every day come first. */
enum command_group {
	GROUP_RUN,
	GROUP_WATCH,
	GROUP_CLEAN_UP,
	GROUP_FILES,
	GROUP_DATA,
	GROUP_MACHINE,
	GROUPS,
};

struct command {
	const char *name;
	enum command_group group;
	const char *args;          /* "[--format FORMAT] PATH..." */
	const char *summary;       /* one line, no full stop */
	const char *help;          /* more, with an example; or NULL */
	const struct opt *options; /* up to a row with no name; or NULL */
	/* Rows shared by several commands, for a struct inside theirs. */
	const struct opt *shared;
	size_t shared_offset;
	const struct opt *more; /* and rows of another such struct, or NULL */
	size_t more_offset;
	const struct opt *lines; /* rows for the look of task lines, or NULL */
	size_t lines_offset;
	bool hidden;
	/* Its arguments are a command: options end at the first of them. */
	bool wraps;
	bool remote; /* makes requests: it has --trace-http */
	/* argv[0] is the command's name.  Returns the exit status. */
	int (*run)(struct app *app, int argc, char **argv);
};

extern const struct command *const commands[];        /* NULL-terminated */
const struct command *command_find(const char *name); /* or NULL */

/*
 * Parses the options of a command into `opts`; the arguments end up at the end
 * of argv.  Returns the index of the first one, or -1 after reporting what is
 * wrong or printing the help; then `*status` is the exit status.  Requires
 * `min` to `max` arguments.
 */
int options_parse(struct app *app, const struct command *command, int argc,
		  char **argv, void *opts, int min, int max, int *status);

/* Reports a wrong call, described by `text`, and the command's usage.  Returns
 * the exit status. */
int command_misused(const struct app *app, const struct command *command,
		    const char *text);

/* The argument that an option takes: a placeholder or choices, like `value` of
 * struct opt; returns new, NULL for a flag. */
char *option_value(const struct opt *row);

/* The i-th option that the command takes, those of all commands last; NULL
 * after the last. */
const struct opt *command_option(const struct command *command, size_t i);
/* The option that a word such as "-o", "--out" or "--out=FILE" names; or
 * NULL. */
const struct opt *command_find_option(const struct command *command,
				      const char *word);

/* The help of one command. */
void command_help(const struct command *command, struct buf *out);

#endif
