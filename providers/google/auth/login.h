/* SPDX-License-Identifier: Apache-2.0 */
/* Decides the user and the key for ssh to the VMs: the properties sshUser and
 * sshKey of the desired resource, else ssh's defaults. */
#ifndef JOBRUN_LOGIN_H
#define JOBRUN_LOGIN_H

#include <jansson.h>

#include "core/base/alloc.h"
#include "core/base/error.h"

/* The user in `mem`, or NULL. */
const char *login_user(const json_t *properties, struct arena *mem);

/* Sets `out` to the contents of the public key, new, or to NULL if there is
 * none under the names that gcloud and OpenSSH use.  Fails if the named one
 * can't be read, or is not below `root` (NULL: it may be anywhere). */
int login_key(const json_t *properties, const char *root, char **out,
	      struct error *err);

#endif
