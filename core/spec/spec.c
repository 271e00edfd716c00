/* SPDX-License-Identifier: Apache-2.0 */
#include "core/spec/spec.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/units.h"
#include "core/data/package.h"
#include "core/topology/contract.h"
#include "core/process/process.h"
#include "core/spec/preflight.h"
#include "core/spec/spec_container.h"
#include "core/spec/spec_tables.h"

#define SPEC_MAX (64 << 20)

static void append(struct arena *mem, struct strings *list, const char *text)
{
	const char **items =
		arena_alloc(mem, (list->count + 1) * sizeof(*items));

	if (list->count)
		memcpy(items, list->items, list->count * sizeof(*items));
	items[list->count++] = text;
	list->items = items;
}

/* Makes the command: `command`, or `python3 -m pythonModule`, or what the image
 * runs, followed by the arguments. */
static const char *make_command(const struct job *job, struct arena *mem,
				struct run_spec *out)
{
	const struct training_input *input = &job->training_input;
	const char *module[] = { "python3", "-m", input->python_module };
	struct strings first = job->jobrun.command;

	if (!first.count && spec_contain_words(job, mem, out))
		return out->conda_env ? "jobrun.conda needs jobrun.command"
				      : spec_contain_fault(out, mem);
	if (!first.count && input->python_module)
		first = (struct strings){ .count = 3, .items = module };
	if (!first.count)
		return input->master_config.image_uri
			       ? "nothing to run: jobrun.container: {} runs "
				 "trainingInput.masterConfig.imageUri, "
				 "jobrun.command a program without it"
			       : "nothing to run: set jobrun.command, or "
				 "trainingInput.pythonModule";
	out->command =
		spec_words(job, &first, &input->args, mem, &out->args_end);
	return NULL;
}

static const char *check_processes_given(const struct job *job,
					 const struct topology *all)
{
	const char *text = job->jobrun.processes_per_host;

	if (!text || strcmp(text, PROCESSES_DEVICE) != 0 || all->tpu_slice ||
	    topology_machines(all) < all->count || all->accelerators)
		return NULL;
	return "jobrun.processesPerHost is 'device', but the job asks for no "
	       "devices: set trainingInput.masterConfig.acceleratorConfig, or "
	       "a number of processes";
}

static char *absolute(const char *path, struct arena *mem)
{
	char *whole = path_absolute(path);
	char *out = arena_strdup(mem, whole);

	free(whole);
	return out;
}

static const char *make_packages(const struct job *job, struct arena *mem,
				 struct run_spec *out)
{
	const struct strings *uris = &job->training_input.package_uris;
	size_t i;

	/* A job with a command of its own needs no packages. */
	if (job->jobrun.command.count)
		return NULL;
	for (i = 0; i < uris->count; i++) {
		if (strstr(uris->items[i], "://"))
			return arena_printf(
				mem,
				"the package '%s' is not on this machine: set "
				"jobrun.source to the directory of its sources",
				uris->items[i]);
		append(mem, &out->packages,
		       absolute(job_path(job, uris->items[i]), mem));
	}
	return NULL;
}

int spec_from_job(const struct job *job, const struct catalogue *catalogue,
		  enum spec_images images, struct arena *mem,
		  struct run_spec *out, const char **missing, struct error *err)
{
	const struct jobrun_block *block = &job->jobrun;
	const struct secret *secrets = block->secrets.items;
	const char *folder =
		block->source ? job_path(job, block->source) : job->folder;
	const char *path;
	size_t i;

	*out = (struct run_spec){ 0 };
	if (topology_from_job(job, catalogue, "127.0.0.1", mem, &out->topology,
			      err) < 0)
		return -1;
	out->topology.tpu_kind = TPU_CPU;
	out->job_id = job->job_id;
	out->conda_env = block->conda.env;
	*missing = spec_contain(job, images, mem, &out->container);
	if (!*missing)
		*missing = make_command(job, mem, out);
	/* A source given by hand replaces packages that are not on this
	 * machine. */
	if (!*missing && !block->source)
		*missing = make_packages(job, mem, out);
	if (!*missing)
		*missing = check_processes_given(job, &out->topology);
	out->topology.standalone = topology_is_standalone(&out->command);
	out->setup = block->setup;
	out->docker_image = block->docker.image;
	out->docker_flags = block->docker.run_flags;
	out->directory = absolute(folder, mem);
	out->env = block->env;
	out->metrics = block->metrics.patterns;
	out->secret_count = block->secrets.count;
	out->secrets =
		arena_alloc(mem, out->secret_count * sizeof(*out->secrets));
	for (i = 0; i < out->secret_count; i++) {
		out->secrets[i].name = secrets[i].name;
		out->secrets[i].env = secrets[i].env;
		if (!secrets[i].file)
			continue;
		path = job_path(job, secrets[i].file);
		out->secrets[i].file = absolute(path, mem);
		out->secrets[i].root = job_root(job, path);
	}
	out->grace_s = block->grace_s;
	/* Not every program can be started twice, so the file must ask for
	 * it. */
	if (job_has(job, "restart"))
		out->restart = block->restart;
	spec_checkpoints_from_job(job, mem, &out->checkpoints);
	out->logs.to = spec_job_folder(job, block->logs.to, mem);
	out->logs.every_s = block->logs.every_s;
	spec_data_from_job(job, mem, &out->data);
	out->tuning = job->training_input.hyperparameters;
	out->max_running_time_s =
		job->training_input.scheduling.max_running_time_s;
	if (preflight_from_job(job, out, err) < 0)
		return -1;
	return spec_set_hosts(out, job, &block->hosts, mem, err);
}

