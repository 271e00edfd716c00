/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TPU nodes in the API. v1 has the nodes reached through gRPC
 * (networkEndpoints), v2 the TPU VMs.
 */
#ifndef JOBRUN_TPU_H
#define JOBRUN_TPU_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/job/catalogue.h"
#include "providers/google/google.h"

enum tpu_api {
	TPU_API_V1,
	TPU_API_V2,
};

enum tpu_phase {
	TPU_USABLE,  /* READY and HEALTHY, with endpoints */
	TPU_PENDING, /* may become usable by itself: ask again */
	TPU_LOST,    /* never will: stopped, preempted, being deleted */
};

struct tpu_endpoint {
	const char *ip;
	int port;                /* 8470, 0 if the API gives none */
	const char *external_ip; /* v2 only; or NULL */
};

/* Strings are never NULL, and live in the arena of the call. */
struct tpu_node {
	bool exists;
	const char *name;        /* "projects/P/locations/Z/nodes/N" */
	const char *state;       /* "READY", "CREATING" … */
	const char *health;      /* "HEALTHY", "TIMEOUT" …; "" if unknown */
	const char *health_text; /* the API's description, or "" */
	const char *accelerator_type; /* "v3-32" */
	const char *version;          /* tensorflowVersion or runtimeVersion */
	/* One for each host, in the order of the workers.  Reliable only if the
	 * node is usable. */
	const struct tpu_endpoint *endpoints;
	size_t endpoint_count;
	unsigned chips; /* by its topology; 0: v1, or no topology is given */
	const char *const *symptoms; /* "OUT_OF_MEMORY" … */
	size_t symptom_count;
};

/*
 * Looks once.  A missing node is no error: `exists` is false.  ERROR_TRY_AGAIN
 * and ERROR_UNREACHABLE may be temporary, ERROR_DENIED is not.
 */
int tpu_node_get(struct google *google, enum tpu_api api, const char *project,
		 const char *zone, const char *node, struct arena *mem,
		 struct tpu_node *out, struct error *err);

/* The same from a message that was read already. */
void tpu_node_read(const json_t *body, enum tpu_api api, struct arena *mem,
		   struct tpu_node *out);

/* The limit of a node's name: 1 to 63 of a-z, 0-9 and '-'. */
#define TPU_NAME_MAX 64

/* The name for a job, unique to it. */
void tpu_name(const char *job_id, char out[TPU_NAME_MAX]);

/* Combines its state and health. */
enum tpu_phase tpu_node_phase(const struct tpu_node *node);

/* The chips of a topology such as "2x2x4"; 0: it is none. */
unsigned tpu_topology_chips(const char *topology);

/* Writes what the plan expects of a node to the resource's properties. */
void tpu_node_expect(json_t *properties, const struct slice *slice);

/* Whether a usable node is another than the plan expects, which says so in
 * `why`: "2 hosts with 16 chips instead of 4 with 16".  Its tasks would meet on
 * one host, or wait for hosts that do not exist. */
bool tpu_node_differs(const struct tpu_node *node, const json_t *properties,
		      char *why, size_t size);

#endif
