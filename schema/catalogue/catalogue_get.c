/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/catalogue/catalogue_get.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/base/repository.h"
#include "core/base/text.h"
#include "core/job/check.h"
#include "schema/catalogue/catalogue_check.h"
#include "schema/catalogue/catalogue_read.h"
#include "schema/catalogue/shipped.h"

#define FILE_SIZE_MAX (1 << 20)
#define FILES_MAX 64

/* A catalogue file over the files before it.  Layers live as long as the
 * process. */
struct layer {
	struct catalogue both;
	struct catalogue *user; /* its strings are in `both` */
	char *origin;
	struct layer *under;
};

/* These are written once, by load(). */
static const struct catalogue *the_catalogue;
static struct layer *layers;
static struct error why;
static struct catalogue_fault fault;
static char *beside; /* set by catalogue_beside() before that */

/* Returns the first list followed by the second. */
static const void *joined(const void *first, size_t first_count,
			  const void *second, size_t second_count, size_t size,
			  size_t *count)
{
	char *out;

	*count = first_count + second_count;
	if (!first_count)
		return second;
	out = mem_alloc(*count * size);
	memcpy(out, first, first_count * size);
	memcpy(out + first_count * size, second, second_count * size);
	return out;
}

/* Joins `user` before `under`, as the first entry with a name is used. */
static void join(const struct catalogue *user, const struct catalogue *under,
		 struct catalogue *both)
{
	both->date = user->date ? user->date : under->date;
	both->tiers = joined(user->tiers, user->tier_count, under->tiers,
			     under->tier_count, sizeof(*under->tiers),
			     &both->tier_count);
	both->families = joined(user->families, user->family_count,
				under->families, under->family_count,
				sizeof(*under->families), &both->family_count);
	both->accelerators =
		joined(user->accelerators, user->accelerator_count,
		       under->accelerators, under->accelerator_count,
		       sizeof(*under->accelerators), &both->accelerator_count);
	both->makers = joined(user->makers, user->maker_count, under->makers,
			      under->maker_count, sizeof(*under->makers),
			      &both->maker_count);
	both->strategies =
		joined(user->strategies, user->strategy_count,
		       under->strategies, under->strategy_count,
		       sizeof(*under->strategies), &both->strategy_count);
	both->tpus = joined(user->tpus, user->tpu_count, under->tpus,
			    under->tpu_count, sizeof(*under->tpus),
			    &both->tpu_count);
	both->region_groups = joined(
		user->region_groups, user->region_group_count,
		under->region_groups, under->region_group_count,
		sizeof(*under->region_groups), &both->region_group_count);
	both->runtimes = joined(user->runtimes, user->runtime_count,
				under->runtimes, under->runtime_count,
				sizeof(*under->runtimes), &both->runtime_count);
	both->containers =
		joined(user->containers, user->container_count,
		       under->containers, under->container_count,
		       sizeof(*under->containers), &both->container_count);
	/* The rows for nodes add up, so those of two files must not be
	 * joined. */
	both->nodes = user->node_count ? user->nodes : under->nodes;
	both->node_count =
		user->node_count ? user->node_count : under->node_count;
	both->prices = user->prices.currency ? user->prices : under->prices;
}

/* Sets the origin of each entry to the file. */
static void sign(struct catalogue *user, const char *origin)
{
	size_t i;

	for (i = 0; i < user->family_count; i++)
		((struct machine_family *)user->families)[i].origin = origin;
	for (i = 0; i < user->accelerator_count; i++)
		((struct accelerator *)user->accelerators)[i].origin = origin;
	for (i = 0; i < user->tpu_count; i++)
		((struct tpu *)user->tpus)[i].origin = origin;
	for (i = 0; i < user->region_group_count; i++)
		((struct region_group *)user->region_groups)[i].origin = origin;
	for (i = 0; i < user->runtime_count; i++)
		((struct runtime *)user->runtimes)[i].origin = origin;
	user->prices.origin = origin;
}

/* What the file's row of a known accelerator leaves out stays as it was. */
static void inherit(struct catalogue *user, const struct catalogue *under)
{
	size_t i;

	for (i = 0; i < user->accelerator_count; i++) {
		struct accelerator *one =
			(struct accelerator *)&user->accelerators[i];
		const struct accelerator *old =
			catalogue_accelerator(under, one->type);

		if (!old)
			continue;
		one->later = one->later || old->later;
		one->flex_start = one->flex_start || old->flex_start;
		if (!one->gres)
			one->gres = old->gres;
		if (!one->region_count) {
			one->regions = old->regions;
			one->region_count = old->region_count;
		}
		if (!one->fit_count) {
			one->fits = old->fits;
			one->fit_count = old->fit_count;
		}
	}
}

