/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/google/tpu/tpu_follow.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/json.h"
#include "providers/google/operation.h"
#include "providers/google/tpu/tpu_call.h"

/* How many pages a list may have. */
#define PAGES 2
/* How old a list may be, in first pauses of operations: five seconds. */
#define FRESH 5
/* A follower that has not looked for so long no longer waits. */
#define RECENT_MS 30000

struct zone_list {
	struct google *google;
	const char *path;       /* "v2/projects/P/locations/Z/nodes" */
	const char *collection; /* "nodes" */
	size_t pages;           /* that are left */
	bool more;              /* than that */
	json_t *out;            /* {NAME: message} */
};

static void drop_metadata(json_t *body)
{
	json_t *spec =
		json_object_get(json_object_get(body, "tpu"), "nodeSpec");
	json_t *one;
	size_t i;

	json_object_del(body, "metadata");
	json_array_foreach(spec, i, one)
		json_object_del(json_object_get(one, "node"), "metadata");
}

static int take_page(void *arg, const json_t *page, struct error *err)
{
	struct zone_list *zone = arg;
	json_t *one;
	size_t i;

	if (--zone->pages == 0 && *json_get_text(page, "nextPageToken", "")) {
		zone->more = true;
		return error_set(err, ERROR_FAILED, "there is too much");
	}
	json_array_foreach(json_object_get(page, zone->collection), i, one)
	{
		drop_metadata(one);
		json_object_set(zone->out,
				path_base(json_get_text(one, "name", "")), one);
	}
	return 0;
}

/* Lists a zone, for shared_lists_look(). */
static int list(void *arg, json_t **out, struct error *err)
{
	static const char *const query[] = { "pageSize", "100", NULL };
	struct zone_list *zone = arg;
	const struct api_request request = {
		.service = SERVICE_TPU,
		.method = "GET",
		.path = zone->path,
		.query = query,
	};
	int ret;

	zone->out = json_object();
	ret = api_list(zone->google, &request, take_page, zone, err);
	if (ret == 0) {
		*out = zone->out;
		return 0;
	}
	json_decref(zone->out);
	return zone->more ? 1 : -1;
}

int tpu_follow(struct tpu_ctx *ctx, enum tpu_api api, const char *path,
	       json_t **out, struct error *err)
{
	char *folder = path_folder(path);
	char *whole =
		mem_printf("%s/%s", api == TPU_API_V1 ? "v1" : "v2", folder);
	struct zone_list zone = {
		.google = ctx->google,
		.path = whole,
		.collection = path_base(folder),
		.pages = PAGES,
	};
	struct buf url = { 0 };
	struct shared_look look = {
		.name = path_base(path),
		.recent_ms = RECENT_MS,
		.fresh_ms = FRESH * operation_first_look_ms(),
		.list = list,
		.arg = &zone,
	};
	json_t *all;
	int ret = 0;

	endpoint_add(SERVICE_TPU, NULL, &url);
	buf_puts(&url, whole);
	look.place = buf_text(&url);
	all = shared_lists_look(&ctx->lists, &look);
	*out = json_incref(json_object_get(all, look.name));
	if (!all)
		ret = tpu_get(ctx->google, api, path, out, err);
	json_decref(all);
	buf_done(&url);
	free(whole);
	free(folder);
	return ret;
}
