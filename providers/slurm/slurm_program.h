/* SPDX-License-Identifier: Apache-2.0 */
/* This program's copy on the nodes of a cluster. */
#ifndef JOBRUN_SLURM_PROGRAM_H
#define JOBRUN_SLURM_PROGRAM_H

/* The build id from the linker, in hex digits; the version if there is none.
 * `size` counts the NUL. */
void program_id(char *out, unsigned long size);

#endif
