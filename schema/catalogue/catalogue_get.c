/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/catalogue/catalogue_get.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "schema/catalogue/catalogue_read.h"

#define FILE_SIZE_MAX (1 << 20)

/* Written once, by load(). */
static const struct catalogue *the_catalogue;
static struct catalogue *user; /* its texts are in both */
static struct catalogue both;
static struct error why;

/* One list after the other.  Stays for the life of the process. */
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

static void join(const struct catalogue *ours)
{
	both.date = user->date ? user->date : ours->date;
	both.tiers = joined(user->tiers, user->tier_count, ours->tiers,
			    ours->tier_count, sizeof(*ours->tiers),
			    &both.tier_count);
	both.families = joined(user->families, user->family_count,
			       ours->families, ours->family_count,
			       sizeof(*ours->families), &both.family_count);
	both.accelerators =
		joined(user->accelerators, user->accelerator_count,
		       ours->accelerators, ours->accelerator_count,
		       sizeof(*ours->accelerators), &both.accelerator_count);
	both.makers = joined(user->makers, user->maker_count, ours->makers,
			     ours->maker_count, sizeof(*ours->makers),
			     &both.maker_count);
	both.tpus =
		joined(user->tpus, user->tpu_count, ours->tpus, ours->tpu_count,
		       sizeof(*ours->tpus), &both.tpu_count);
	both.region_groups =
		joined(user->region_groups, user->region_group_count,
		       ours->region_groups, ours->region_group_count,
		       sizeof(*ours->region_groups), &both.region_group_count);
	both.runtimes = joined(user->runtimes, user->runtime_count,
			       ours->runtimes, ours->runtime_count,
			       sizeof(*ours->runtimes), &both.runtime_count);
	both.containers =
		joined(user->containers, user->container_count,
		       ours->containers, ours->container_count,
		       sizeof(*ours->containers), &both.container_count);
}

static void load(void)
{
	const char *path = getenv("JOBRUN_CATALOGUE");
	char *text;
	size_t len;

	if (!path || !*path) {
		the_catalogue = &catalogue_shipped;
		return;
	}
	text = file_read(path, FILE_SIZE_MAX, &len, &why);
	if (text)
		user = catalogue_read(text, len, &why);
	free(text);
	if (!user) {
		error_prefix(&why, "JOBRUN_CATALOGUE: '%s'", path);
		return;
	}
	join(&catalogue_shipped);
	the_catalogue = &both;
}

const struct catalogue *catalogue_get(struct error *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load);
	if (!the_catalogue)
		*err = why;
	return the_catalogue;
}
