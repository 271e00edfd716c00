/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/google/tpu/tpu_places.h"

#include <string.h>

#include "core/base/json.h"
#include "core/base/units.h"
#include "core/job/job.h"
#include "providers/google/google_place.h"

static void add_zone(struct tpu_places *places, struct arena *mem,
		     const char *zone)
{
	size_t i;

	for (i = 0; i < places->count; i++)
		if (!strcmp(places->zones[i], zone))
			return;
	places->zones[places->count++] = arena_strdup(mem, zone);
}

int tpu_places_find(struct google *google, const struct resource *it,
		    struct arena *mem, struct tpu_places *out,
		    struct error *err)
{
	const json_t *zone = json_object_get(it->properties, "zone");
	const json_t *others = json_object_get(it->properties, "otherZones");
	struct google_place file = {
		.project = { json_get_text(it->properties, "project", NULL),
			     "jobrun.project" },
		.zone = { json_string_value(zone), "jobrun.zone" },
	};
	const char *found;
	const json_t *item;
	struct google_place place;
	size_t i;

	*out = (struct tpu_places){ 0 };
	out->zones = arena_alloc(mem, (json_array_size(others) + 2) *
					      sizeof(*out->zones));
	if (it->place && place_split(it->place, mem, &out->project, &found)) {
		add_zone(out, mem, found);
		return 0;
	}
	/* With several zones, use any for now; the node's real one is found
	 * later. */
	if (zone && !file.zone.text)
		file.zone.text = json_string_value(json_array_get(others, 0));
	place_find(google, &file, NULL, mem, &place);
	if (place_need_project(&place, err) < 0)
		return -1;
	if (!json_array_size(others) && place_need_zone(&place, err) < 0)
		return -1;
	out->project = place.project.text;
	if (place.zone.text)
		add_zone(out, mem, place.zone.text);
	json_array_foreach(others, i, item)
		add_zone(out, mem, json_string_value(item));
	return 0;
}

void tpu_place_known(const struct resource *want, const struct resource *found,
		     struct tpu_place_known *out)
{
	const json_t *others = json_object_get(want->properties, "otherZones");
	const char *zone = json_string_value(json_array_get(others, 0));

	if (found->unseen) {
		out->project = json_get_text(want->properties, "project", "-");
		out->zone = json_get_text(want->properties, "zone",
					  zone ? zone : "-");
		out->first_zone = out->zone;
		return;
	}
	out->project = json_get_text(found->outputs, "project", "");
	out->zone = json_get_text(found->outputs, "zone", "");
	out->first_zone = json_get_text(found->outputs, "firstZone", "");
}

void tpu_places_put(json_t *properties, const struct job *job,
		    const struct strings *others, long patience_s)
{
	char text[32];

	if (job->jobrun.project)
		json_put_text(properties, "project", job->jobrun.project);
	if (job->jobrun.zone)
		json_put_text(properties, "zone", job->jobrun.zone);
	if (others->count)
		json_put(properties, "otherZones",
			 json_texts(others->items, others->count));
	if (patience_s) {
		duration_format(patience_s, text, sizeof(text));
		json_put_text(properties, "waitForCapacity", text);
	}
}

const char *tpu_key_root(const struct resource *want)
{
	const char *key = json_get_text(want->properties, "sshKey", NULL);

	return want->job && key ? job_root(want->job, key) : NULL;
}
