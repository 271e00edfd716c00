/* SPDX-License-Identifier: Apache-2.0 */
/* The token that identifies us to an API server: from the kubeconfig, from a
 * file that others renew, or from a program. */
#ifndef JOBRUN_TOKEN_H
#define JOBRUN_TOKEN_H

#include <pthread.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "providers/kubernetes/api/kubeconfig.h"

/* The longest header. */
#define TOKEN_MAX (64u << 10)

struct kube_token {
	struct kubeconfig *config; /* borrowed */
	pthread_mutex_t lock;      /* for the following members */
	char *text;                /* or NULL */
	int64_t ends_ms;           /* when to get a new one; 0: when refused */
};

/* May run an exec plugin, whose certificate replaces the one in `config`.  To
 * be ended in any case. */
int token_init(struct kube_token *token, struct kubeconfig *config,
	       struct error *err);
void token_done(struct kube_token *token);

/* Adds "Authorization: Bearer …", or nothing.  Thread-safe. */
int token_add_header(struct kube_token *token, struct buf *line,
		     struct error *err);
/* Replaces the token in `line`, which was refused.  False: there is no
 * other. */
bool token_find_another(struct kube_token *token, const struct buf *line);

#endif
