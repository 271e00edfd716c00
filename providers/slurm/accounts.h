/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a cluster's accounting (slurmdbd), which also has jobs that its
 * controller has forgotten: one call of sacct for any number of jobs.  Many
 * clusters have no accounting, or do not store comments there
 * (AccountingStoreFlags).
 */
#ifndef JOBRUN_ACCOUNTS_H
#define JOBRUN_ACCOUNTS_H

#include "core/base/alloc.h"
#include "core/job/message.h"
#include "core/spec/usage.h"
#include "providers/slurm/cluster.h"
#include "providers/slurm/queue.h"

struct account; /* see accounts.c */

struct accounts {
	struct account *items; /* jobs, each followed by its steps */
	size_t count;
};

/* The job to look for. */
struct account_key {
	const char *name; /* of the job */
	const char *id;
	const char *comment;
	int64_t since_ms; /* submitted after this */
};

/* Reads jobs with these names (none: any name) that existed after `since_ms`.
 * Strings live in `mem`. */
int accounts_read(struct cluster *cluster, const struct strings *names,
		  int64_t since_ms, struct arena *mem, struct accounts *out,
		  struct error *err);
/* Parses the output of sacct. */
void accounts_parse(char *text, struct arena *mem, struct accounts *out);

/*
 * Finds a job by its name and its comment, or where comments are not stored, by
 * its name, its number and its time of submission.  An array is one job.  Sets
 * `usage` to its usage.  False: the job is unknown.
 */
bool accounts_find(const struct accounts *accounts,
		   const struct account_key *key, struct arena *mem,
		   struct queue_job *out, struct usage *usage);

#endif
