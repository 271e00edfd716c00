/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/slurm/script.h"

#include "core/process/subprocess.h"
#include "providers/slurm/options.h"

#define DAY_S 86400
/* The variable with the number of the trial in an element of the array. */
#define TRIAL "SLURM_ARRAY_TASK_ID"

/*
 * Claims the run's folder and loops over its attempts.  If a client was wrongly
 * told that submitting failed and submitted twice, the first job gets the
 * folder.  A controller that has lost its state may start a job again that has
 * ended, or requeue it for a node lost just afterwards: jobrun decides by the
 * folder what to do.  It also writes the status of an attempt; if that can't be
 * stored the script ends, or it would repeat the same attempt forever.  The
 * parameters are the folder of the attempts ("run"), the job's id, and its id
 * for scontrol.
 */
#define SETTING_OUT                                                            \
	"first=$%1$s/attempts/0\n"                                             \
	"umask 077\n"                                                          \
	"[ -L \"$run/job\" ] || ln -s \"$%2$s\" \"$run/job\"\n"                \
	"case $(readlink \"$run/job\") in\n"                                   \
	"  \"$%2$s\") ;;\n"                                                    \
	"  \"\") exit 74 ;;\n"                                                 \
	"  *) exit 0 ;;\n"                                                     \
	"esac\n"                                                               \
	"mkdir -p \"$first\" || exit 74\n\n"                                   \
	"ended=\n"                                                             \
	"while :; do\n"                                                        \
	"  next=$(\"$jobrun\" next-attempt --job \"%3$s\" \\\n"                \
	"    --queued \"${SLURM_RESTART_COUNT:-0}\" $ended \"$run\" "          \
	"2>>\"$first/srun.err\")\n"                                            \
	"  case $next in\n"                                                    \
	"    begin*) restart=${next#* } ;;\n"                                  \
	"    end*) exit \"${next#* }\" ;;\n"                                   \
	"    *) [ -e \"$first/status\" ] || echo 126 >\"$first/status\"\n"     \
	"      exit 126 ;;\n"                                                  \
	"  esac\n"                                                             \
	"  attempt=$%1$s/attempts/$restart\n"
#define ENDING                                                                 \
	"  ended=\"--ended $restart:$?\"\n"                                    \
	"done\n"

/* Whether the directory may be shared by several users with a folder each, as
 * an absolute one may. */
static bool is_shared(const struct slurm_block *block)
{
	return *block->directory == '/';
}

const char *slurm_run_name(const struct job *job, int number, struct arena *mem)
{
	if (number <= 1)
		return arena_strndup(mem, job->digest.hex, 8);
	return arena_printf(mem, "%.8s-%d", job->digest.hex, number);
}

const char *slurm_comment(const struct job *job, const char *name,
			  struct arena *mem)
{
	char origin[ORIGIN_LABEL_MAX] = "";

	if (job->origin)
		origin_label(job->origin, origin);
	return arena_printf(mem, "jobrun:%s:%s:%s%s%s", job->job_id, name,
			    job->digest.hex, *origin ? ":" : "", origin);
}

const char *slurm_program(const struct slurm_block *block, const char *digest,
			  struct arena *mem)
{
	if (block->program)
		return block->program;
	return arena_printf(mem, "bin/jobrun-%.16s", digest);
}

static void put_option(struct buf *out, const char *name, const char *value)
{
	if (value)
		buf_printf(out, "#SBATCH --%s=%s\n", name, value);
}

/* Writes a time such as "1-02:03:00": days, hours, minutes and seconds.  Slurm
 * counts in minutes. */
static void put_time(struct buf *out, long limit_s)
{
	long seconds = limit_s + slurm_limit_rest(limit_s);

	buf_printf(out, "#SBATCH --time=%ld-%02ld:%02ld:%02ld\n",
		   seconds / DAY_S, seconds / 3600 % 24, seconds / 60 % 60,
		   seconds % 60);
}

/* Writes the options of the whole job, which its first component has. */
static void put_job(struct buf *out, const struct job *job,
		    const struct slurm_request *request, const char *name)
{
	const struct slurm_block *block = request->block;
	struct arena *mem = arena_new();

	put_option(out, "job-name", job->job_id);
	if (name)
		put_option(out, "comment", slurm_comment(job, name, mem));
	put_option(out, "output",
		   name ? arena_printf(mem, "%s%s/runs/%s/%s/slurm.out",
				       block->directory,
				       is_shared(block) ? "/%u" : "",
				       job->job_id, name)
			: "%x-%j.out");
	buf_puts(out, "#SBATCH --open-mode=append\n");
	if (request->trials)
		buf_printf(out, "#SBATCH --array=1-%ld%%%ld\n", request->trials,
			   request->at_a_time);
	buf_printf(out, "#SBATCH --%srequeue\n", request->requeue ? "" : "no-");
	if (request->limit_s)
		put_time(out, request->limit_s);
	if (block->signal_time_s)
		buf_printf(out, "#SBATCH --signal=TERM@%ld\n",
			   block->signal_time_s +
				   slurm_limit_rest(request->limit_s));
	if (request->priority)
		buf_printf(out, "#SBATCH --priority=%ld\n", request->priority);
	if (block->nice)
		buf_printf(out, "#SBATCH --nice=%ld\n", block->nice);
	arena_free(mem);
}

