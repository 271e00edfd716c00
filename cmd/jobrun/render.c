/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "cmd/jobrun/commands.h"
#include "cmd/jobrun/ui/load.h"
#include "cmd/jobrun/view/sources.h"
#include "core/base/json.h"
#include "core/topology/contract.h"
#include "core/provider/extension.h"
#include "core/spec/spec.h"
#include "providers/registry.h"
#include "schema/catalogue/catalogue_get.h"
#include "schema/write/render_yaml.h"
#include "schema/write/yaml_write.h"

struct render_opts {
	struct load_opts load;
	const char *to;
	const char *task;
	long index;
};

#define TO_YAML "yaml"
#define TO_TF_CONFIG "tf-config"

static const struct opt options[] = {
	{ 0, "to", OPT_CHOICE, offsetof(struct render_opts, to),
	  TO_YAML "|*|" TO_TF_CONFIG,
	  "the target format; yaml is the default" },
	{ 0, "task", OPT_STRING, offsetof(struct render_opts, task), "TYPE",
	  "for tf-config: the task's type; default master" },
	{ 0, "index", OPT_NUMBER, offsetof(struct render_opts, index), "N",
	  "for tf-config: the task's index; default 0" },
	{ 0 },
};

static int to_yaml(const struct job *job, struct buf *out, struct error *err)
{
	if (out->len)
		buf_puts(out, "---\n");
	return render_yaml(job, out, err);
}

static int to_tf_config(const struct job *job, const struct render_opts *opts,
			struct buf *out, struct error *err)
{
	const struct catalogue *catalogue = catalogue_get(err);
	struct arena *mem = arena_new();
	struct environment env = { 0 };
	enum task_type type = TASK_MASTER;
	struct topology all;
	size_t i, count;
	int ordinal = -1;
	int ret = -1;
	int *ports;

	if (!catalogue ||
	    topology_from_job(job, catalogue, "127.0.0.1", mem, &all, err) < 0)
		goto out;
	count = topology_port_count(&all);
	ports = arena_alloc(mem, count * sizeof(*ports));
	for (i = 0; i < count; i++)
		ports[i] = SPEC_FIRST_PORT + (int)i;
	topology_set_ports(&all, ports);
	if (sources_type(opts->task, &type, err) < 0)
		goto out;
	/* On a large TPU the worker of the first host is the master. */
	if (!opts->task && !opts->index)
		ordinal = 0;
	else if (opts->index < 1000000)
		ordinal = topology_find(&all, type, (int)opts->index);
	if (ordinal < 0) {
		error_set(err, ERROR_USAGE, "'%s' has no task %s %ld",
			  job->job_id, task_type_name(type), opts->index);
		goto out;
	}
	contract_write(&all, (size_t)ordinal, &env);
	buf_printf(out, "%s\n", environment_get(&env, "TF_CONFIG"));
	ret = 0;
out:
	environment_done(&env);
	arena_free(mem);
	return ret;
}

static void tell(void *arg, bool needed, const char *path, const char *why)
{
	app_say(arg, "%s: %s%s%s", needed ? "needed" : "left out",
		path ? path : "", path ? ": " : "", why);
}

static int to_provider(const struct app *app, const struct job *job,
		       const struct provider_render *how, struct buf *out,
		       struct error *err)
{
	const struct render_env env = { .catalogue = catalogue_get(err),
					.write_yaml = yaml_write,
					.tell = tell,
					.arg = (void *)app };

	if (!env.catalogue)
		return -1;
	return how->render(job, &env, out, err);
}

static int render(const struct app *app, const struct jobs *jobs,
		  const struct render_opts *opts, struct buf *out,
		  struct error *err)
{
	const struct provider *to = provider_find(opts->to);
	const struct provider_render *how = to ? to->render : NULL;
	bool tf_config = !strcmp(opts->to, TO_TF_CONFIG);
	int ret = 0;
	size_t i;

	if ((opts->task || opts->index) && !tf_config)
		return error_set(err, ERROR_USAGE,
				 "--task and --index are for '--to tf-config'");
	if (jobs->count > 1 && (how ? !how->many : tf_config))
		return error_set(err, ERROR_USAGE,
				 "there are %zu jobs; '--to %s' takes one",
				 jobs->count, opts->to);
	for (i = 0; i < jobs->count && ret == 0; i++) {
		struct job *job = jobs->items[i];

		if (how && how->digest && job_digest(job, err) < 0)
			return -1;
		if (how)
			ret = to_provider(app, job, how, out, err);
		else if (tf_config)
			ret = to_tf_config(job, opts, out, err);
		else
			ret = to_yaml(job, out, err);
	}
	return ret;
}

static int run(struct app *app, int argc, char **argv)
{
	struct schema_options schema;
	struct render_opts opts = { .to = TO_YAML };
	struct jobs jobs = { 0 };
	struct buf text = { 0 };
	struct error err;
	int status = 0;
	int first;

	first = options_parse(app, &cmd_render, argc, argv, &opts, 1, 1,
			      &status);
	if (first < 0)
		return status;
	if (load_options(&opts.load, app, &schema, &err) < 0)
		status = app_fail(app, &err);
	else
		status = load_jobs(app, &schema, argv + first, 1, &jobs);
	load_done(&opts.load);
	if (status)
		return status;
	if (render(app, &jobs, &opts, &text, &err) < 0)
		status = app_fail(app, &err);
	else
		app_print(app, &text);
	buf_done(&text);
	jobs_done(&jobs);
	return status;
}

const struct command cmd_render = {
	.name = "render",
	.group = GROUP_FILES,
	.args = "[--to TARGET] PATH",
	.summary = "write the job in another form, to read or to use elsewhere",
	.help = "  jobrun render job.yaml                  with all defaults\n"
		"  jobrun render --to vertex-ai job.yaml   the custom job that "
		"it becomes\n"
		"  jobrun render --to kubernetes job.yaml  manifests for "
		"kubectl apply\n"
		"  jobrun render --to tf-config job.yaml   what a task finds "
		"in TF_CONFIG\n",
	.options = options,
	.shared = load_rows,
	.shared_offset = offsetof(struct render_opts, load),
	.run = run,
};
