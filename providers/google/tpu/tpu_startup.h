/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The startup script of a TPU VM: a dead man's switch, and the job's own
 * script.  The switch deletes the node once the time in its label
 * jobrun-expires, which a watching jobrun renews, has passed; if it lacks the
 * permission for the API, it turns the VM off after the longest time that the
 * job may run.
 */
#ifndef JOBRUN_TPU_STARTUP_H
#define JOBRUN_TPU_STARTUP_H

/* `script` is the job's, or NULL.  Returns new. */
char *tpu_startup(const char *script);
/* The job's own part of such a script, as the switch may come from another
 * version of jobrun.  Points into `text`. */
const char *tpu_startup_own(const char *text);

/*
 * The same for VMs beside a TPU node, where no label says that they are needed:
 * as long as they are, jobrun's agent runs there.
 */
char *tpu_startup_beside(const char *script);

#endif
