/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The values of a run's secrets in its folder (task_runner.h), which is on a
 * disk that others see: they stay no longer than a task may need to read them.
 */
#ifndef JOBRUN_TASK_SECRETS_H
#define JOBRUN_TASK_SECRETS_H

#include <stdbool.h>

#include "core/base/environment.h"
#include "core/base/error.h"

#define TASK_SECRETS_FILE "secrets.json" /* an object of values by name */

/* Adds the secrets to the environment; `any`: there are some. */
int task_secrets_read(const char *run, struct environment *env, bool *any,
		      struct error *err);

void task_secrets_remove(const char *run);

#endif
