/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of `jobrun: slurm:`. */
#ifndef JOBRUN_SLURM_BLOCK_H
#define JOBRUN_SLURM_BLOCK_H

#include "core/message.h"

struct slurm_block {
	struct message_head head;
	const char *partition;
	const char *account;
	const char *qos;
	const char *constraint;
	const char *reservation;
	const char *login_host; /* NULL: sbatch is here */
	const char *directory;  /* that all nodes share */
	bool requeue;           /* after preemption */
	long signal_time_s;     /* before its time is over; 0: none */
};

extern const struct message slurm_message;

#endif
