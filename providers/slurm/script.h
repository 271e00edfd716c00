/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The batch script of a run (slurm.schedmd.com/sbatch.html): what to ask for,
 * and one srun that starts `jobrun launch` in each task.  Its paths are as the
 * file says the directory, relative ones from the home directory, so that it
 * is the same wherever it is made.  No secret is in it, and no variable.
 */
#ifndef JOBRUN_SCRIPT_H
#define JOBRUN_SCRIPT_H

#include "core/base/buf.h"
#include "providers/slurm/request.h"

/* "060b3734" for the first run with the job's digest, "060b3734-2" and so on
 * for those after it. */
const char *slurm_run_name(const struct job *job, int number,
			   struct arena *mem);

/* The comment that marks the job in the queue: "jobrun:JOBID:NAME:DIGEST",
 * and the label of its origin behind that, if it is known. */
const char *slurm_comment(const struct job *job, const char *name,
			  struct arena *mem);

/* Where jobrun is on the nodes: the block's program, or the one that is put
 * into the user's folder, by its path below that. */
const char *slurm_program(const struct slurm_block *block, const char *digest,
			  struct arena *mem);

/* The options of sbatch; with a NULL name, of a script without a folder. */
void slurm_script_options(const struct job *job,
			  const struct slurm_request *request, const char *name,
			  struct buf *out);
/* The first line, and the lines of the block's prolog. */
void slurm_script_begin(const struct slurm_block *block, struct buf *out);
void slurm_script_prolog(const struct slurm_block *block, struct buf *out);
/* One step over all components, each task with that command; no newline. */
void slurm_script_step(const struct slurm_request *request, const char *command,
		       struct buf *out);

/* `program` is what slurm_program() gave. */
void slurm_script_write(const struct job *job,
			const struct slurm_request *request, const char *name,
			const char *program, struct buf *out);

#endif
