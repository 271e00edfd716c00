/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/google/google_place.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/text.h"
#include "providers/google/auth/credentials.h"
#include "providers/google/base/gcloud.h"
#include "providers/google/base/metadata.h"

static void take(struct place_value *to, const struct place_value *from,
		 struct arena *mem)
{
	if (to->text || !from->text || !*from->text)
		return;
	to->text = arena_strdup(mem, from->text);
	to->source = arena_strdup(mem, from->source);
}

static void take_place(struct google_place *to, const struct google_place *from,
		       struct arena *mem)
{
	if (!from)
		return;
	take(&to->project, &from->project, mem);
	take(&to->region, &from->region, mem);
	take(&to->zone, &from->zone, mem);
}

static void take_variable(struct place_value *to, const char *name,
			  struct arena *mem)
{
	const struct place_value value = { getenv(name), name };

	take(to, &value, mem);
}

static void take_property(struct place_value *to, const char *section,
			  const char *key, struct arena *mem)
{
	struct place_value value = { NULL, NULL };

	value.text = gcloud_property(section, key, mem, &value.source);
	take(to, &value, mem);
}

/* Derives the region from a zone: "us-central1-b" is in us-central1. */
static void take_region_of_zone(struct google_place *place, struct arena *mem)
{
	const char *zone = place->zone.text;
	const char *dash = zone ? strrchr(zone, '-') : NULL;

	if (place->region.text || !dash)
		return;
	place->region.text = arena_strndup(mem, zone, (size_t)(dash - zone));
	place->region.source =
		arena_printf(mem, "the zone (%s)", place->zone.source);
}

static void take_metadata(struct place_value *to, struct http *http,
			  const char *path, struct arena *mem)
{
	struct place_value value = { NULL, "the metadata server" };
	struct error err;

	if (to->text || metadata_get(http, path, mem, &value.text, &err) < 0)
		return;
	/* The metadata server gives zones as "projects/N/zones/Z". */
	if (value.text)
		value.text = path_base(value.text);
	take(to, &value, mem);
}

void place_find(struct google *google, const struct google_place *file,
		const struct google_place *flags, struct arena *mem,
		struct google_place *out)
{
	struct credentials *who = NULL;
	struct error err;

	*out = (struct google_place){ 0 };
	take_place(out, file, mem);
	take_place(out, flags, mem);
	take_variable(&out->project, "GOOGLE_CLOUD_PROJECT", mem);
	take_variable(&out->project, "GCLOUD_PROJECT", mem);
	take_property(&out->project, "core", "project", mem);
	take_property(&out->zone, "compute", "zone", mem);
	take_property(&out->region, "compute", "region", mem);
	if (!out->project.text || !out->zone.text)
		who = google_credentials(google, &err);
	out->no_credentials = (!out->project.text || !out->zone.text) && !who &&
			      error_is_unasked(&err);
	if (who) {
		const struct place_value project = {
			credentials_project(who),
			"the credential file's project_id",
		};

		take(&out->project, &project, mem);
	}
	if (who && credentials_are_machine(who)) {
		struct http *http = google_http(google);

		take_metadata(&out->project, http, "project/project-id", mem);
		take_metadata(&out->zone, http, "instance/zone", mem);
	}
	take_region_of_zone(out, mem);
}

const char *place_project(struct google *google, const char *where,
			  struct arena *mem)
{
	/* The zone is not needed here. */
	const struct google_place flags = { .zone = { "-", "" } };
	struct google_place place;

	if (where && text_starts(where, "projects/")) {
		where += strlen("projects/");
		return arena_strndup(mem, where, strcspn(where, "/"));
	}
	place_find(google, NULL, &flags, mem, &place);
	return place.project.text;
}

bool place_split(const char *path, struct arena *mem, const char **project,
		 const char **zone)
{
	const char *at = strstr(path, "/locations/");

	if (!at || !text_starts(path, "projects/"))
		return false;
	path += strlen("projects/");
	*project = arena_strndup(mem, path, (size_t)(at - path));
	at += strlen("/locations/");
	*zone = arena_strndup(mem, at, strcspn(at, "/"));
	return true;
}

static enum error_code code_of_missing(const struct google_place *place)
{
	return place->no_credentials ? ERROR_NO_CREDENTIALS : ERROR_INVALID;
}

int place_need_project(const struct google_place *place, struct error *err)
{
	if (place->project.text)
		return 0;
	return error_set(
		err, code_of_missing(place),
		"no Google Cloud project is set%s: set jobrun.project or "
		"GOOGLE_CLOUD_PROJECT, or run 'gcloud config set project NAME'",
		place->no_credentials ? ", and there are no credentials" : "");
}

int place_need_zone(const struct google_place *place, struct error *err)
{
	if (place->zone.text)
		return 0;
	return error_set(
		err, code_of_missing(place),
		"no zone is set%s: set jobrun.zone, or run 'gcloud config set "
		"compute/zone NAME'",
		place->no_credentials ? ", and there are no credentials" : "");
}
