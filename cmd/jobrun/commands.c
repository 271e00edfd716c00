/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cmd/jobrun/commands.h"

/* In the order in which help shows them, within their groups. */
/* clang-format off */
const struct command *const commands[] = {
	&cmd_plan,
	&cmd_apply,
	&cmd_status,
	&cmd_logs,
	&cmd_cancel,
	&cmd_wait,
	&cmd_exec,
	&cmd_shell,
	&cmd_forward,
	&cmd_cp,
	&cmd_metrics,
	&cmd_plot,
	&cmd_report,
	&cmd_diff,
	&cmd_checkpoints,
	&cmd_delete,
	&cmd_gc,
	&cmd_init,
	&cmd_import,
	&cmd_validate,
	&cmd_explain,
	&cmd_schema,
	&cmd_render,
	&cmd_env,
	&cmd_package,
	&cmd_checkpoint,
	&cmd_shard,
	&cmd_cat,
	&cmd_launch,
	&cmd_devices,
	&cmd_doctor,
	&cmd_completion,
	&cmd_version,
	&cmd_help,
	&cmd_complete,
	&cmd_log_sync,
	&cmd_supervise,
	&cmd_keep_checkpoints,
	&cmd_attend,
	&cmd_look_devices,
	&cmd_contain,
	NULL,
};
/* clang-format on */

const struct command *command_find(const char *name)
{
	size_t i;

	for (i = 0; commands[i]; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return provider_command_find(name) ? &cmd_provider : NULL;
}
