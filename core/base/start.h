/* SPDX-License-Identifier: Apache-2.0 */
/* What 'jobrun launch --install DIR' and what starts it there agree on. */
#ifndef JOBRUN_START_H
#define JOBRUN_START_H

#define START_PROGRAM "jobrun" /* DIR/jobrun starts DIR/jobrun-lib/jobrun */
#define START_LIBRARIES "jobrun-lib"
/* Of those libraries; the same name for every architecture. */
#define START_LOADER "ld.so"
/* The authorities that HTTPS trusts, where an image has none. */
#define START_CERTIFICATES "ca-certificates.crt"

/*
 * What an image has the loader preload is made for the image's own libc: it
 * goes to jobrun by this name, and by its own to what that starts.
 */
#define START_PRELOAD_LOADER "LD_PRELOAD"
#define START_PRELOAD_KEPT "JOBRUN_LD_PRELOAD"

#endif
