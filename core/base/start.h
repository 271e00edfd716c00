/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by 'jobrun launch --install DIR' and the program that starts jobrun
 * there. */
#ifndef JOBRUN_START_H
#define JOBRUN_START_H

#define START_PROGRAM "jobrun" /* DIR/jobrun starts DIR/jobrun-lib/jobrun */
#define START_LIBRARIES "jobrun-lib"
/* Files among those libraries; the same names for every architecture. */
#define START_LOADER "ld.so"
/* The authorities that HTTPS trusts, where an image has none. */
#define START_CERTIFICATES "ca-certificates.crt"

/*
 * An image's LD_PRELOAD is made for the image's own libc: it goes to jobrun by
 * this name, and by its own to the program that jobrun starts.
 */
#define START_PRELOAD_LOADER "LD_PRELOAD"
#define START_PRELOAD_KEPT "JOBRUN_LD_PRELOAD"

#endif
