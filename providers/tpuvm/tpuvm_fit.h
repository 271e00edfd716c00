/* SPDX-License-Identifier: Apache-2.0 */
/* What does not fit between jobrun.tpu-vm and the rest of a job. */
#ifndef JOBRUN_TPUVM_FIT_H
#define JOBRUN_TPUVM_FIT_H

struct catalogue;
struct job;
struct misfits;

/* As struct message's `fit`. */
void tpu_vm_fit(const struct job *job, const struct catalogue *catalogue,
		struct misfits *out);

#endif
