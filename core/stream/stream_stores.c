/* SPDX-License-Identifier: Apache-2.0 */
#include "core/stream/stream_stores.h"

#include <stdlib.h>

#include "core/base/alloc.h"

struct stream_stores {
	const struct stream_store *const *list;
	size_t count;
	struct stream_scheme *schemes; /* one for each */
	void **ctxs;                   /* the same; NULL: not open */
};

static void link_schemes(struct stream_stores *stores)
{
	for (size_t i = 0; i + 1 < stores->count; i++)
		stores->schemes[i].next = &stores->schemes[i + 1];
}

struct stream_stores *stream_stores_new(const struct stream_store *const *list)
{
	struct stream_stores *stores = mem_alloc(sizeof(*stores));

	stores->list = list;
	while (list[stores->count])
		stores->count++;
	stores->schemes =
		mem_alloc((stores->count + 1) * sizeof(*stores->schemes));
	stores->ctxs = mem_alloc((stores->count + 1) * sizeof(*stores->ctxs));
	for (size_t i = 0; i < stores->count; i++)
		stores->schemes[i].prefix = list[i]->prefix;
	link_schemes(stores);
	return stores;
}

void stream_stores_open(struct stream_stores *stores, struct http *http)
{
	for (size_t i = 0; i < stores->count; i++)
		stores->ctxs[i] =
			stores->list[i]->open(http, &stores->schemes[i]);
	link_schemes(stores);
}

const struct stream_scheme *
stream_stores_scheme(const struct stream_stores *stores)
{
	return stores->count ? stores->schemes : NULL;
}

void stream_stores_free(struct stream_stores *stores)
{
	if (!stores)
		return;
	for (size_t i = 0; i < stores->count; i++)
		stores->list[i]->close(stores->ctxs[i]);
	free(stores->schemes);
	free(stores->ctxs);
	free(stores);
}
