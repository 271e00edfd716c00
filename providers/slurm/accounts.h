/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks a cluster's accounting (slurmdbd) about jobs, also those that its
 * controller has forgotten: one call of sacct, whatever their number.  Many
 * clusters have none, or keep no comments there (AccountingStoreFlags).
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
	int64_t since_ms; /* it was submitted after that */
};

/* Reads jobs with these names (none: with any) that existed after the moment
 * `since_ms`.  Texts live in `mem`. */
int accounts_read(struct cluster *cluster, const struct strings *names,
		  int64_t since_ms, struct arena *mem, struct accounts *out,
		  struct error *err);
/* Parses the output of sacct. */
void accounts_parse(char *text, struct arena *mem, struct accounts *out);

/*
 * Finds a job by its name and its comment; where comments are not stored, by
 * its name, its number and when it was submitted.  An array is one job.  Its
 * usage goes to `usage`.  False: it is not known.
 */
bool accounts_find(const struct accounts *accounts,
		   const struct account_key *key, struct arena *mem,
		   struct queue_job *out, struct usage *usage);

#endif
