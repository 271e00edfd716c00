/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a run's specification about its checkpoints. */
#ifndef JOBRUN_SPEC_CHECKPOINTS_H
#define JOBRUN_SPEC_CHECKPOINTS_H

#include "core/job/job.h"

struct saver_config;
struct run_spec;

struct run_checkpoints {
	bool is_used;
	const char *directory; /* as in the job; NULL: a folder of the run */
	const char *to;        /* absolute, the job's own folder; or NULL */
	long keep;
	const char *metric; /* or NULL */
	bool maximize;
	int resume; /* enum checkpoint_resume */
	long quiet_s;
};

/* The job's own folder in a place named in its file: a URL, or an absolute
 * path.  NULL for none. */
const char *spec_job_folder(const struct job *job, const char *to,
			    struct arena *mem);

void spec_checkpoints_from_job(const struct job *job, struct arena *mem,
			       struct run_checkpoints *out);

/* Where the program of a run on this machine writes checkpoints.  Returns
 * new. */
char *spec_checkpoints_folder(const struct run_spec *spec);

/* The configuration for the saver of a run on this machine.  Lives in `mem`. */
void spec_checkpoints_config(const struct run_spec *spec, struct arena *mem,
			     struct saver_config *out);

/* The options with which 'jobrun launch' saves the checkpoints of a program
 * elsewhere that writes them to `directory`.  Live in `mem`. */
void spec_checkpoints_options(const struct run_spec *spec,
			      const char *directory, struct arena *mem,
			      struct strings *out);

#endif
