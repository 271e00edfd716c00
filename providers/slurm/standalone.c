/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/slurm/standalone.h"

#include <string.h>
#include <unistd.h>

#include "core/base/base64.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/data/archive_writer.h"
#include "core/process/subprocess.h"
#include "core/spec/wrap.h"
#include "providers/slurm/script.h"
#include "providers/slurm/slurm_internal.h"

/* Slurm takes scripts up to 4 MB (max_script_size), and base 64 adds a
 * third. */
#define ARCHIVE_MAX ((size_t)2800 << 10)
#define BASE64_LINE 76

/*
 * Stand-ins for nodes, ports and folders in the variables, which are written
 * once; the script replaces them by its own, placing tasks like read_slurm.c.
 */
#define NODE_BEFORE "jobrun.node."
#define NODE_AFTER ".here"
#define RUN_FOLDER "/jobrun.run"
/* Each task's variables name all tasks, so the script grows with the square:
 * to some 30 MB. */
#define TASKS_MAX 1024
#define MASTER_PORT 64123
#define TASK_PORT 64124
#define TASK_PORTS 64 /* ports of the tasks on a node, from there */

#define UNPACK                                                                 \
	"# Where it was submitted: the nodes share that.\n"                    \
	"run=$PWD/%1$s-$SLURM_JOB_ID\n"                                        \
	"mkdir -p \"$run/source\" \"$run/output\" || exit\n"
#define FIND_NODES                                                             \
	"nodes=$(for list in %s; do\n"                                         \
	"  scontrol show hostnames \"$list\"\n"                                \
	"done) || exit\n"                                                      \
	"port=$((10000 + SLURM_JOB_ID %% 1000 * 20))\n"                        \
	"export run nodes port\n"
#define TASK_BEGIN                                                             \
	"cat >\"$run/task.sh\" <<'END_OF_TASK' || exit\n"                      \
	"n=0\n"                                                                \
	"for node in $nodes; do\n"                                             \
	"  eval \"node$n=\\$node\"\n"                                          \
	"  n=$((n + 1))\n"                                                     \
	"done\n"                                                               \
	"task_port=$((port + 1))\n"                                            \
	"case $SLURM_PROCID in\n"
/* The job ends when its first task has succeeded, as everywhere. */
#define TASK_RUN                                                               \
	" &\n"                                                                 \
	"child=$!\n"                                                           \
	"trap 'kill -TERM \"$child\" 2>/dev/null' TERM\n"                      \
	"while kill -0 \"$child\" 2>/dev/null; do\n"                           \
	"  if [ -e \"$run/done\" ]; then\n"                                    \
	"    kill -TERM \"$child\"\n"                                          \
	"    for i in 1 2 3 4 5 6 7 8 9 10; do\n"                              \
	"      kill -0 \"$child\" 2>/dev/null && sleep 1\n"                    \
	"    done\n"                                                           \
	"    kill -KILL \"$child\" 2>/dev/null\n"                              \
	"    exit 0\n"                                                         \
	"  fi\n"                                                               \
	"  sleep 1\n"                                                          \
	"done\n"                                                               \
	"wait \"$child\"\n"                                                    \
	"status=$?\n"                                                          \
	"[ \"$SLURM_PROCID\" != 0 ] || [ \"$status\" != 0 ] || "               \
	": >\"$run/done\"\n"                                                   \
	"exit \"$status\"\n"                                                   \
	"END_OF_TASK\n"

/* ---- source and packages ----------------------------------------------- */

static int pack(int fd, const struct job *job, const struct slurm_job *what,
		struct error *err)
{
	struct archive_writer *writer = archive_writer_new(
		fd, "the source and the packages", ARCHIVE_GZIP, err);
	size_t i;

	if (!writer)
		return -1;
	if (job->jobrun.source &&
	    slurm_pack_source(writer, job, "source", err) < 0)
		goto fail;
	for (i = 0; i < what->spec.packages.count; i++)
		if (slurm_pack_package(writer, job,
				       what->spec.packages.items[i], i,
				       err) < 0)
			goto fail;
	return archive_writer_finish(writer, err);
fail:
	archive_writer_free(writer);
	return -1;
}

static void put_archive(const char *data, size_t len, struct buf *out)
{
	struct buf text = { 0 };
	size_t at;

	base64_add(&text, data, len);
	buf_puts(out, "base64 -d <<'END_OF_SOURCE' | tar -xzf - -C \"$run\" || "
		      "exit\n");
	for (at = 0; at < text.len; at += BASE64_LINE)
		buf_printf(out, "%.*s\n", BASE64_LINE, text.data + at);
	buf_puts(out, "END_OF_SOURCE\n");
	buf_done(&text);
}

