/* SPDX-License-Identifier: Apache-2.0 */
/* What a run consists of, as properties for plans. */
#ifndef JOBRUN_DESCRIBE_H
#define JOBRUN_DESCRIBE_H

#include <jansson.h>

#include "core/spec/spec.h"

/* The program, with its images and their runtime. */
void describe_program(const struct run_spec *spec, json_t *out);
/* The properties of a run, for its reviewer and for the next plan to compare
 * with.  No absolute paths: plans of one commit are equal wherever they are
 * made.  Returns new. */
json_t *describe_run(const struct job *job, const struct run_spec *spec);
/* The parameters, settings and metric of the trials.  Returns new. */
json_t *describe_trials(const struct run_spec *spec);
/* Only the part about checkpoints and data. */
void describe_files(const struct job *job, const struct run_spec *spec,
		    json_t *out);

#endif
