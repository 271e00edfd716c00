/* SPDX-License-Identifier: Apache-2.0 */
/* Names shared by 'jobrun launch --install DIR' and the program that starts
 * jobrun from there. */
#ifndef JOBRUN_START_H
#define JOBRUN_START_H

#define START_PROGRAM "jobrun" /* DIR/jobrun starts DIR/jobrun-lib/jobrun */
#define START_LIBRARIES "jobrun-lib"
/* Files among the libraries, with the same names on every architecture. */
#define START_LOADER "ld.so"
/* The CA certificates for HTTPS, for images without any. */
#define START_CERTIFICATES "ca-certificates.crt"

/*
 * An image's LD_PRELOAD is built for the image's own libc.  It reaches jobrun
 * under this name, and under its own the program that jobrun starts.
 */
#define START_PRELOAD_LOADER "LD_PRELOAD"
#define START_PRELOAD_KEPT "JOBRUN_LD_PRELOAD"

#endif