/* Adds the files; those too large for a script stay beside it. */
static int put_files(const struct job *job, const struct slurm_job *what,
		     const struct render_env *env, struct buf *out,
		     struct error *err)
{
	int fd = slurm_open_scratch(err);
	char *data = NULL;
	size_t len = 0;
	int ret = fd < 0 ? -1 : pack(fd, job, what, err);
	off_t size = ret == 0 ? lseek(fd, 0, SEEK_END) : 0;

	if (ret == 0 && (size_t)size > ARCHIVE_MAX) {
		env->tell(env->arg, true, "jobrun.source",
			  "it is too large to be in a batch script: submit "
			  "this where source.tar.gz is, with the folder "
			  "source/ in it, and packages/0, 1 and so on");
		buf_puts(out, "tar -xzf source.tar.gz -C \"$run\" || exit\n");
	} else if (ret == 0) {
		lseek(fd, 0, SEEK_SET);
		data = file_read_fd(fd, "the archive", ARCHIVE_MAX, &len, err);
		ret = data ? 0 : -1;
		if (ret == 0)
			put_archive(data, len, out);
	}
	free(data);
	if (fd >= 0)
		close(fd);
	return ret;
}

/* ---- variables --------------------------------------------------------- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Writes the script's expression for a stand-in; returns its length, or 0 if
 * there is none here. */
static size_t put_known_later(const char *start, const char *text,
			      struct buf *out)
{
	static const char run[] = RUN_FOLDER;
	static const char node[] = NODE_BEFORE;
	size_t len;
	int port;

	if (text_starts(text, run)) {
		buf_puts(out, "$run");
		return strlen(run);
	}
	if (text_starts(text, node)) {
		len = strspn(text + strlen(node), "0123456789");
		buf_printf(out, "${node%.*s}", (int)len, text + strlen(node));
		return strlen(node) + len + strlen(NODE_AFTER);
	}
	len = strspn(text, "0123456789");
	if (len != 5 || (text != start && is_digit(text[-1])))
		return 0;
	port = atoi(text) - TASK_PORT;
	if (port == MASTER_PORT - TASK_PORT)
		buf_puts(out, "$port");
	else if (port == 0)
		buf_puts(out, "$task_port");
	else if (port > 0 && port < TASK_PORTS)
		buf_printf(out, "$((task_port + %d))", port);
	else
		return 0;
	return len;
}

static void put_value(const char *value, bool is_ours, struct buf *out)
{
	const char *p = value;
	size_t len;

	buf_putc(out, '"');
	while (*p) {
		len = is_ours ? put_known_later(value, p, out) : 0;
		if (!len) {
			if (strchr("\\\"$`", *p))
				buf_putc(out, '\\');
			buf_putc(out, *p);
			len = 1;
		}
		p += len;
	}
	buf_putc(out, '"');
}

static bool is_of_job(const struct run_spec *spec, const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < spec->env.count; i++)
		if (strlen(spec->env.items[i].name) == len &&
		    !strncmp(spec->env.items[i].name, name, len))
			return true;
	return false;
}

static int put_variables(const struct run_spec *spec, size_t ordinal,
			 struct buf *out, struct error *err)
{
	static const struct spec_folders folders = {
		.output = RUN_FOLDER "/output",
		.packages = RUN_FOLDER "/packages",
	};
	struct environment env = { 0 };
	int ret =
		spec_environment_at(spec, ordinal, &folders, false, &env, err);
	size_t i;

	buf_printf(out, "%zu)\n", ordinal);
	for (i = 0; ret == 0 && i < env.count; i++) {
		const char *item = env.items[i];
		size_t len = strcspn(item, "=");

		buf_printf(out, "  export %.*s=", (int)len, item);
		put_value(item + len + 1,
			  !is_of_job(spec, item, len) ||
				  text_starts(item, "PYTHONPATH="),
			  out);
		buf_putc(out, '\n');
	}
	buf_puts(out, "  ;;\n");
	environment_done(&env);
	return ret;
}

static void place_tasks(struct run_spec *spec, struct arena *mem)
{
	struct topology *all = &spec->topology;
	int local = 0;
	size_t i;

	for (i = 0; i < all->count; i++) {
		all->tasks[i].host =
			arena_printf(mem, NODE_BEFORE "%zu" NODE_AFTER,
				     all->tasks[i].machine);
		local = i && all->tasks[i].beside ? local + 1 : 0;
		all->tasks[i].port = TASK_PORT + local;
	}
	all->master_port = MASTER_PORT;
	topology_rank(all);
}

/* ---- the script -------------------------------------------------------- */

static void put_command(const struct strings *command, struct buf *out)
{
	size_t i;

	for (i = 0; i < command->count; i++) {
		if (i)
			buf_putc(out, ' ');
		command_quote(command->items[i], out);
	}
}

