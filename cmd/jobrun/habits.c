/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/jobrun/commands.h"
#include "cmd/jobrun/habits.h"
#include "core/base/alloc.h"
#include "core/base/text.h"

#define RUN_IT                                                                 \
	"'jobrun plan FILE' shows what a job file would do, 'jobrun "          \
	"apply FILE' does it"
#define END_IT                                                                 \
	"'jobrun cancel JOB' ends a run and keeps its logs and model, "        \
	"'jobrun delete JOB' forgets them, too"

/* A word of other tools: it runs the command, or gets the line as the
 * answer. */
struct habit {
	const char *word;
	const struct command *command;
	const char *instead;
};

static const struct habit words[] = {
	{ "ps", &cmd_status, NULL },
	{ "list", &cmd_status, NULL },
	{ "ls", &cmd_status, NULL },
	{ "queue", &cmd_status, NULL },
	{ "get", &cmd_status, NULL },
	{ "describe", &cmd_status, NULL },
	{ "show", &cmd_status, NULL },
	{ "run", &cmd_apply, NULL },
	{ "submit", &cmd_apply, NULL },
	{ "stop", &cmd_cancel, NULL },
	{ "tail", &cmd_logs, NULL },
	{ "stream-logs", &cmd_logs, NULL },
	{ "destroy", NULL, END_IT },
	{ "down", NULL, END_IT },
	{ "rm", NULL, END_IT },
	{ "remove", NULL, END_IT },
	{ "terminate", NULL, END_IT },
	{ "kill", NULL, END_IT },
	{ "up", NULL, RUN_IT },
	{ "start", NULL, RUN_IT },
	{ "create", NULL, RUN_IT },
	{ "ssh", NULL, "'jobrun shell JOB' opens a shell beside a task" },
	{ "port-forward", NULL,
	  "'jobrun forward JOB PORT' reaches a port of a task" },
	{ "attach", NULL, "'jobrun logs -f JOB' follows a run" },
	{ "watch", NULL, "'jobrun status -w' follows all runs" },
	{ "top", NULL,
	  "'jobrun status JOB' shows what its tasks use, 'jobrun devices' "
	  "this machine's GPUs" },
	{ "history", NULL, "'jobrun status --all JOB' shows earlier attempts" },
	{ "output", NULL, "'jobrun status JOB' names the files of a run" },
	{ "state", NULL, "'jobrun status' lists the runs" },
	{ "lint", NULL, "'jobrun validate FILE' checks a job file" },
	{ "fmt", NULL, "'jobrun validate --fix FILE' mends a job file" },
	{ "check", NULL,
	  "'jobrun validate FILE' checks a job file, 'jobrun doctor' this "
	  "machine" },
	{ "cost-report", NULL,
	  "'jobrun plan --prices FILE' estimates what a run costs" },
	{ "runopts", NULL, "'jobrun explain jobrun' shows the settings" },
	{ "restart", NULL, "'jobrun plan --rerun FILE' shows a run again" },
	{ "retry", NULL, "'jobrun plan --rerun FILE' shows a run again" },
	{ "convert", NULL, "'jobrun import FILE' reads files of other tools" },
};

/* Whether the word is one that other tools put before or after the command:
 * `get jobs`, `jobs list`. */
static bool is_thing(const char *word)
{
	static const char *const things[] = { "job", "jobs", "run", "runs",
					      "workload" };

	for (size_t i = 0; i < COUNT(things); i++)
		if (!strcmp(word, things[i]))
			return true;
	return false;
}

static void drop(int *argc, char **argv, int at)
{
	memmove(argv + at, argv + at + 1, (size_t)(*argc - at) * sizeof(*argv));
	(*argc)--;
}

static const struct habit *find(const char *word)
{
	for (size_t i = 0; i < COUNT(words); i++)
		if (!strcmp(words[i].word, word))
			return &words[i];
	return NULL;
}

static bool has(int argc, char **argv, int from, const char *word)
{
	for (int i = from; i < argc; i++)
		if (!strcmp(argv[i], word))
			return true;
	return false;
}

static bool is_yaml(const char *path)
{
	return text_ends(path, ".yaml") || text_ends(path, ".yml");
}

/* Whether the word is a file: `diff FILE` of kubectl is the plan of the
 * file. */
static bool is_file(const char *word)
{
	return (is_yaml(word) || strchr(word, '/')) && !access(word, F_OK);
}

/* Returns our own command, except for two that mean something else in other
 * tools. */
static const struct command *ours(int argc, char **argv, struct error *err)
{
	const struct command *command = command_find(argv[1]);

	if (command == &cmd_launch && argc > 2 && is_yaml(argv[2]) &&
	    !has(argc, argv, 2, "--")) {
		error_set(err, ERROR_USAGE,
			  "'launch' starts a command inside a job: " RUN_IT);
		return NULL;
	}
	if (command == &cmd_diff && argc == 3 && is_file(argv[2]))
		return &cmd_plan;
	return command;
}