void spec_set_folder(struct run_spec *spec, const char *folder,
		     struct arena *mem)
{
	spec->folder = folder;
	spec->home = folder;
	spec->output = folder ? arena_printf(mem, "%s/output", folder) : NULL;
}

json_t *spec_env_json(const struct run_spec *spec)
{
	json_t *out = json_object();
	size_t i;

	for (i = 0; i < spec->env.count; i++)
		json_put_text(out, spec->env.items[i].name,
			      spec->env.items[i].value);
	return out;
}

json_t *spec_secrets_json(const struct run_spec *spec)
{
	json_t *out = json_object();
	size_t i;

	for (i = 0; i < spec->secret_count; i++)
		json_put_text(out, spec->secrets[i].name,
			      spec->secrets[i].env ? "from a variable"
						   : "from a file");
	return out;
}

json_t *spec_json(const struct run_spec *spec)
{
	json_t *out = message_json(&spec_message, spec, MESSAGE_PLAIN);

	if (!spec->checkpoints.is_used)
		json_object_del(out, "checkpoints");
	return out;
}

int spec_from_json(const json_t *value, struct arena *mem, struct run_spec *out,
		   struct error *err)
{
	*out = (struct run_spec){ 0 };
	if (message_read(&spec_message, value, mem, out, err) < 0)
		return -1;
	if (!out->command.count && !out->container.words.count)
		return error_set(err, ERROR_FAILED, "command is missing");
	topology_rank(&out->topology);
	out->checkpoints.is_used =
		json_is_object(json_object_get(value, "checkpoints"));
	if (!out->home)
		out->home = out->folder;
	if (!out->output)
		out->output = arena_printf(mem, "%s/output", out->folder);
	if (!json_is_integer(json_object_get(value, "argsEnd")) ||
	    out->args_end > out->command.count)
		out->args_end = out->command.count;
	spec_words_bound(&out->container);
	return 0;
}

int spec_write(const struct run_spec *spec, struct error *err)
{
	char *path = path_join(spec->folder, "spec.json");
	json_t *value = spec_json(spec);
	struct buf text = { 0 };
	int ret;

	json_print(value, &text);
	ret = file_write(path, text.data, text.len, err);
	buf_done(&text);
	json_decref(value);
	free(path);
	return ret;
}

int spec_read(const char *folder, struct arena *mem, struct run_spec *out,
	      struct error *err)
{
	char *path = path_join(folder, "spec.json");
	size_t len;
	char *text = file_read(path, SPEC_MAX, &len, err);
	json_t *value = text ? json_read(text, len, path, err) : NULL;
	int ret = -1;

	if (value) {
		ret = spec_from_json(value, mem, out, err);
		if (ret < 0)
			error_prefix(err, "'%s'", path);
	}
	json_decref(value);
	free(text);
	free(path);
	return ret;
}

void spec_limit_text(const struct run_spec *spec, char *out, size_t size)
{
	char limit[32];

	duration_format(spec->max_running_time_s, limit, sizeof(limit));
	snprintf(out, size,
		 "cancelled for exceeding the maximum running time of %s "
		 "(scheduling.maxRunningTime)",
		 limit);
}

static int set_secret(const struct secret_source *secret,
		      struct environment *out, struct error *err)
{
	char *value = secret_value(secret, err);

	if (!value)
		return -1;
	environment_set(out, secret->name, value);
	explicit_bzero(value, strlen(value));
	free(value);
	return 0;
}

/* Adds the entry of PYTHONPATH for a package, which is laid out on hosts as it
 * is here. */
static void add_package(const struct run_spec *spec, size_t i,
			const struct spec_folders *folders, struct buf *path)
{
	char *folder = mem_printf("%s/packages/%zu", spec->home, i);
	size_t len = strlen(folder) - strlen(strrchr(folder, '/'));
	struct error unknown;
	/* Before a package is unpacked its layout is unknown. */
	char *root = package_root(folder, &unknown);
	const char *part = root ? root : folder;

	if (!folders) {
		buf_puts(path, part);
	} else {
		for (;;) {
			size_t n = strcspn(part, ":");

			buf_printf(path, "%s%.*s", folders->packages,
				   (int)(n - len), part + len);
			if (!part[n])
				break;
			buf_putc(path, ':');
			part += n + 1;
		}
	}
	free(root);
	free(folder);
}