static void put_component(struct buf *out, const struct slurm_request *request,
			  const struct slurm_component *one, bool first)
{
	const struct slurm_block *block = request->block;

	/* These options are separate for each component of a heterogeneous
	 * job. */
	put_option(out, "partition", block->partition);
	put_option(out, "account", block->account);
	put_option(out, "qos", block->qos);
	put_option(out, "constraint", block->constraint);
	put_option(out, "reservation", block->reservation);
	buf_printf(out, "#SBATCH --nodes=%ld\n", one->nodes);
	buf_printf(out, "#SBATCH --ntasks-per-node=%ld\n", one->tasks);
	if (one->cpus && !options_have(block->sbatch, "cpus-per-task"))
		buf_printf(out, "#SBATCH --cpus-per-task=%u\n", one->cpus);
	if (one->memory_mb)
		buf_printf(out, "#SBATCH --mem=%uM\n", one->memory_mb);
	if (one->all_memory)
		buf_puts(out, "#SBATCH --mem=0\n");
	put_option(out, "gres", one->gres);
	sbatch_options_write(block->sbatch, first, out);
}

/* Writes the call of srun.  All components have the same arguments, so that all
 * ranks of the step belong to one program. */
void slurm_script_step(const struct slurm_request *request, const char *command,
		       struct buf *out)
{
	size_t i;

	buf_puts(out, "srun --kill-on-bad-exit=1");
	for (i = 0; i < request->count; i++) {
		const struct slurm_component *one = &request->components[i];

		if (i)
			buf_puts(out, " \\\n    :");
		if (request->count > 1)
			buf_printf(out, " --het-group=%zu", i);
		buf_printf(out, " --ntasks=%ld", one->nodes * one->tasks);
		/* Ranks are numbered node by node, whatever the site's default.
		 * Each task has its own cores, and all GPUs of its node. */
		if (one->tasks > 1)
			buf_printf(out,
				   " --ntasks-per-node=%ld "
				   "--distribution=block \\\n"
				   "    --cpu-bind=cores",
				   one->tasks);
		if (one->cpus)
			buf_printf(out, " --cpus-per-task=%u", one->cpus);
		srun_options_write(request->block->srun, out);
		buf_printf(out, " \\\n    %s", command);
	}
}

static void put_step(struct buf *out, const struct slurm_request *request)
{
	const char *command = "\"$jobrun\" launch --from slurm --run \"$run\" "
			      "--restart \"$restart\"";

	if (request->trials)
		command = "\"$jobrun\" launch --from slurm --run \"$run\" "
			  "--restart \"$restart\" \\\n"
			  "    --trial \"$" TRIAL "\"";
	buf_puts(out, "  ");
	slurm_script_step(request, command, out);
	buf_puts(out, " \\\n    2>>\"$attempt/srun.err\"\n");
}

void slurm_script_options(const struct job *job,
			  const struct slurm_request *request, const char *name,
			  struct buf *out)
{
	size_t i;

	put_job(out, job, request, name);
	for (i = 0; i < request->count; i++) {
		if (i)
			buf_puts(out, "#SBATCH hetjob\n");
		put_component(out, request, &request->components[i], !i);
	}
}

/* Writes the first line.  With a prolog it asks for a login shell, which
 * defines what sites have for prologs, such as `module`. */
void slurm_script_begin(const struct slurm_block *block, struct buf *out)
{
	buf_puts(out, block->prolog.count ? "#!/bin/bash -l\n" : "#!/bin/sh\n");
}

void slurm_script_prolog(const struct slurm_block *block, struct buf *out)
{
	size_t i;

	for (i = 0; i < block->prolog.count; i++)
		buf_printf(out, "%s%s\n", i ? "" : "\n",
			   block->prolog.items[i]);
}

/* Writes where the folders are, by the rule of cluster.c. */
static void put_folders(struct buf *out, const struct job *job,
			const struct slurm_block *block, const char *name,
			const char *program)
{
	struct arena *mem = arena_new();
	const char *run = arena_printf(mem, "runs/%s/%s", job->job_id, name);

	buf_puts(out, "\ncd || exit\n");
	if (is_shared(block)) {
		buf_puts(out, "own=");
		command_quote(block->directory, out);
		buf_puts(out, "\nif [ ! -O \"$own/runs\" ]; then\n"
			      "  user=$(id -un 2>/dev/null) || user=$(id -u)\n"
			      "  own=$own/$user\nfi\n");
		buf_puts(out, "run=$own/");
		command_quote(run, out);
	} else {
		buf_puts(out, "run=");
		command_quote(arena_printf(mem, "%s/%s", block->directory, run),
			      out);
	}
	buf_puts(out, "\njobrun=");
	if (!block->program && is_shared(block))
		buf_puts(out, "$own/");
	command_quote(
		block->program || is_shared(block)
			? program
			: arena_printf(mem, "%s/%s", block->directory, program),
		out);
	buf_putc(out, '\n');
	arena_free(mem);
}

void slurm_script_write(const struct job *job,
			const struct slurm_request *request, const char *name,
			const char *program, struct buf *out)
{
	slurm_script_begin(request->block, out);
	slurm_script_options(job, request, name, out);
	slurm_script_prolog(request->block, out);
	put_folders(out, job, request->block, name, program);
	if (request->trials) {
		buf_puts(out, "trial=$run/trials/$" TRIAL "\n");
		buf_printf(out, SETTING_OUT, "trial", "SLURM_ARRAY_JOB_ID",
			   "${SLURM_ARRAY_JOB_ID}_$" TRIAL
			   "\" \\\n    --trial \"$" TRIAL);
	} else {
		buf_printf(out, SETTING_OUT, "run", "SLURM_JOB_ID",
			   "$SLURM_JOB_ID");
	}
	put_step(out, request);
	buf_puts(out, ENDING);
}