/* A gres becomes a line of batch scripts. */
static int check_gres(const struct catalogue *user, struct error *err)
{
	size_t i;

	for (i = 0; i < user->accelerator_count; i++) {
		const struct accelerator *one = &user->accelerators[i];

		if (one->gres && check_option(one->gres, err) < 0)
			return error_prefix(err, "accelerator '%s': gres",
					    one->type);
	}
	return 0;
}

/* Keeps where the error is: the first file that is broken is the last that is
 * read. */
static void set_fault(const char *path, const char *shown, const char *text,
		      struct error *err)
{
	const char *place;

	shipped_place(err, shown, text);
	place = err->where + strlen(err->where);
	fault = (struct catalogue_fault){ .path = mem_strdup(path),
					  .shown = mem_strdup(shown) };
	while (place > err->where && strchr("0123456789:", place[-1]))
		place--;
	if (sscanf(place, ":%u:%u", &fault.line, &fault.column) != 2)
		fault.line = fault.column = 1;
}

const struct catalogue_fault *catalogue_fault(void)
{
	return fault.path ? &fault : NULL;
}

static int add(const char *path, const char *shown, struct error *err)
{
	size_t len;
	char *text = file_read(path, FILE_SIZE_MAX, &len, err);
	struct catalogue *user = text ? catalogue_read(text, len, err) : NULL;
	struct layer *layer;

	if (!user || catalogue_check(user, the_catalogue, err) < 0 ||
	    check_gres(user, err) < 0) {
		if (text)
			set_fault(path, shown, text, err);
		catalogue_free(user);
		free(text);
		return error_prefix(err, "catalogue '%s'", shown);
	}
	free(text);
	layer = mem_alloc(sizeof(*layer));
	layer->user = user;
	layer->origin = mem_strdup(shown);
	layer->under = layers;
	layers = layer;
	sign(user, layer->origin);
	inherit(user, the_catalogue);
	join(user, the_catalogue, &layer->both);
	the_catalogue = &layer->both;
	return 0;
}

static int is_yaml(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && text_ends(entry->d_name, ".yaml");
}

/* Adds the user's own files, used for all jobs. */
static int add_own(struct error *err)
{
	const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	struct dirent **entries;
	char *folder;
	int i, n, ret = 0;

	if (xdg && xdg[0] == '/')
		folder = path_join(xdg, "jobrun/catalogue");
	else if (home && home[0] == '/')
		folder = path_join(home, ".config/jobrun/catalogue");
	else
		return 0;
	n = scandir(folder, &entries, is_yaml, alphasort);
	for (i = 0; i < n; i++) {
		char *path = path_join(folder, entries[i]->d_name);

		if (ret == 0 && i < FILES_MAX)
			ret = add(path, path, err);
		free(path);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	free(folder);
	return ret;
}

/* Adds the repository's file, unless it is a link out of the repository. */
static int add_shared(struct error *err)
{
	struct repository repository;
	struct stat st;
	char *path;
	int ret = 0;

	if (!repository_find(beside ? beside : ".", &repository))
		return 0;
	path = path_join(repository.top, "jobrun.catalogue");
	if (lstat(path, &st) == 0)
		ret = S_ISREG(st.st_mode)
			      ? add(path, "jobrun.catalogue", err)
			      : error_set(err, ERROR_INVALID,
					  "catalogue '%s': not a file", path);
	free(path);
	repository_done(&repository);
	return ret;
}

static void load(void)
{
	const char *path = getenv("JOBRUN_CATALOGUE");

	the_catalogue = &catalogue_shipped;
	if (add_own(&why) < 0 || add_shared(&why) < 0 ||
	    (path && *path && add(path, path, &why) < 0))
		the_catalogue = NULL;
	free(beside);
	beside = NULL;
}

void catalogue_beside(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0 || beside)
		return;
	beside = S_ISDIR(st.st_mode) ? mem_strdup(path) : path_folder(path);
}

const struct catalogue *catalogue_get(struct error *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load);
	if (!the_catalogue)
		*err = why;
	return the_catalogue;
}
