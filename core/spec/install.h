/* SPDX-License-Identifier: Apache-2.0 */
/*
 * This program in a folder, so that it runs wherever that is mounted or copied
 * to, in containers of any distribution of this architecture, or of none:
 *
 *	FOLDER/jobrun		starts it; static, see cmd/jobrun-start/start.c
 *	FOLDER/jobrun-lib/	the program, its loader, the libraries that it
 *				has, those that it opens at first use, and the
 *				certificates of the authorities trusted here
 *
 * What it starts sees nothing of them.
 */
#ifndef JOBRUN_INSTALL_H
#define JOBRUN_INSTALL_H

#include "core/base/error.h"

/* What an earlier try has left there is replaced.  All of it is for everyone
 * to read: the program may run as another user. */
int program_install(const char *folder, struct error *err);

#endif
