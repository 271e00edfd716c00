/* SPDX-License-Identifier: Apache-2.0 */
/* The `env` of a container: an array of variables. */
#ifndef JOBRUN_ENV_H
#define JOBRUN_ENV_H

#include <jansson.h>
#include <stdbool.h>

#include "core/job/job.h"

/* Escapes a literal value, so that a "$(" in it refers to nothing.  Returns
 * new. */
json_t *env_text(const char *value);
/* The same for the words of a command. */
json_t *env_words(const struct strings *words);

void env_add_text(json_t *env, const char *name, const char *value);
void env_add_number(json_t *env, const char *name, size_t value);
/* Adds a variable from that key of the Secret. */
void env_add_secret(json_t *env, const char *name, const char *secret);
/* Adds a variable with the index of the pod, from its controller's
 * annotation. */
void env_add_index(json_t *env, const char *name);

/* Whether jobrun.env has the variable, which then wins. */
bool env_given(const struct job *job, const char *name);

#endif
