/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of `jobrun: slurm:`. */
#ifndef JOBRUN_SLURM_BLOCK_H
#define JOBRUN_SLURM_BLOCK_H

#include "core/job/message.h"

/* In the home directory. */
#define SLURM_FOLDER ".jobrun"
#define SLURM_USUAL_PLACE ":" SLURM_FOLDER /* see slurm_place() */

struct slurm_block {
	struct message_head head;
	const char *partition;
	const char *account;
	const char *qos;
	const char *constraint;
	const char *reservation;
	const char *login_host; /* NULL: sbatch is here */
	const char *directory;  /* that all nodes share */
	const char *program;    /* jobrun there; NULL: this one is put there */
	struct strings exports; /* variables that the job inherits */
	struct pairs gres;      /* accelerator type to GRES */
	bool machine_types;     /* ask for their CPUs and memory */
	bool requeue;           /* after preemption */
	long nice;
	long signal_time_s;    /* before its time is over; 0: none */
	const char *sbatch;    /* options as JSON, or NULL */
	const char *srun;      /* the same */
	struct strings prolog; /* lines of the batch script */
};

extern const struct message slurm_message;

#endif
