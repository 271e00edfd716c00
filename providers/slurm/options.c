/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/slurm/options.h"

#include <string.h>

#include "core/base/alloc.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/job/check.h"
#include "core/process/subprocess.h"

enum options_of {
	OF_SBATCH = 1 << 0,
	OF_SRUN = 1 << 1,
	OF_BOTH = OF_SBATCH | OF_SRUN,
};

/* An option that jobrun sets itself, and the field of the job for it. */
struct owned_option {
	const char *name;
	enum options_of of;
	const char *instead;
};

#define OF_THE_FILE "jobrun keeps the logs of tasks itself"
#define OF_THE_RUN "jobrun finds its runs by that"

static const struct owned_option owned[] = {
	{ "account", OF_BOTH, "use jobrun.slurm.account" },
	{ "array", OF_SBATCH, "use trainingInput.hyperparameters" },
	{ "chdir", OF_BOTH, "the program starts in jobrun.source" },
	{ "clusters", OF_BOTH, "use jobrun.slurm.loginHost" },
	{ "comment", OF_BOTH, OF_THE_RUN },
	{ "constraint", OF_BOTH, "use jobrun.slurm.constraint" },
	{ "container-image", OF_BOTH,
	  "use trainingInput.masterConfig.imageUri" },
	{ "cpus-per-task", OF_SRUN, "use jobrun.slurm.sbatch.cpus-per-task" },
	{ "error", OF_BOTH, OF_THE_FILE },
	{ "export", OF_BOTH, "use jobrun.slurm.export" },
	{ "export-file", OF_SBATCH, "use jobrun.slurm.export" },
	{ "gpus", OF_BOTH, "use acceleratorConfig and jobrun.slurm.gres" },
	{ "gpus-per-node", OF_BOTH,
	  "use acceleratorConfig and jobrun.slurm.gres" },
	{ "gpus-per-task", OF_BOTH,
	  "use acceleratorConfig and jobrun.slurm.gres" },
	{ "gres", OF_BOTH, "use acceleratorConfig and jobrun.slurm.gres" },
	{ "het-group", OF_SRUN, "jobrun makes one step of all tasks" },
	{ "input", OF_BOTH, "tasks have no standard input" },
	{ "job-name", OF_BOTH, "use jobId" },
	{ "jobid", OF_SRUN, OF_THE_RUN },
	{ "kill-on-bad-exit", OF_SRUN, "use jobrun.restart" },
	{ "multi-prog", OF_SRUN, "use jobrun.command" },
	{ "nice", OF_SBATCH, "use jobrun.slurm.nice" },
	{ "no-requeue", OF_SBATCH, "use jobrun.slurm.requeue" },
	{ "nodes", OF_BOTH, "use trainingInput.workerCount" },
	{ "ntasks", OF_BOTH, "use trainingInput.workerCount" },
	{ "ntasks-per-node", OF_BOTH, "jobrun starts a task for each node" },
	{ "open-mode", OF_BOTH, OF_THE_FILE },
	{ "output", OF_BOTH, OF_THE_FILE },
	{ "parsable", OF_SBATCH, OF_THE_RUN },
	{ "partition", OF_BOTH, "use jobrun.slurm.partition" },
	{ "priority", OF_SBATCH, "use trainingInput.scheduling.priority" },
	{ "pty", OF_SRUN, OF_THE_FILE },
	{ "qos", OF_BOTH, "use jobrun.slurm.qos" },
	{ "requeue", OF_SBATCH, "use jobrun.restart or jobrun.slurm.requeue" },
	{ "reservation", OF_BOTH, "use jobrun.slurm.reservation" },
	{ "signal", OF_SBATCH, "use jobrun.slurm.signalTime" },
	{ "test-only", OF_BOTH, "use 'jobrun plan'" },
	{ "time", OF_BOTH, "use trainingInput.scheduling.maxRunningTime" },
	{ "wait", OF_SBATCH, "use 'jobrun wait'" },
	{ "wrap", OF_SBATCH, "use jobrun.command" },
};

/* Options of a whole job, not of a component (slurm.schedmd.com/
 * heterogeneous_jobs.html, "Submitting jobs"). */
static const char *const whole[] = {
	"bb",         "bbf",        "begin",     "deadline",
	"delay-boot", "dependency", "hold",      "kill-on-invalid-dep",
	"mail-type",  "mail-user",  "mcs-label", "wckey",
};

