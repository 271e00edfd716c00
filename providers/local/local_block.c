/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/local/local_block.h"

#include <jansson.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/units.h"
#include "providers/local/local.h"

#define CONFIG_MAX (1 << 20)
#define RUNS_MAX 100000

static const char *const device_names[] = { "any", "strict", "ignore", NULL };

static const struct field fields[] = {
	{ .name = "devices",
	  .type = FIELD_ENUM,
	  .flags = FIELD_POSITION,
	  .values = device_names,
	  .fallback = "any",
	  .offset = offsetof(struct local_block, devices),
	  .doc = "Which GPUs of this machine, or of its hosts, the run holds "
		 "for the acceleratorConfig of its master and workers.  Each "
		 "of their machines gets that many, which no other run shares; "
		 "while too few are free the run is QUEUED.  any: GPUs of any "
		 "type, none if the machine has none.  strict: only the type "
		 "asked for.  ignore: holds none, and the program sees all." },
	{ .name = "runsAtOnce",
	  .type = FIELD_INT,
	  .flags = FIELD_POSITION,
	  .max = RUNS_MAX,
	  .fallback = "0",
	  .offset = offsetof(struct local_block, runs_at_once),
	  .doc = "How many runs may run at once on this machine; this one is "
		 "QUEUED until fewer do.  Runs start in the order of arrival, "
		 "higher scheduling.priority first.  0: no limit.  local: "
		 "{runsAtOnce: N} in ~/.config/jobrun/config.yaml applies to "
		 "all jobs, and the smaller number counts." },
	{ .name = NULL },
};

const struct message local_message = {
	.name = "LocalBlock",
	.doc = "Settings for runs on this machine and on hosts.",
	.size = sizeof(struct local_block),
	.fields = fields,
};

/* Returns a new path, or NULL if there is no home folder. */
static char *config_path(void)
{
	const char *folder = getenv("XDG_CONFIG_HOME");
	const char *home = getenv("HOME");

	if (folder && *folder == '/')
		return mem_printf("%s/jobrun/config.yaml", folder);
	return home && *home ? mem_printf("%s/.config/jobrun/config.yaml", home)
			     : NULL;
}

static int take_limit(const json_t *config, const char *path, long *out,
		      struct error *err)
{
	const json_t *local = json_object_get(config, "local");
	const json_t *value = json_object_get(local, "runsAtOnce");
	struct error why;

	if (!value)
		return 0;
	if (!json_is_string(value) ||
	    number_parse(json_string_value(value), 0, RUNS_MAX, out, &why) < 0)
		return error_set(err, ERROR_INVALID,
				 "'%s': local.runsAtOnce must be a number from "
				 "0 to %d",
				 path, RUNS_MAX);
	return 0;
}

static int read_config(const struct provider_env *env, long *out,
		       struct error *err)
{
	char *path = config_path(), *text = NULL;
	json_t *config = NULL;
	int ret = 0;
	size_t len;

	if (path && env->read_yaml && access(path, F_OK) == 0) {
		text = file_read(path, CONFIG_MAX, &len, err);
		config = text ? env->read_yaml(text, len, path, err) : NULL;
		ret = config ? take_limit(config, path, out, err) : -1;
	}
	json_decref(config);
	free(text);
	free(path);
	return ret;
}

int local_runs_at_once(const struct job *job, const struct provider_env *env,
		       long *out, struct error *err)
{
	const struct local_block *block = job_block(job, provider_local.name);
	long all = 0;

	if (read_config(env, &all, err) < 0)
		return -1;
	*out = block ? block->runs_at_once : 0;
	if (all && (!*out || all < *out))
		*out = all;
	return 0;
}
