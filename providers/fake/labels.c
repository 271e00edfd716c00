/* SPDX-License-Identifier: Apache-2.0 */
/* The labels of things and runs, and the search by labels. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "providers/fake/call.h"

void fake_label(json_t *value, const struct resource *it)
{
	struct labels labels;

	json_put_text(value, "job", fake_job_name(it));
	if (!it->job)
		return;
	labels = labels_of(it->job, time_now_ms());
	json_put_text(value, "digest", labels.digest);
	json_put_text(value, "digest2", it->job->digest2.hex);
	json_put_text(value, "cleanup", cleanup_name(labels.cleanup));
	if (labels.set)
		json_put_text(value, "applyset", labels.set);
	if (labels.origin)
		json_put_text(value, "origin", labels.origin);
	if (labels.expire_time_ms)
		json_put_int(value, "expireTimeMs", labels.expire_time_ms);
}

struct fake_look {
	const struct kind *kind;
	const char *place;
	void (*look)(const json_t *value, struct listed *one);
	struct listing *out;
};

static int add(void *arg, const char *name, const json_t *value,
	       struct error *err)
{
	struct fake_look *look = arg;
	struct listed one = {
		.kind = look->kind,
		.name = name,
		.place = look->place,
		.labels = {
			.job_id = json_get_text(value, "job", "-"),
			.digest = json_get_text(value, "digest", NULL),
			.set = json_get_text(value, "applyset", NULL),
			.origin = json_get_text(value, "origin", NULL),
			.cleanup = cleanup_parse(
				json_get_text(value, "cleanup", NULL)),
			.expire_time_ms =
				json_get_int(value, "expireTimeMs", 0),
		},
		.create_time_ms = json_get_int(value, "createTimeMs", 0),
	};

	(void)err;
	if (look->look)
		look->look(value, &one);
	listing_add(look->out, &one);
	return 0;
}

int fake_list(void *ctx, const struct kind *kind, const char *place,
	      void (*look)(const json_t *value, struct listed *one),
	      struct listing *out, struct error *err)
{
	const struct fake *fake = ctx;
	struct fake_look all = { kind, place, look, out };
	const char *folder = place ? place : fake->world;
	struct world *world;
	int ret;

	/* Looking at a world must not create it. */
	if (!folder || (access(folder, F_OK) < 0 && errno == ENOENT))
		return 0;
	world = world_enter(folder, err);
	if (!world)
		return -1;
	ret = world_each(world, kind->name, add, &all, err);
	world_leave(world);
	return ret;
}
