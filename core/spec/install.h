/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Installs this program in a folder, so that it runs wherever that is mounted
 * or copied to, in containers of any distribution of this architecture, or of
 * none:
 *
 *	FOLDER/jobrun		starts it; static, see cmd/jobrun-start/start.c
 *	FOLDER/jobrun-lib/	the program, its loader, its libraries, those
 *				that it opens at first use, and the CA
 *				certificates trusted here
 *
 * Programs that it starts see nothing of these.
 */
#ifndef JOBRUN_INSTALL_H
#define JOBRUN_INSTALL_H

#include "core/base/error.h"

/* Replaces what an earlier try has left.  All files are readable for everyone,
 * as the program may run as another user. */
int program_install(const char *folder, struct error *err);

#endif
