/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of `jobrun: slurm:`. */
#ifndef JOBRUN_SLURM_BLOCK_H
#define JOBRUN_SLURM_BLOCK_H

#include "core/job/message.h"

/* In the home directory. */
#define SLURM_FOLDER ".jobrun"
#define SLURM_USUAL_PLACE ":" SLURM_FOLDER /* see slurm_place() */

/* Whether Slurm queues a job again that was preempted or lost a node. */
enum slurm_requeue {
	SLURM_REQUEUE_NO,
	SLURM_REQUEUE_YES,
	SLURM_REQUEUE_EXPEDITE, /* at once, before all others */
};

struct slurm_block {
	struct message_head head;
	const char *partition;
	const char *account;
	const char *qos;
	const char *constraint;
	const char *reservation;
	const char *login_host; /* NULL: sbatch is here */
	const char *directory;  /* shared by all nodes */
	/* jobrun there; NULL: this one is copied there */
	const char *program;
	struct strings exports; /* variables that the job inherits */
	struct pairs gres;      /* GRES by accelerator type */
	bool machine_types;     /* request their CPUs and memory */
	int requeue;            /* enum slurm_requeue */
	long nice;
	long signal_time_s;    /* before the time limit; 0: no signal */
	const char *sbatch;    /* options as JSON, or NULL */
	const char *srun;      /* the same */
	struct strings prolog; /* lines of the batch script */
};

extern const struct message slurm_message;

#endif
