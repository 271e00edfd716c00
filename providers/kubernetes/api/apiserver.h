/* SPDX-License-Identifier: Apache-2.0 */
/* A cluster's API server: a client for it, and its calls. */
#ifndef JOBRUN_APISERVER_H
#define JOBRUN_APISERVER_H

#include <jansson.h>
#include <stdbool.h>

#include "core/net/http.h"
#include "core/net/websocket.h"
#include "providers/kubernetes/api/kubeconfig.h"

/* Our name as a writer, in the objects' managedFields. */
#define FIELD_MANAGER "jobrun"

struct apiserver;

/* Makes no request yet; may run an exec plugin.  `trace` as in http.h. */
struct apiserver *apiserver_open(const struct kubeconfig_choice *choice,
				 kube_read_yaml *read_yaml, const char *trace,
				 struct error *err);
void apiserver_close(struct apiserver *api);
/* What identifies a cluster and its user later. */
struct apiserver_identity {
	const char *context;
	const char *user; /* the user's name in the kubeconfig, or "" */
	char ca[65];      /* digest of the CA certificates, or "" */
};
const struct apiserver_identity *
apiserver_identity(const struct apiserver *api);
/* Both borrowed. */
const char *apiserver_server(const struct apiserver *api);
const char *apiserver_name_space(const struct apiserver *api);
struct http *apiserver_http(struct apiserver *api);

struct apiserver_request {
	const char *method;
	const char *path;         /* "/api/v1/namespaces/a/pods" */
	const char *const *query; /* name, value … NULL; or NULL */
	const char *type;         /* of the body; NULL: JSON */
	const json_t *body;       /* or NULL */
	/* The call is idempotent.  GET and PATCH always are. */
	bool repeatable;
	bool once; /* tried once, and given up after a few seconds */
};

#define TYPE_APPLY "application/apply-patch+yaml"
#define TYPE_MERGE "application/merge-patch+json"

/* Zeroed (`= { 0 }`) it is ready for a call. */
struct apiserver_answer {
	long status;      /* also set on failure; 0: no answer */
	json_t *body;     /* NULL if the call failed */
	json_t *warnings; /* the server's warnings: strings; or NULL */
	char reason[64];  /* on failure: "NotFound" */
};

void apiserver_answer_done(struct apiserver_answer *answer);

/*
 * An answer other than 2xx is a failure, described by the server; check
 * `answer->status` for acceptable ones.  Thread-safe.
 */
int apiserver_call(struct apiserver *api,
		   const struct apiserver_request *request,
		   struct apiserver_answer *answer, struct error *err);

/* Like http_do(), for data that is not JSON.  `request->url` is a path, and its
 * headers are not used. */
#define TYPE_TABLE "application/json;as=Table;g=meta.k8s.io;v=v1"
int apiserver_send_as(struct apiserver *api, const struct http_request *request,
		      const char *accept, struct http_response *response,
		      struct error *err);

/* The same for a continuing answer, with a sink; see http_start().  NULL if no
 * token is available. */
struct apiserver_stream;
struct apiserver_stream *apiserver_stream(struct apiserver *api,
					  const struct http_request *request,
					  struct error *err);
/* To be called after its sink has said "not now". */
void apiserver_stream_resume(struct apiserver_stream *stream);
/* Ends the stream if it is still open, and waits for that.  Returns the status
 * if the answer was complete, else 0.  Accepts NULL. */
long apiserver_stream_end(struct apiserver_stream *stream);

/* Opens a WebSocket at a path, which may have a query; `protocols` and `status`
 * as in websocket.h.  NULL on failure. */
struct websocket *apiserver_websocket(struct apiserver *api, const char *path,
				      const char *protocols, long *status,
				      struct error *err);

/* Gets all pages of a list, each passed to `each`, which returns -1 to stop.
 * If the list has expired meanwhile, it is read again from the start, after
 * `each` was called with NULL. */
int apiserver_list(struct apiserver *api, const char *path,
		   const char *const *query,
		   int (*each)(void *arg, const json_t *page,
			       struct error *err),
		   void *arg, struct error *err);

/* Whether the cluster serves an API group: "jobset.x-k8s.io/v1alpha2".  Asked
 * once.  Returns 0 or 1, or -1 with `err`. */
int apiserver_has(struct apiserver *api, const char *group, struct error *err);

#endif
