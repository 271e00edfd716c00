/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Google project, region and zone, and where each value comes from.  In
 * this order: the job's file, the flags, GOOGLE_CLOUD_PROJECT (GCLOUD_PROJECT),
 * gcloud's configuration (core/project, compute/region, compute/zone, and their
 * CLOUDSDK_ variables), the credential file's project_id, the metadata server.
 * A region that nobody names is that of the zone.
 */
#ifndef JOBRUN_GOOGLE_PLACE_H
#define JOBRUN_GOOGLE_PLACE_H

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "providers/google/google.h"

struct place_value {
	const char *text;   /* NULL: unknown */
	const char *source; /* "GOOGLE_CLOUD_PROJECT", "jobrun.zone" */
};

struct google_place {
	struct place_value project;
	struct place_value region;
	struct place_value zone;
	/* set by place_find(): no credentials to ask for a project */
	bool no_credentials;
};

/*
 * `file` and `flags` (either may be NULL) come with their sources.  Values that
 * are already set stay.  Asks the metadata server only for values without
 * another source, and only if the credentials come from it.  Strings live in
 * `mem`.
 */
void place_find(struct google *google, const struct google_place *file,
		const struct google_place *flags, struct arena *mem,
		struct google_place *out);

/* The project in "projects/P", which may continue; for NULL this machine's
 * configured project, or NULL if there is none.  Lives in `mem`. */
const char *place_project(struct google *google, const char *where,
			  struct arena *mem);

/* Both parts of "projects/P/locations/Z", which may continue; false if `path`
 * has another form.  They live in `mem`. */
bool place_split(const char *path, struct arena *mem, const char **project,
		 const char **zone);

/* Reports what is missing and how to set it: ERROR_INVALID, or
 * ERROR_NO_CREDENTIALS if credentials could have supplied it. */
int place_need_project(const struct google_place *place, struct error *err);
int place_need_zone(const struct google_place *place, struct error *err);

#endif