/* Puts the folders of the packages before any PYTHONPATH of the job or the
 * caller. */
static void set_python_path(const struct run_spec *spec,
			    const struct spec_folders *folders,
			    struct environment *out)
{
	const char *old = NULL;
	struct buf path = { 0 };
	size_t i;

	if (!spec->packages.count)
		return;
	for (i = 0; i < spec->packages.count; i++) {
		if (i)
			buf_putc(&path, ':');
		add_package(spec, i, folders, &path);
	}
	for (i = 0; i < spec->env.count; i++)
		if (!strcmp(spec->env.items[i].name, "PYTHONPATH"))
			old = spec->env.items[i].value;
	if (!old && !folders)
		old = getenv("PYTHONPATH");
	if (old && *old)
		buf_printf(&path, ":%s", old);
	environment_set(out, "PYTHONPATH", buf_text(&path));
	buf_done(&path);
}

/* Sets the folder for runs on this machine; on hosts 'jobrun launch' sets
 * it. */
static void set_checkpoint_folder(const struct run_spec *spec,
				  struct environment *out)
{
	char *folder = spec_checkpoints_folder(spec);

	environment_set(out, "JOBRUN_CHECKPOINT_DIR", folder);
	free(folder);
}

/* Sets the path of the metric file within the output, which is collected. */
static void set_metric_file(const struct run_spec *spec,
			    const struct spec_folders *folders,
			    struct environment *out)
{
	const char *file = spec->topology.metric_file;
	char *path;

	if (!file || !folders)
		return;
	path = path_join(folders->output, strrchr(file, '/') + 1);
	environment_set(out, "CLOUD_ML_HP_METRIC_FILE", path);
	free(path);
}

/* Sets how data is streamed: by this program here, on hosts by one in PATH. */
static int set_data(const struct run_spec *spec, size_t ordinal,
		    const struct spec_folders *folders, struct environment *out,
		    struct error *err)
{
	char self[PATH_MAX];

	if (!spec->data.count)
		return 0;
	process_self(self, sizeof(self));
	if (folders || !strcmp(self, "/proc/self/exe"))
		snprintf(self, sizeof(self), "jobrun");
	return spec_data_environment(&spec->data, self, &spec->topology,
				     ordinal, out, err);
}

int spec_environment(const struct run_spec *spec, size_t ordinal, bool secrets,
		     struct environment *out, struct error *err)
{
	return spec_environment_at(spec, ordinal, NULL, secrets, out, err);
}

int spec_environment_at(const struct run_spec *spec, size_t ordinal,
			const struct spec_folders *folders, bool secrets,
			struct environment *out, struct error *err)
{
	size_t i;

	if (ordinal != SPEC_NO_TASK) {
		contract_write(&spec->topology, ordinal, out);
		set_metric_file(spec, folders, out);
		if (set_data(spec, ordinal, folders, out, err) < 0)
			return -1;
	}
	if (ordinal != SPEC_NO_TASK)
		spec_devices_environment(spec, ordinal, out);
	environment_set(out, "JOBRUN_RUN_DIR",
			folders ? folders->output : spec->output);
	if (spec->checkpoints.is_used && !folders)
		set_checkpoint_folder(spec, out);
	/* Without this a full buffer could delay a trainer's lines for
	 * minutes. */
	environment_set(out, "PYTHONUNBUFFERED", "1");
	for (i = 0; i < spec->env.count; i++)
		environment_set(out, spec->env.items[i].name,
				spec->env.items[i].value);
	set_python_path(spec, folders, out);
	for (i = 0; secrets && i < spec->secret_count; i++)
		if (set_secret(&spec->secrets[i], out, err) < 0)
			return -1;
	return 0;
}

int spec_find_task(const struct run_spec *spec, const char *type, int index,
		   size_t *out, struct error *err)
{
	enum task_type parsed;
	int ordinal = task_type_parse(type, &parsed) < 0
			      ? -1
			      : topology_find(&spec->topology, parsed, index);

	if (ordinal < 0)
		return error_set(err, ERROR_FAILED, "the run has no task %s %d",
				 type, index);
	*out = (size_t)ordinal;
	return 0;
}

const char *spec_rank(const struct run_spec *spec, size_t ordinal,
		      struct arena *mem)
{
	struct environment env = { 0 };
	const char *rank;
	size_t i;

	contract_write(&spec->topology, ordinal, &env);
	for (i = 0; i < spec->env.count; i++)
		environment_set(&env, spec->env.items[i].name,
				spec->env.items[i].value);
	rank = environment_get(&env, "RANK");
	rank = rank ? arena_strdup(mem, rank) : NULL;
	environment_done(&env);
	return rank;
}