const struct command *habit_command(int *argc, char **argv, struct error *err)
{
	const struct command *command;
	const struct habit *habit;

	err->text[0] = '\0';
	if (command_find(argv[1]))
		return ours(*argc, argv, err);
	if (*argc > 2 &&
	    (!strcmp(argv[1], "ai") || text_starts(argv[1], "ai-"))) {
		error_set(err, ERROR_USAGE,
			  "'jobrun import -- gcloud %s %s ...' makes a job "
			  "file of a command line of gcloud",
			  argv[1], argv[2]);
		return NULL;
	}
	/* `jobs list` is `list`, while the `run` of `run FILE` is the
	 * command. */
	if (*argc > 2 && is_thing(argv[1]) &&
	    (find(argv[2]) || command_find(argv[2])))
		drop(argc, argv, 1);
	command = command_find(argv[1]);
	if (command)
		return command;
	habit = find(argv[1]);
	if (!habit)
		return NULL;
	if (!habit->command) {
		error_set(err, ERROR_USAGE, "'%s' is not a command: %s",
			  habit->word, habit->instead);
		return NULL;
	}
	/* Drop the second word of `get jobs` or `describe job NAME`. */
	if (habit->command == &cmd_status && *argc > 2 && is_thing(argv[2]))
		drop(argc, argv, 2);
	return habit->command;
}

/* ---- options ------------------------------------------------------------ */

/* Options of other tools, and ours for commands that have `ours` but not
 * `theirs`. */
static const struct {
	const char *theirs;
	const char *ours;
} options[] = {
	{ "-auto-approve", "--yes" },
	{ "--auto-approve", "--yes" },
	{ "--json", "--format=json" },
	{ "-json", "--format=json" },
	{ "-o", "--format" },
	{ "--timestamps", "--time=utc" },
	{ "-n", "--tail" },
};

/* Options for what jobrun does not do, or does in another way. */
static const struct {
	const char *theirs;
	const char *has; /* only for commands with this option */
	const char *instead;
} refused[] = {
	{ "-var", "--set", "--set PATH=VALUE changes a field" },
	{ "-var-file", "--set",
	  "'extends' in the file takes another's fields" },
	{ "--env", "--set",
	  "--set jobrun.env.NAME=VALUE sets a variable of the program" },
	{ "--gpus", "--set",
	  "--set trainingInput.masterConfig.acceleratorConfig.count=N" },
	{ "-destroy", "--prune",
	  "'jobrun delete FILE' deletes what a job made" },
};

/* Rewrites `-out` and `-json=x`, in the style of Go's flags. */
static bool one_dash(const struct command *command, char **word)
{
	size_t len = strcspn(*word, "=");
	char *ours;

	if ((*word)[1] == '-' || len < 4)
		return false;
	ours = mem_printf("-%s", *word);
	if (!command_find_option(command, ours)) {
		free(ours);
		return false;
	}
	*word = ours;
	return true;
}

static int refuse(const struct command *command, const char *word,
		  struct error *err)
{
	size_t len = strcspn(word, "=");

	for (size_t i = 0; i < COUNT(refused); i++)
		if (strlen(refused[i].theirs) == len &&
		    !strncmp(refused[i].theirs, word, len) &&
		    command_find_option(command, refused[i].has) &&
		    !command_find_option(command, word))
			return error_set(err, ERROR_USAGE,
					 "unknown option '%.*s': %s", (int)len,
					 word, refused[i].instead);
	return 0;
}

/* Whether a command reads job files and destroys nothing. */
static bool takes_files(const struct command *command)
{
	return command == &cmd_validate || command == &cmd_plan ||
	       command == &cmd_apply || command == &cmd_render;
}

/* Rewrites a word; returns whether it was removed, so that the next word is at
 * its place. */
static bool rewrite(const struct command *command, int *argc, char **argv,
		    int at)
{
	static const char filename[] = "--filename=";
	const char *word = argv[at];

	for (size_t i = 0; i < COUNT(options); i++)
		if (!strcmp(word, options[i].theirs) &&
		    command_find_option(command, options[i].ours) &&
		    !command_find_option(command, word)) {
			argv[at] = (char *)options[i].ours;
			return false;
		}
	if (takes_files(command) && text_starts(word, filename)) {
		argv[at] += strlen(filename);
		return false;
	}
	if ((takes_files(command) && at + 1 < *argc &&
	     (!strcmp(word, "-f") || !strcmp(word, "--filename"))) ||
	    (command == &cmd_status &&
	     (!strcmp(word, "-A") || !strcmp(word, "--all-namespaces")))) {
		drop(argc, argv, at);
		return true;
	}
	return false;
}

int habit_options(const struct command *command, int *argc, char **argv,
		  struct error *err)
{
	const struct opt *row;

	for (int i = 1; i < *argc; i++) {
		if (argv[i][0] != '-' && command->wraps)
			return 0;
		if (argv[i][0] != '-' || !argv[i][1])
			continue;
		if (!strcmp(argv[i], "--"))
			return 0;
		if (refuse(command, argv[i], err) < 0)
			return -1;
		if (!one_dash(command, &argv[i]) &&
		    rewrite(command, argc, argv, i)) {
			i--;
			continue;
		}
		row = command_find_option(command, argv[i]);
		if (row && row->type != OPT_FLAG && !strchr(argv[i], '='))
			i++; /* skip its value */
	}
	return 0;
}
