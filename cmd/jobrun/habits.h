/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Command lines from habit: the words of kubectl, Terraform, SkyPilot, dstack,
 * TorchX, xpk and gcloud.  A word that means the same here is accepted.  A word
 * that means something else, or destroys more here than there, gets one line
 * that names ours.
 */
#ifndef JOBRUN_HABITS_H
#define JOBRUN_HABITS_H

#include "cmd/jobrun/ui/command.h"

/*
 * The command that `argv[1]` means, or NULL with `err` set to what to use
 * instead; `err` has no text if no tool uses the word.  `argc` and `argv`
 * become the command's arguments, with its name at argv[1]; new strings in them
 * live as long as the process.
 */
const struct command *habit_command(int *argc, char **argv, struct error *err);

/*
 * Rewrites options of other tools in place to those of the command:
 * `-auto-approve` to `--yes`, `-f FILE` to FILE. argv[0] is the command's name.
 * Returns -1 with `err` set to what to use instead.
 */
int habit_options(const struct command *command, int *argc, char **argv,
		  struct error *err);

#endif
