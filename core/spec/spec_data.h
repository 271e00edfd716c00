/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The training data in a run's specification, and what its tasks are told about
 * it.  For the set "train" a task gets
 *
 *	JOBRUN_DATA_TRAIN	  the URLs of its share, with "::" between them,
 *				  as the WebDataset library takes them
 *	JOBRUN_DATA_TRAIN_PIPES	  the same, each behind "pipe:PROGRAM cat"
 *	JOBRUN_DATA_TRAIN_STREAM  "PROGRAM cat --data train": a command that
 *				  writes all of it as one stream, one tar file
 *	JOBRUN_DATA_TRAIN_SET	  what that reads: the set and the share, JSON
 *	JOBRUN_DATA_TRAIN_SHARDS  how many shards that is in each epoch
 *	JOBRUN_DATA_TRAIN_SAMPLES how many samples everyone has in each epoch,
 *				  if the index is a file here; for an exact
 *				  split, how many the task has, unless epochs
 *				  differ
 *
 * The first two are for the first epoch, and are left out if they are longer
 * than SPEC_DATA_LIST_MAX.  JOBRUN_EPOCH, which the program may set, is the
 * epoch that the command reads.
 */
#ifndef JOBRUN_SPEC_DATA_H
#define JOBRUN_SPEC_DATA_H

#include <jansson.h>

#include "core/job/job.h"
#include "core/base/environment.h"
#include "core/topology/topology.h"

/* Linux allows 128 KiB for a variable. */
#define SPEC_DATA_LIST_MAX (96u << 10)

struct run_data {
	struct data_set *sets; /* paths are absolute */
	size_t count;
};

void spec_data_from_job(const struct job *job, struct arena *mem,
			struct run_data *out);

/* Returns new, or NULL if there are no sets. */
json_t *spec_data_json(const struct run_data *from);

/* Parses the result of spec_data_json(), which anybody may have changed since.
 * The result lives in `mem`. */
int spec_data_parse(const char *text, struct arena *mem, struct run_data *out,
		    struct error *err);

/* `program` is jobrun's path there; if a shell could not read that unquoted,
 * jobrun must be in the PATH. */
int spec_data_environment(const struct run_data *data, const char *program,
			  const struct topology *all, size_t ordinal,
			  struct environment *env, struct error *err);

/* For people, in a plan: how many shards and samples each process reads, and
 * how many are read twice or never.  Returns new. */
char *spec_data_text(const struct data_set *set, const struct topology *all);

#endif
