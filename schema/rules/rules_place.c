/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about regions and zones. */
#include <stdio.h>
#include <string.h>

#include "core/job/traits.h"
#include "core/base/nearest.h"
#include "schema/rules/hints.h"
#include "schema/rules/rules_check.h"
#include "schema/rules/rules_world.h"

#define REGIONS_MAX 128

static const char *near_region(const struct catalogue *all, const char *name)
{
	const char *names[REGIONS_MAX];
	size_t i, j, n = 0;

	for (i = 0; i < all->region_group_count; i++)
		for (j = 0; j < all->region_groups[i].region_count; j++)
			if (n < REGIONS_MAX)
				names[n++] =
					all->region_groups[i].regions[j].name;
	return nearest_name(name, names, n);
}

/* Returns the number of a region such as "us-central1": another number is
 * another region, not a typo. */
static const char *number_of(const char *region)
{
	return region + strcspn(region, "0123456789");
}

void check_region(const struct check *check)
{
	const char *region = check->in->region, *near;
	bool training, known;
	const struct region *zone;
	char shown[SHORT_SIZE];
	const struct node *at;

	if (!region)
		return;
	known = catalogue_region(check->catalogue, region, &training);
	if (known && training)
		return;
	at = value_of(check->in, "region");
	if (!at)
		return;
	if (known) {
		if (check->traits & TRAIT_AI_PLATFORM_RULES)
			doubtful(check, at, "trainingInput.region",
				 "\"region\" %s is not in AI Platform's list "
				 "of regions",
				 region);
		return;
	}
	zone = catalogue_zone(check->catalogue, region);
	if (zone) {
		broken(check, at, "trainingInput.region",
		       "\"region\": %s is a zone; its region is %s", region,
		       zone->name);
		problem_hint(check->found, "write %s", zone->name);
		return;
	}
	if (looks_like_zone(region)) {
		broken(check, at, "trainingInput.region",
		       "\"region\": %s is a zone; its region is %.*s",
		       text_short(region, shown), (int)looks_like_zone(region),
		       region);
		return;
	}
	if (looks_like_region(region, strlen(region)))
		unknown(check, at, "trainingInput.region", region, "region");
	else
		broken(check, at, "trainingInput.region",
		       "\"region\" \"%s\" is not a region",
		       text_short(region, shown));
	near = near_region(check->catalogue, region);
	if (hint_looks(check->found, at))
		return;
	if (near && !strcmp(number_of(near), number_of(region)))
		problem_hint(check->found, "did you mean %s?", near);
	else if (near)
		problem_hint(check->found, "the nearest known one is %s", near);
	else if (!looks_like_region(region, strlen(region)))
		problem_hint(check->found,
			     "regions are us-central1, europe-west4, "
			     "asia-east1 and so on");
}

void check_zone(const struct check *check)
{
	const char *zone = check->job->jobrun.zone, *near;
	const struct region *region;
	char shown[SHORT_SIZE];
	const struct node *at;

	if (!zone)
		return;
	region = catalogue_zone(check->catalogue, zone);
	if (region && strchr(region->zones, zone[strlen(zone) - 1]))
		return;
	at = value_of(&check->job->jobrun, "zone");
	if (!at)
		return;
	if (region) {
		unknown(check, at, "jobrun.zone", zone, "zone");
		problem_hint(check->found,
			     "the zones of %s end in one of \"%s\"",
			     region->name, region->zones);
		return;
	}
	region = catalogue_region(check->catalogue, zone, NULL);
	if (region) {
		broken(check, at, "jobrun.zone",
		       "\"zone\": %s is a region, not a zone", zone);
		problem_hint(check->found, "for instance %s-%c", zone,
			     region->zones[0]);
		return;
	}
	if (looks_like_zone(zone))
		unknown(check, at, "jobrun.zone", zone, "zone");
	else
		broken(check, at, "jobrun.zone",
		       "\"zone\" \"%s\" is not a "
		       "zone",
		       text_short(zone, shown));
	near = near_region(check->catalogue, zone);
	if (near)
		problem_hint(check->found,
			     "the zones of %s are named %s-a and so on", near,
			     near);
}

void check_zone_in_region(const struct check *check)
{
	const char *region = check->in->region;
	const char *zone = check->job->jobrun.zone;
	const struct node *at, *other;
	const struct region *real;
	char line[LINE_SIZE];

	if (!zone || !region)
		return;
	real = catalogue_zone(check->catalogue, zone);
	if (!real || !strcmp(real->name, region) ||
	    !catalogue_region(check->catalogue, region, NULL))
		return;
	at = value_of(&check->job->jobrun, "zone");
	other = value_of(check->in, "region");
	if (!at || !other)
		return;
	broken(check, at, "jobrun.zone",
	       "\"zone\" %s is not in trainingInput.region %s (%s)", zone,
	       region, line_of(check, other, at, "the region", line));
}
