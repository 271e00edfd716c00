/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/slurm/block.h"

#include "core/check.h"

static const struct field fields[] = {
	{ .name = "partition",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct slurm_block, partition),
	  .doc = "The partition to run in." },
	{ .name = "account",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct slurm_block, account),
	  .doc = "The account to charge." },
	{ .name = "qos",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct slurm_block, qos),
	  .doc = "The quality of service to ask for." },
	{ .name = "constraint",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct slurm_block, constraint),
	  .doc = "The features that nodes must have." },
	{ .name = "reservation",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct slurm_block, reservation),
	  .doc = "The reservation to run in." },
	{ .name = "loginHost",
	  .type = FIELD_STRING,
	  .check = check_host,
	  .offset = offsetof(struct slurm_block, login_host),
	  .doc = "The host to call sbatch on, by ssh." },
	{ .name = "directory",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct slurm_block, directory),
	  .doc = "A directory that all nodes share, for source and logs." },
	{ .name = "requeue",
	  .type = FIELD_BOOL,
	  .fallback = "false",
	  .offset = offsetof(struct slurm_block, requeue),
	  .doc = "Whether the job is queued again when it was preempted." },
	{ .name = "signalTime",
	  .type = FIELD_DURATION,
	  .offset = offsetof(struct slurm_block, signal_time_s),
	  .doc = "How long before its time is over the program gets "
		 "SIGTERM, for a last checkpoint." },
	{ .name = NULL },
};

const struct message slurm_message = {
	.name = "SlurmBlock",
	.doc = "What only slurm has.",
	.size = sizeof(struct slurm_block),
	.fields = fields,
};
