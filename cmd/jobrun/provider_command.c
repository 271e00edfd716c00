/* SPDX-License-Identifier: Apache-2.0 */
/* Hidden commands that belong to providers. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/jobrun/commands.h"
#include "core/provider/extension.h"
#include "core/provider/provider.h"
#include "providers/registry.h"
#include "schema/read/yaml_read.h"

const struct provider_command *provider_command_find(const char *name)
{
	const struct provider_command *const *row;
	size_t i;

	for (i = 0; providers[i]; i++)
		for (row = providers[i]->commands; row && *row; row++)
			if (!strcmp((*row)->name, name))
				return *row;
	return NULL;
}

static int run(struct app *app, int argc, char **argv)
{
	const struct provider_command *row = provider_command_find(argv[0]);
	const struct command command = { .name = row->name,
					 .args = row->args,
					 .summary = row->summary,
					 .options = row->options,
					 .remote = row->remote };
	const struct provider_env env = { .trace_http = app->trace_http,
					  .read_yaml = yaml_read };
	void *opts = row->opts_size ? mem_alloc(row->opts_size) : NULL;
	struct buf out = { 0 };
	struct error err;
	int status = 0;
	int first;

	first = options_parse(app, &command, argc, argv, opts, row->arg_count,
			      row->has_more ? INT_MAX : row->arg_count,
			      &status);
	if (first >= 0) {
		status = row->run(opts, argv + first, &env, &out, &err);
		if (status < 0)
			status = app_fail(app, &err);
		else
			app_print(app, &out);
	}
	buf_done(&out);
	free(opts);
	return status;
}

const struct command cmd_provider = {
	.name = "",
	.args = "",
	.summary = "",
	.hidden = true,
	.run = run,
};
