/* SPDX-License-Identifier: Apache-2.0 */
/* All subcommands, each in the file of its name. */
#ifndef JOBRUN_COMMANDS_H
#define JOBRUN_COMMANDS_H

#include "cmd/jobrun/ui/command.h"

struct provider_command;

extern const struct command cmd_apply;
extern const struct command cmd_cancel;
extern const struct command cmd_cat;
extern const struct command cmd_complete;
extern const struct command cmd_completion;
extern const struct command cmd_cp;
extern const struct command cmd_delete;
extern const struct command cmd_diff;
extern const struct command cmd_doctor;
extern const struct command cmd_gc;
extern const struct command cmd_env;
extern const struct command cmd_exec;
extern const struct command cmd_explain;
extern const struct command cmd_help;
extern const struct command cmd_import;
extern const struct command cmd_init;
extern const struct command cmd_launch;
extern const struct command cmd_logs;
extern const struct command cmd_metrics;
extern const struct command cmd_package;
extern const struct command cmd_plan;
extern const struct command cmd_plot;
extern const struct command cmd_provider; /* hidden commands of providers */
extern const struct command cmd_render;
extern const struct command cmd_report;
extern const struct command cmd_schema;
extern const struct command cmd_status;
extern const struct command cmd_shard;
extern const struct command cmd_shell;
extern const struct command cmd_forward;
extern const struct command cmd_log_sync;
extern const struct command cmd_supervise;
extern const struct command cmd_keep_checkpoints;
extern const struct command cmd_attend;
extern const struct command cmd_devices;
extern const struct command cmd_look_devices;
extern const struct command cmd_contain;
extern const struct command cmd_validate;
extern const struct command cmd_version;
extern const struct command cmd_checkpoint;
extern const struct command cmd_checkpoints;
extern const struct command cmd_wait;

/* A provider's hidden command, or NULL. */
const struct provider_command *provider_command_find(const char *name);

#endif
