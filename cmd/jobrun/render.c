/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "cmd/jobrun/commands.h"
#include "cmd/jobrun/ui/load.h"
#include "cmd/jobrun/ui/sources.h"
#include "core/base/json.h"
#include "core/topology/contract.h"
#include "core/spec/spec.h"
#include "providers/aiplatform/aiplatform_body.h"
#include "providers/kubernetes/render.h"
#include "providers/registry.h"
#include "providers/slurm/slurm.h"
#include "providers/vertexai/vertexai_translate.h"
#include "schema/catalogue/catalogue_get.h"
#include "schema/write/render_yaml.h"
#include "schema/write/yaml_write.h"

struct render_opts {
	struct load_opts load;
	const char *to;
	const char *task;
	long index;
};

static const struct opt options[] = {
	{ 0, "to", OPT_CHOICE, offsetof(struct render_opts, to),
	  "yaml|ai-platform|vertex-ai|slurm|kubernetes|tf-config",
	  "the form to write it in; yaml is the default" },
	{ 0, "task", OPT_STRING, offsetof(struct render_opts, task), "TYPE",
	  "tf-config: of master (default), worker, ps or evaluator" },
	{ 0, "index", OPT_NUMBER, offsetof(struct render_opts, index), "N",
	  "tf-config: of which of them; the first is 0" },
	{ 0 },
};

/* The forms that a job can be written in. */
struct render_target {
	const char *name;
	bool many;   /* several jobs make one output */
	bool digest; /* of the job, which may read many files */
	int (*render)(const struct app *app, const struct job *job,
		      const struct render_opts *opts, struct buf *out,
		      struct error *err);
};

static int to_yaml(const struct app *app, const struct job *job,
		   const struct render_opts *opts, struct buf *out,
		   struct error *err)
{
	(void)app;
	(void)opts;
	if (out->len)
		buf_puts(out, "---\n");
	return render_yaml(job, out, err);
}

static int to_tf_config(const struct app *app, const struct job *job,
			const struct render_opts *opts, struct buf *out,
			struct error *err)
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

	(void)app;
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
	/* For a large TPU, the first host's worker is the master. */
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

static int to_ai_platform(const struct app *app, const struct job *job,
			  const struct render_opts *opts, struct buf *out,
			  struct error *err)
{
	json_t *body = ai_platform_body(job, job->job_id, NULL, NULL);

	(void)app;
	(void)opts;
	(void)err;
	json_print(body, out);
	json_decref(body);
	return 0;
}

/* The body alone: what has no place in it is said beside it. */
static int to_vertex_ai(const struct app *app, const struct job *job,
			const struct render_opts *opts, struct buf *out,
			struct error *err)
{
	const struct catalogue *catalogue = catalogue_get(err);
	struct arena *mem = arena_new();
	struct vertex_job translated;
	int ret = -1;
	size_t i;

	(void)opts;
	if (!catalogue || vertex_translate(job, catalogue, NULL, NULL, mem,
					   &translated, err) < 0)
		goto out;
	json_print(translated.body, out);
	for (i = 0; i < translated.left_count; i++)
		app_say(app, "%s: %s: %s",
			translated.left[i].needed ? "needed" : "left out",
			translated.left[i].path, translated.left[i].why);
	vertex_job_done(&translated);
	ret = 0;
out:
	arena_free(mem);
	return ret;
}

static void say_left_out(void *arg, bool needed, const char *path,
			 const char *why)
{
	app_say(arg, "%s: %s: %s", needed ? "needed" : "left out", path, why);
}

/* Several jobs are several documents of one file, as kubectl reads them. */
static int to_kubernetes(const struct app *app, const struct job *job,
			 const struct render_opts *opts, struct buf *out,
			 struct error *err)
{
	const struct catalogue *catalogue = catalogue_get(err);
	json_t *manifests;
	json_t *one;
	size_t i;
	int ret = 0;

	(void)opts;
	if (!catalogue)
		return -1;
	manifests = kube_render(job, catalogue, say_left_out, (void *)app, err);
	if (!manifests)
		return -1;
	json_array_foreach(manifests, i, one)
	{
		if (out->len)
			buf_puts(out, "---\n");
		if (ret == 0)
			ret = yaml_write(one, out, err);
	}
	json_decref(manifests);
	return ret;
}

/* The batch script of its first run; `apply` puts the folder that it names. */
static int to_slurm(const struct app *app, const struct job *job,
		    const struct render_opts *opts, struct buf *out,
		    struct error *err)
{
	const struct catalogue *catalogue = catalogue_get(err);
	struct arena *mem = arena_new();
	const char *needed = NULL;
	int ret = -1;

	(void)opts;
	if (catalogue)
		ret = slurm_render(job, catalogue, mem, out, &needed, err);
	if (ret == 0 && needed)
		app_say(app, "needed: %s", needed);
	arena_free(mem);
	return ret;
}

static const struct render_target targets[] = {
	{ .name = "yaml", .many = true, .render = to_yaml },
	{ .name = "ai-platform", .render = to_ai_platform },
	{ .name = "vertex-ai", .render = to_vertex_ai },
	{ .name = "slurm", .digest = true, .render = to_slurm },
	{ .name = "kubernetes",
	  .many = true,
	  .digest = true,
	  .render = to_kubernetes },
	{ .name = "tf-config", .render = to_tf_config },
};

/* The name is one of the option's choices. */
static const struct render_target *find_target(const char *name)
{
	size_t i = 0;

	while (strcmp(targets[i].name, name) != 0)
		i++;
	return &targets[i];
}

static int render(const struct app *app, const struct jobs *jobs,
		  const struct render_opts *opts, struct buf *out,
		  struct error *err)
{
	const struct render_target *target = find_target(opts->to);
	size_t i;

	if ((opts->task || opts->index) && target->render != to_tf_config)
		return error_set(err, ERROR_USAGE,
				 "--task and --index are for '--to tf-config'");
	if (jobs->count > 1 && !target->many)
		return error_set(err, ERROR_USAGE,
				 "there are %zu jobs; '--to %s' is about one",
				 jobs->count, target->name);
	for (i = 0; i < jobs->count; i++)
		if ((target->digest && job_digest(jobs->items[i], err) < 0) ||
		    target->render(app, jobs->items[i], opts, out, err) < 0)
			return -1;
	return 0;
}

static int run(struct app *app, int argc, char **argv)
{
	struct schema_options schema;
	struct render_opts opts = { .to = "yaml" };
	struct jobs jobs = { 0 };
	struct buf text = { 0 };
	struct error err;
	int status = 0;
	int first;

	first = options_parse(app, &cmd_render, argc, argv, &opts, 1, 1,
			      &status);
	if (first < 0)
		return status;
	schema = load_options(&opts.load);
	status = load_jobs(app, &schema, argv + first, 1, &jobs);
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
	.args = "[--to TARGET] PATH",
	.summary = "write the job in another form, to read or to leave with",
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
