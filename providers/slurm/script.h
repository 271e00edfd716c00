/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The batch script of a run (slurm.schedmd.com/sbatch.html): the resources to
 * request, and one srun that starts `jobrun launch` in each task.  Its paths
 * use the directory as the file gives it, relative to the home directory, so
 * the script is the same wherever it is made.  It contains no secrets and no
 * variables.
 */
#ifndef JOBRUN_SCRIPT_H
#define JOBRUN_SCRIPT_H

#include "core/base/buf.h"
#include "providers/slurm/request.h"

/* "060b3734" for the first run with the job's digest, "060b3734-2" and so on
 * for later ones. */
const char *slurm_run_name(const struct job *job, int number,
			   struct arena *mem);

/* The comment that identifies the job in the queue: "jobrun:JOBID:NAME:DIGEST",
 * followed by the label of its origin, if known. */
const char *slurm_comment(const struct job *job, const char *name,
			  struct arena *mem);

/* jobrun's path on the nodes: the block's program, or the one that is copied to
 * the user's folder, relative to that. */
const char *slurm_program(const struct slurm_block *block, const char *digest,
			  struct arena *mem);

/* The options of sbatch; `name` NULL: for a script without a folder. */
void slurm_script_options(const struct job *job,
			  const struct slurm_request *request, const char *name,
			  struct buf *out);
/* The first line, and the lines of the block's prolog. */
void slurm_script_begin(const struct slurm_block *block, struct buf *out);
void slurm_script_prolog(const struct slurm_block *block, struct buf *out);
/* One step over all components that runs that command in each task; no
 * newline. */
void slurm_script_step(const struct slurm_request *request, const char *command,
		       struct buf *out);

/* `program` comes from slurm_program(). */
void slurm_script_write(const struct job *job,
			const struct slurm_request *request, const char *name,
			const char *program, struct buf *out);

#endif