/* Writes the setup, which runs once on each node. */
static void put_setup(const struct run_spec *spec, struct buf *out)
{
	const struct topology *all = &spec->topology;

	if (!spec->setup.count)
		return;
	if (topology_machines(all) == all->count) {
		put_command(&spec->setup, out);
		buf_puts(out, " || exit\n");
		return;
	}
	buf_puts(out, "mark=$run/setup.$SLURM_NODEID\n"
		      "if [ \"$SLURM_LOCALID\" = 0 ]; then\n  ");
	put_command(&spec->setup, out);
	buf_puts(out, " || { : >\"$mark.failed\"; exit 1; }\n"
		      "  : >\"$mark\"\n"
		      "fi\n"
		      "until [ -e \"$mark\" ]; do\n"
		      "  [ ! -e \"$mark.failed\" ] || exit 1\n"
		      "  sleep 1\n"
		      "done\n");
}

static int put_task(const struct job *job, struct run_spec *spec,
		    struct arena *mem, struct buf *out, struct error *err)
{
	const struct strings command = wrap_conda(spec, &spec->command, mem);
	size_t i;

	place_tasks(spec, mem);
	buf_puts(out, TASK_BEGIN);
	for (i = 0; i < spec->topology.count; i++)
		if (put_variables(spec, i, out, err) < 0)
			return -1;
	buf_puts(out, "esac\n");
	buf_printf(out, "cd %s || exit\n",
		   job->jobrun.source ? "\"$run/source\"" : "");
	put_setup(spec, out);
	put_command(&command, out);
	buf_puts(out, TASK_RUN);
	return 0;
}

static void tell_left_out(const struct job *job, const struct slurm_job *what,
			  const struct render_env *env)
{
	const struct run_spec *spec = &what->spec;
	const struct {
		const char *path;
		bool is_there;
	} all[] = {
		{ "jobrun.checkpoints", spec->checkpoints.is_used },
		{ "jobrun.logs", spec->logs.to },
		{ "jobrun.restart", job_has(job, "restart") },
		{ "trainingInput.hyperparameters", what->request.trials },
		{ "jobrun.container", spec->container.runtime },
	};
	size_t i;

	for (i = 0; i < COUNT(all); i++)
		if (all[i].is_there)
			env->tell(env->arg, false, all[i].path,
				  "jobrun does this itself, and this script "
				  "runs without it");
	if (what->request.block->requeue == SLURM_REQUEUE_EXPEDITE)
		env->tell(env->arg, false, "jobrun.slurm.requeue",
			  "the script has --requeue, which all versions know: "
			  "since 25.11 there is sbatch --requeue=expedite");
	if (spec->secret_count)
		env->tell(env->arg, true, "jobrun.secrets",
			  "set these variables where sbatch is called");
}

static void put_nodes(const struct slurm_request *request, struct buf *out)
{
	struct buf lists = { 0 };
	size_t i;

	if (request->count == 1)
		buf_puts(&lists, "\"$SLURM_JOB_NODELIST\"");
	for (i = 0; request->count > 1 && i < request->count; i++)
		buf_printf(&lists, "%s\"$SLURM_JOB_NODELIST_HET_GROUP_%zu\"",
			   i ? " " : "", i);
	buf_printf(out, FIND_NODES, buf_text(&lists));
	buf_done(&lists);
}

int slurm_standalone_write(const struct job *job, const struct slurm_job *what,
			   const struct render_env *env, struct buf *out,
			   struct error *err)
{
	struct slurm_request request = what->request;
	struct run_spec spec = what->spec;
	struct arena *mem = arena_new();
	size_t i;
	int ret = 0;

	if (spec.container.words.count) {
		error_set(err, ERROR_FAILED,
			  "%s: a script that runs by itself runs no image, and "
			  "the job names no program: set jobrun.command",
			  job->job_id);
		ret = -1;
	} else if (spec.topology.count > TASKS_MAX) {
		error_set(err, ERROR_FAILED,
			  "%s: a script that runs by itself holds what each "
			  "task sees: at most %d tasks, not %zu; 'jobrun apply "
			  "--provider slurm' has no such limit",
			  job->job_id, TASKS_MAX, spec.topology.count);
		ret = -1;
		goto out;
	}
	tell_left_out(job, what, env);
	request.trials = 0;
	/* Slurm counts no restarts as jobrun.restart does. */
	if (!request.block->requeue || job_has(job, "restart"))
		request.requeue = SLURM_REQUEUE_NO;
	slurm_script_begin(request.block, out);
	slurm_script_options(job, &request, NULL, out);
	slurm_script_prolog(request.block, out);
	buf_printf(out, "\numask 077\n" UNPACK, job->job_id);
	for (i = 0; i < spec.secret_count; i++)
		buf_printf(out, ": \"${%s:?set it where sbatch is called}\"\n",
			   spec.secrets[i].name);
	if (job->jobrun.source || spec.packages.count)
		ret = put_files(job, what, env, out, err);
	if (ret == 0) {
		put_nodes(&request, out);
		ret = put_task(job, &spec, mem, out, err);
	}
	slurm_script_step(&request, "sh \"$run/task.sh\"", out);
	buf_putc(out, '\n');
out:
	arena_free(mem);
	return ret;
}
