/* SPDX-License-Identifier: Apache-2.0 */
/* This program, as it is put on the nodes of a cluster. */
#ifndef JOBRUN_SLURM_PROGRAM_H
#define JOBRUN_SLURM_PROGRAM_H

/* The identity that the linker gave to this build, in hex digits; its version
 * if it gave none.  `size` counts the NUL. */
void program_id(char *out, unsigned long size);

#endif
