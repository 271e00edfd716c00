/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/launch_processes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/spec/spec_data.h"
#include "core/task/launch.h"
#include "core/task/launch_many.h"

/* Sets how the program calls us: by the name we were called by, which is a path
 * that works everywhere, or a name in PATH. */
int launch_data(const struct launch_processes *what, size_t self,
		struct environment *env, struct error *err)
{
	const char *name = program_invocation_name;
	struct run_data data;
	char *path;
	int ret;

	if (!what->data)
		return 0;
	if (spec_data_parse(what->data, what->mem, &data, err) < 0)
		return error_prefix(err, "--data");
	path = strchr(name, '/') ? path_absolute(name) : mem_strdup(name);
	ret = spec_data_environment(&data, path, what->all, self, env, err);
	free(path);
	return ret;
}

static int make_environments(const struct launch_processes *what,
			     const struct environment *env,
			     struct environment *out, struct error *err)
{
	char *none[] = { NULL };
	size_t i;

	for (i = 0; i < what->count; i++) {
		if (launch_environment(what->all, what->self + i,
				       &what->contracts, none, &out[i],
				       err) < 0 ||
		    launch_data(what, what->self + i, &out[i], err) < 0)
			return -1;
		environment_inherit(&out[i], env->items);
	}
	return 0;
}

int launch_processes_run(const struct launch_processes *what, char **command,
			 const struct environment *env, int *status,
			 struct error *err)
{
	struct environment *envs =
		arena_alloc(what->mem, what->count * sizeof(*envs));
	const struct launch_many many = {
		.argv = command,
		.envs = envs,
		.count = what->count,
		.rank = what->self,
		.has_master = what->self == 0,
		.grace_s = what->grace_s,
	};
	int ret = make_environments(what, env, envs, err);
	size_t i;

	if (ret == 0)
		ret = launch_many(&many, status, err);
	for (i = 0; i < what->count; i++)
		environment_done(&envs[i]);
	return ret;
}
