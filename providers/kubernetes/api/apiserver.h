/* SPDX-License-Identifier: Apache-2.0 */
/* A cluster's API server: one connection to it, and calls of it. */
#ifndef JOBRUN_APISERVER_H
#define JOBRUN_APISERVER_H

#include <jansson.h>
#include <stdbool.h>

#include "core/net/http.h"
#include "providers/kubernetes/api/kubeconfig.h"

/* Our name as a writer, in the objects' managedFields. */
#define FIELD_MANAGER "jobrun"

struct apiserver;

/* Makes no request yet; may run an exec plugin.  `trace` as in http.h. */
struct apiserver *apiserver_open(const struct kubeconfig_choice *choice,
				 kube_read_yaml *read_yaml, const char *trace,
				 struct error *err);
void apiserver_close(struct apiserver *api);
/* By what a cluster, and who asks it, are known again. */
struct apiserver_identity {
	const char *context;
	const char *user; /* its name in the kubeconfig, or "" */
	char ca[65];      /* digest of the authority's certificates, or "" */
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
	/* Doing it twice is as doing it once.  GET and PATCH are. */
	bool repeatable;
};

#define TYPE_APPLY "application/apply-patch+yaml"
#define TYPE_MERGE "application/merge-patch+json"

/* Zeroed (`= { 0 }`) it is ready for a call. */
struct apiserver_answer {
	long status;      /* also of a call that failed; 0: no answer */
	json_t *body;     /* NULL if the call failed */
	json_t *warnings; /* what the server warns of: texts; or NULL */
	char reason[64];  /* of a call that failed: "NotFound" */
};

void apiserver_answer_done(struct apiserver_answer *answer);

/*
 * An answer other than 2xx is a failure in the server's own words; look at
 * `answer->status` for those that are none.  From any thread.
 */
int apiserver_call(struct apiserver *api,
		   const struct apiserver_request *request,
		   struct apiserver_answer *answer, struct error *err);

/* As http_do, for what is not JSON.  `request->url` is a path, and its headers
 * are not used. */
#define TYPE_TABLE "application/json;as=Table;g=meta.k8s.io;v=v1"
int apiserver_send_as(struct apiserver *api, const struct http_request *request,
		      const char *accept, struct http_response *response,
		      struct error *err);

/* The same of an answer that goes on, with a sink; see http_start().  NULL if
 * there is no token to be had. */
struct apiserver_stream;
struct apiserver_stream *apiserver_stream(struct apiserver *api,
					  const struct http_request *request,
					  struct error *err);
/* After its sink has said "not now". */
void apiserver_stream_resume(struct apiserver_stream *stream);
/* Ends it, if it has not ended, and waits for that.  The status of an answer
 * that came whole, else 0.  NULL does nothing. */
long apiserver_stream_end(struct apiserver_stream *stream);

/* All pages of a list, each given to `each`, which ends it with -1.  A list
 * that is too old to be gone on with begins anew: `each` is given NULL. */
int apiserver_list(struct apiserver *api, const char *path,
		   const char *const *query,
		   int (*each)(void *arg, const json_t *page,
			       struct error *err),
		   void *arg, struct error *err);

/* Whether the cluster has the objects of a group: "jobset.x-k8s.io/v1alpha2".
 * Asked once.  -1 with `err`, else 0 or 1. */
int apiserver_has(struct apiserver *api, const char *group, struct error *err);

#endif
