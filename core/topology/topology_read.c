/* SPDX-License-Identifier: Apache-2.0 */
#include "core/topology/topology_read.h"

#include <assert.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/units.h"

void topology_readers_add(struct topology_readers *all,
			  const struct topology_reader *reader)
{
	size_t i = all->count++;

	assert(i < COUNT(all->items));
	for (; i && all->items[i - 1]->order > reader->order; i--)
		all->items[i] = all->items[i - 1];
	all->items[i] = reader;
}

const struct topology_reader *
topology_reader_find(const struct topology_readers *all, const char *name,
		     struct error *err)
{
	struct buf names = { 0 };
	size_t i;

	for (i = 0; i < all->count; i++)
		if (!strcmp(all->items[i]->name, name))
			return all->items[i];
	for (i = 0; i < all->count; i++)
		buf_printf(&names, "%s%s", i ? ", " : "", all->items[i]->name);
	error_set(err, ERROR_USAGE, "unknown place '%s': %s", name,
		  buf_text(&names));
	buf_done(&names);
	return NULL;
}

const struct topology_reader *
topology_reader_detect(const struct topology_readers *all,
		       const struct surroundings *at, struct error *err)
{
	size_t i;

	for (i = 0; i < all->count; i++)
		if (all->items[i]->detects(at))
			return all->items[i];
	error_set(err, ERROR_INVALID, "this is not a known place");
	return NULL;
}

const char *surroundings_get(const struct surroundings *at, const char *name)
{
	size_t len = strlen(name);
	char *const *item;

	for (item = at->env; *item; item++)
		if (!strncmp(*item, name, len) && (*item)[len] == '=')
			return (*item)[len + 1] ? *item + len + 1 : NULL;
	return NULL;
}

int surroundings_number(const struct surroundings *at, const char *name,
			long min, long max, long *out, struct error *err)
{
	const char *text = surroundings_get(at, name);

	if (!text)
		return error_set(err, ERROR_INVALID, "%s is not set", name);
	if (number_parse(text, min, max, out, err) < 0) {
		err->code = ERROR_INVALID;
		return error_prefix(err, "%s", name);
	}
	return 0;
}

void topology_from_hosts(const char *const *hosts, size_t count,
			 struct arena *mem, struct topology *out)
{
	size_t i;

	out->tasks = arena_alloc(mem, count * sizeof(*out->tasks));
	out->count = count;
	out->master_name = "master";
	out->master_port = TOPOLOGY_MASTER_PORT;
	for (i = 0; i < count; i++) {
		out->tasks[i].type = count == 1 ? TASK_MASTER : TASK_WORKER;
		out->tasks[i].index = (int)i;
		out->tasks[i].host = hosts[i];
		out->tasks[i].port = TOPOLOGY_TASK_PORT;
	}
	topology_rank(out);
}
