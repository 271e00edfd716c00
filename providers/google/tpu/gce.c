/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/google/tpu/gce.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "providers/google/google.h"
#include "providers/google/base/metadata.h"
#include "providers/google/tpu/tpu.h"

struct gce {
	const char *trace;
	struct http *http;
	struct google *google;
};

static void *gce_new(const char *trace)
{
	struct gce *gce = mem_alloc(sizeof(*gce));

	gce->trace = trace;
	return gce;
}

static void gce_free(void *arg)
{
	struct gce *gce = arg;

	if (!gce)
		return;
	if (gce->google)
		google_close(gce->google);
	if (gce->http)
		http_free(gce->http);
	free(gce);
}

/* Retries end early, as the caller waits for a TPU, asks again, and reports the
 * error. */
static const struct retry_policy short_retry = {
	.first_ms = 500,
	.max_ms = 2000,
	.total_ms = 4000,
};

static int open_http(struct gce *gce, struct error *err)
{
	const struct http_options options = { .trace = gce->trace,
					      .retry = &short_retry };

	if (!gce->http)
		gce->http = http_new(&options, err);
	return gce->http ? 0 : -1;
}

static bool gce_has_metadata(void *arg)
{
	struct gce *gce = arg;
	struct error ignored;

	return metadata_is_likely() && open_http(gce, &ignored) == 0 &&
	       metadata_detect(gce->http);
}

static int gce_metadata(void *arg, const char *path, struct arena *mem,
			const char **out, struct error *err)
{
	struct gce *gce = arg;

	if (open_http(gce, err) < 0)
		return -1;
	return metadata_get(gce->http, path, mem, out, err);
}

static enum tpu_sight sight_of(const struct tpu_node *node)
{
	/* A missing node may be created soon. */
	if (!node->exists)
		return TPU_SEEN_PENDING;
	switch (tpu_node_phase(node)) {
	case TPU_USABLE:
		return TPU_SEEN_READY;
	case TPU_PENDING:
		return TPU_SEEN_PENDING;
	case TPU_LOST:
		return TPU_SEEN_LOST;
	}
	return TPU_SEEN_PENDING;
}

static void describe(const struct tpu_node *node, char *out, size_t size)
{
	if (!node->exists)
		snprintf(out, size, "is not there");
	else if (!strcmp(node->state, "READY") && !*node->health)
		snprintf(out, size, "is READY, of unknown health");
	else if (!strcmp(node->state, "READY") &&
		 !strcmp(node->health, "HEALTHY"))
		snprintf(out, size, "is READY and HEALTHY, without endpoints");
	else if (!strcmp(node->state, "READY"))
		snprintf(out, size, "is READY, but %.40s%s%.80s", node->health,
			 *node->health_text ? ": " : "", node->health_text);
	else
		snprintf(out, size, "is %.40s", node->state);
}

static int gce_look(void *arg, const struct topology *all, struct arena *mem,
		    struct tpu_view *out, struct error *err)
{
	struct gce *gce = arg;
	struct tpu_node node = { 0 };
	struct tpu_place *hosts;
	size_t i;

	if (open_http(gce, err) < 0)
		return -1;
	if (!gce->google)
		gce->google = google_open(gce->http);
	if (tpu_node_get(gce->google, TPU_API_V1, all->tpu_project,
			 all->tpu_zone, all->tpu_name, mem, &node, err) < 0)
		return -1;
	/* Only the newer API shows nodes created through it. */
	if (!node.exists &&
	    tpu_node_get(gce->google, TPU_API_V2, all->tpu_project,
			 all->tpu_zone, all->tpu_name, mem, &node, err) < 0)
		return -1;
	out->sight = sight_of(&node);
	describe(&node, out->words, sizeof(out->words));
	if (out->sight != TPU_SEEN_READY)
		return 0;
	hosts = arena_alloc(mem, node.endpoint_count * sizeof(*hosts));
	for (i = 0; i < node.endpoint_count; i++) {
		hosts[i].ip = node.endpoints[i].ip;
		hosts[i].port = node.endpoints[i].port;
	}
	out->slice = node.accelerator_type;
	out->hosts = hosts;
	out->host_count = node.endpoint_count;
	return 0;
}

/* Takes the last part of a path such as "projects/1234/zones/us-central1-b". */
static int own(struct gce *gce, const char *path, const char *what,
	       struct arena *mem, const char **out, struct error *err)
{
	const char *slash;

	if (gce_metadata(gce, path, mem, out, err) < 0)
		return -1;
	if (!*out)
		return error_set(err, ERROR_INVALID,
				 "the metadata server does not say the %s",
				 what);
	slash = strrchr(*out, '/');
	if (slash)
		*out = slash + 1;
	return 0;
}

/* Reads "projects/P/locations/Z/nodes/NAME", or "NAME" in this machine's
 * project and zone. */
static int gce_name_tpu(void *arg, const char *name, struct arena *mem,
			struct topology *all, struct error *err)
{
	struct gce *gce = arg;
	char project[64], zone[64], node[64];
	int end = 0;

	if (sscanf(name, "projects/%63[^/]/locations/%63[^/]/nodes/%63[^/]%n",
		   project, zone, node, &end) == 3 &&
	    !name[end]) {
		all->tpu_project = arena_strdup(mem, project);
		all->tpu_zone = arena_strdup(mem, zone);
		all->tpu_name = arena_strdup(mem, node);
	} else if (strchr(name, '/') || !*name) {
		return error_set(err, ERROR_USAGE,
				 "'%s' is not the name of a TPU: use NAME, or "
				 "projects/P/locations/ZONE/nodes/NAME",
				 name);
	} else {
		if (own(gce, "project/project-id", "project", mem,
			&all->tpu_project, err) < 0 ||
		    own(gce, "instance/zone", "zone", mem, &all->tpu_zone,
			err) < 0)
			return error_prefix(err,
					    "where TPU '%s' is: give "
					    "projects/P/locations/ZONE/nodes/%s"
					    " instead",
					    name, name);
		all->tpu_name = arena_strdup(mem, name);
	}
	all->tpu_kind = TPU_NODE;
	all->tpu_slice = ""; /* the TPU itself tells */
	return 0;
}

const struct platform platform_gce = {
	.open = gce_new,
	.close = gce_free,
	.has_metadata = gce_has_metadata,
	.metadata = gce_metadata,
	.look = gce_look,
	.name_tpu = gce_name_tpu,
};
