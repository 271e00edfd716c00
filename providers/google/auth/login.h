/* SPDX-License-Identifier: Apache-2.0 */
/* Decides the user and the key for ssh to the VMs: the properties sshUser and
 * sshKey of the desired resource, else the defaults of ssh. */
#ifndef JOBRUN_LOGIN_H
#define JOBRUN_LOGIN_H

#include <jansson.h>

#include "core/base/alloc.h"
#include "core/base/error.h"

/* In `mem`, or NULL. */
const char *login_user(const json_t *properties, struct arena *mem);

/* The text of the public key, new; NULL if there is none, as gcloud and
 * OpenSSH call it.  Fails if the one that is named can't be read, or
 * is not below `root` (NULL: it may be anywhere). */
int login_key(const json_t *properties, const char *root, char **out,
	      struct error *err);

#endif
