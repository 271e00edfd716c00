/* SPDX-License-Identifier: Apache-2.0 */
#include "core/plan/order.h"

#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"

enum mark {
	MARK_NEW,
	MARK_OPEN, /* the walk is at its needs */
	MARK_DONE,
};

/* A walk in depth with a stack of its own, as chains of needs may be long. */
struct order_walk {
	const struct resources *all;
	unsigned char *marks; /* a mark for each resource */
	size_t *stack;        /* indexes of resources */
	size_t *next;         /* for each resource, the need to visit next */
	size_t depth;
};

static int cycle_error(const struct order_walk *walk, size_t again,
		       struct error *err)
{
	const struct resource *first = walk->all->items[again];
	struct buf names = { 0 };
	size_t i = walk->depth;

	while (walk->stack[--i] != again)
		;
	for (; i < walk->depth; i++)
		buf_printf(&names, "%s -> ",
			   walk->all->items[walk->stack[i]]->name);
	error_set(err, ERROR_INVALID, "circular dependency: %s%s",
		  buf_text(&names), first->name);
	buf_done(&names);
	return -1;
}

static void push(struct order_walk *walk, size_t place)
{
	walk->marks[place] = MARK_OPEN;
	walk->stack[walk->depth++] = place;
}

static int visit(struct order_walk *walk, size_t start, size_t *order,
		 size_t *count, struct error *err)
{
	if (walk->marks[start] == MARK_DONE)
		return 0;
	push(walk, start);
	while (walk->depth) {
		size_t top = walk->stack[walk->depth - 1];
		const struct resource *resource = walk->all->items[top];
		size_t need;

		if (walk->next[top] == resource->need_count) {
			walk->marks[top] = MARK_DONE;
			order[(*count)++] = top;
			walk->depth--;
			continue;
		}
		need = resource->needs[walk->next[top]++]->index;
		if (walk->marks[need] == MARK_OPEN)
			return cycle_error(walk, need, err);
		if (walk->marks[need] == MARK_NEW)
			push(walk, need);
	}
	return 0;
}

int order_make(const struct resources *all, size_t *order, struct error *err)
{
	struct order_walk walk = { .all = all };
	size_t i, count = 0;
	int ret = 0;

	walk.marks = mem_alloc(all->count);
	walk.stack = mem_alloc(all->count * sizeof(*walk.stack));
	walk.next = mem_alloc(all->count * sizeof(*walk.next));
	for (i = 0; i < all->count && ret == 0; i++)
		ret = visit(&walk, i, order, &count, err);
	free(walk.marks);
	free(walk.stack);
	free(walk.next);
	return ret;
}
