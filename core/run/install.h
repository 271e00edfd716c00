/* SPDX-License-Identifier: Apache-2.0 */
/*
 * This program in a folder, so that it runs wherever that is mounted or copied
 * to, in containers of any distribution of this architecture:
 *
 *	FOLDER/jobrun		starts it; a script for /bin/sh
 *	FOLDER/jobrun-lib/	the program, its loader, the libraries that it
 *				has, and those that it opens at first use
 *
 * What it starts sees nothing of them.  For that no variable may do what the
 * script does (LD_LIBRARY_PATH would be inherited), so it names the loader.
 */
#ifndef JOBRUN_INSTALL_H
#define JOBRUN_INSTALL_H

#include "core/base/error.h"

/* What an earlier try has left there is replaced.  All of it is for everyone
 * to read: the program may run as another user. */
int program_install(const char *folder, struct error *err);

#endif
