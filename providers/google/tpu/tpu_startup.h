/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The startup script of a TPU VM: a dead man's switch, and the job's own
 * script.  The switch deletes the node when its label jobrun-expires, which a
 * watching jobrun renews, has passed; if it may not call the API, it turns the
 * VM off after the longest that the job may run.
 */
#ifndef JOBRUN_TPU_STARTUP_H
#define JOBRUN_TPU_STARTUP_H

/* `script` is the job's, or NULL.  Returns new. */
char *tpu_startup(const char *script);
/* What of such a text is the job's own: the switch may be that of another
 * version of jobrun.  Points into it. */
const char *tpu_startup_own(const char *text);

/*
 * The same for VMs beside a TPU node, which no label tells that they are
 * needed: as long as they are, jobrun's agent is there.
 */
char *tpu_startup_beside(const char *script);

#endif