static const struct owned_option *owner_of(const char *name, enum options_of of)
{
	size_t i;

	for (i = 0; i < COUNT(owned); i++)
		if ((owned[i].of & of) && !strcmp(owned[i].name, name))
			return &owned[i];
	return NULL;
}

/* Writes the value as one word to `out`; returns false if it is no word.  The
 * value of a flag is empty. */
static bool word_of(const json_t *value, struct buf *out)
{
	const json_t *item;
	size_t i;

	if (json_is_string(value)) {
		buf_puts(out, json_string_value(value));
		return true;
	}
	json_array_foreach(value, i, item)
	{
		if (!json_is_string(item))
			return false;
		buf_printf(out, "%s%s", i ? "," : "", json_string_value(item));
	}
	return json_is_true(value) || json_array_size(value) > 0;
}

/* Whether the option is turned off, by false or null, in a file that extends
 * another. */
static bool is_off(const json_t *value)
{
	return json_is_false(value) || json_is_null(value);
}

static bool is_name(const char *name)
{
	return name[0] >= 'a' && name[0] <= 'z' && name[1] &&
	       !name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_")];
}

static void check_option_of(const char *name, const json_t *value,
			    enum options_of of, tree_tell *tell, void *ctx)
{
	const char *program = of == OF_SBATCH ? "sbatch" : "srun";
	const struct owned_option *owner = owner_of(name, of);
	struct arena *mem = arena_new();
	struct buf word = { 0 };
	struct error err = { 0 };

	if (!is_name(name))
		tell(ctx, name,
		     arena_printf(mem, "\"%s\" is no long option of %s", name,
				  program),
		     "write it without dashes: mail-type, exclusive");
	else if (owner)
		tell(ctx, name,
		     arena_printf(mem, "jobrun sets --%s itself", name),
		     owner->instead);
	else if (!is_off(value) && !word_of(value, &word))
		tell(ctx, name,
		     arena_printf(mem,
				  "\"%s\" must be a string, a list of strings "
				  "or true",
				  name),
		     NULL);
	else if (word.len && check_option(buf_text(&word), &err) < 0)
		tell(ctx, name, arena_printf(mem, "\"%s\" %s", name, err.text),
		     NULL);
	buf_done(&word);
	arena_free(mem);
}

static void check_all(const json_t *options, enum options_of of,
		      tree_tell *tell, void *ctx)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)options, name, value)
		check_option_of(name, value, of, tell, ctx);
}

void sbatch_options_check(const json_t *options, tree_tell *tell, void *ctx)
{
	check_all(options, OF_SBATCH, tell, ctx);
}

void srun_options_check(const json_t *options, tree_tell *tell, void *ctx)
{
	check_all(options, OF_SRUN, tell, ctx);
}

static json_t *read_options(const char *options)
{
	return options ? json_loads(options, 0, NULL) : NULL;
}

bool options_have(const char *options, const char *start)
{
	json_t *all = read_options(options);
	bool found = false;
	const char *name;
	json_t *value;

	json_object_foreach(all, name, value) found |=
		!is_off(value) && text_starts(name, start);
	json_decref(all);
	return found;
}

static bool is_of_whole(const char *name)
{
	size_t i;

	for (i = 0; i < COUNT(whole); i++)
		if (!strcmp(whole[i], name))
			return true;
	return false;
}

void sbatch_options_write(const char *options, bool first, struct buf *out)
{
	json_t *all = read_options(options);
	const char *name;
	json_t *value;

	json_object_foreach(all, name, value)
	{
		struct buf word = { 0 };

		if (is_off(value) || (!first && is_of_whole(name)))
			continue;
		word_of(value, &word);
		buf_printf(out, "#SBATCH --%s%s%s\n", name, word.len ? "=" : "",
			   buf_text(&word));
		buf_done(&word);
	}
	json_decref(all);
}

void srun_options_write(const char *options, struct buf *out)
{
	json_t *all = read_options(options);
	const char *name;
	json_t *value;

	json_object_foreach(all, name, value)
	{
		struct buf word = { 0 };

		if (is_off(value))
			continue;
		buf_printf(out, " --%s", name);
		if (word_of(value, &word) && word.len) {
			buf_putc(out, '=');
			command_quote(buf_text(&word), out);
		}
		buf_done(&word);
	}
	json_decref(all);
}
