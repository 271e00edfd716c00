/* SPDX-License-Identifier: Apache-2.0 */
/* The token that says to an API server who asks: as the kubeconfig has it, from
 * a file that others renew, or from a program. */
#ifndef JOBRUN_TOKEN_H
#define JOBRUN_TOKEN_H

#include <pthread.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "providers/kubernetes/api/kubeconfig.h"

/* The header is no longer than that. */
#define TOKEN_MAX (64u << 10)

struct kube_token {
	struct kubeconfig *config; /* borrowed */
	pthread_mutex_t lock;      /* of what is below */
	char *text;                /* or NULL */
	int64_t ends_ms; /* when to look for another; 0: when refused */
};

/* May run an exec plugin: a certificate that it has takes the place of that in
 * `config`.  To be ended in any case. */
int token_init(struct kube_token *token, struct kubeconfig *config,
	       struct error *err);
void token_done(struct kube_token *token);

/* Adds "Authorization: Bearer …", or nothing.  From any thread. */
int token_add_header(struct kube_token *token, struct buf *line,
		     struct error *err);
/* Looks for another than that of `line`, which was refused.  False: there is
 * none. */
bool token_find_another(struct kube_token *token, const struct buf *line);

#endif
