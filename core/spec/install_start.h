/* SPDX-License-Identifier: Apache-2.0 */
/* The static program that starts an installed jobrun, embedded in this one
 * (cmd/jobrun-start/start.c). */
#ifndef JOBRUN_INSTALL_START_H
#define JOBRUN_INSTALL_START_H

#include <stddef.h>

/* Borrowed. */
const char *install_start_program(size_t *size);

#endif
