/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/google/base/endpoint.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/text.h"
#include "providers/google/base/gcloud.h"

/* rootUrl and servicePath of the discovery documents. */
static const struct {
	const char *name;
	const char *host; /* "%s": the region */
	const char *path;
} services[SERVICE_COUNT] = {
	[SERVICE_ML] = { "ml", "ml.googleapis.com", "" },
	[SERVICE_AIPLATFORM] = { "aiplatform", "%s-aiplatform.googleapis.com",
				 "" },
	[SERVICE_COMPUTE] = { "compute", "compute.googleapis.com",
			      "compute/v1/" },
	[SERVICE_TPU] = { "tpu", "tpu.googleapis.com", "" },
	[SERVICE_STORAGE] = { "storage", "storage.googleapis.com",
			      "storage/v1/" },
	[SERVICE_LOGGING] = { "logging", "logging.googleapis.com", "" },
	[SERVICE_SERVICEUSAGE] = { "serviceusage",
				   "serviceusage.googleapis.com", "" },
	[SERVICE_RESOURCEMANAGER] = { "cloudresourcemanager",
				      "cloudresourcemanager.googleapis.com",
				      "" },
};

const char *service_name(enum google_service service)
{
	return services[service].name;
}

static const char *moved_to(enum google_service service, struct arena *mem)
{
	const char *emulator = getenv("STORAGE_EMULATOR_HOST");

	/* Python's client takes a URL in this variable, Go's takes a host and
	 * port. */
	if (service == SERVICE_STORAGE && emulator && *emulator)
		return strstr(emulator, "://")
			       ? emulator
			       : arena_printf(mem, "http://%s", emulator);
	return gcloud_property("api_endpoint_overrides", services[service].name,
			       mem, NULL);
}

/* Whether the text may be a region.  It comes from a job file and begins a
 * host's name: anything beyond a label would lead to another host. */
static bool is_region(const char *text)
{
	return text && *text &&
	       !text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-")];
}

void endpoint_add_root(enum google_service service, const char *region,
		       struct buf *out)
{
	struct arena *mem = arena_new();
	const char *moved = moved_to(service, mem);
	const char *path = services[service].path;
	size_t start = out->len;

	if (!moved) {
		const char *host = services[service].host;

		buf_puts(out, "https://");
		if (text_starts(host, "%s"))
			buf_printf(out, "%s%s",
				   is_region(region) ? region : "unknown",
				   host + 2);
		else
			buf_puts(out, host);
		buf_putc(out, '/');
	} else {
		buf_puts(out, moved);
		if (!text_ends(moved, "/"))
			buf_putc(out, '/');
		/* gcloud's values already have the path. */
		if (*path && text_ends(out->data + start, path)) {
			out->len -= strlen(path);
			out->data[out->len] = '\0';
		}
	}
	arena_free(mem);
}

void endpoint_add(enum google_service service, const char *region,
		  struct buf *out)
{
	endpoint_add_root(service, region, out);
	buf_puts(out, services[service].path);
}

bool endpoint_is_emulated(const char *url)
{
	const char *emulator = getenv("STORAGE_EMULATOR_HOST");
	struct buf root = { 0 };
	bool yes;

	if (!emulator || !*emulator)
		return false;
	endpoint_add_root(SERVICE_STORAGE, NULL, &root);
	yes = text_starts(url, root.data);
	buf_done(&root);
	return yes;
}
