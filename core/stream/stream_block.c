/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a stream: blocks that are reused. */
#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/stream/stream_internal.h"

size_t blocks_of(uint64_t bytes)
{
	return (size_t)((bytes + BLOCK_SIZE - 1) / BLOCK_SIZE);
}

void block_queue_init(struct block_queue *queue)
{
	queue->first = NULL;
	queue->end = &queue->first;
}

void block_queue_add(struct block_queue *queue, struct stream_block *block)
{
	block->next = NULL;
	*queue->end = block;
	queue->end = &block->next;
}

struct stream_block *block_queue_take(struct block_queue *queue)
{
	struct stream_block *block = queue->first;

	if (!block)
		return NULL;
	queue->first = block->next;
	if (!queue->first)
		queue->end = &queue->first;
	return block;
}

struct stream_block *block_pool_take(struct block_pool *pool)
{
	struct stream_block *block = pool->idle;

	if (block)
		pool->idle = block->next;
	else /* not zeroed, so that only arriving data touches its pages */
		block = mem_grow(NULL, 1, sizeof(*block));
	block->next = NULL;
	block->len = 0;
	return block;
}

void block_pool_put(struct block_pool *pool, struct stream_block *block)
{
	block->next = pool->idle;
	pool->idle = block;
}

void block_pool_done(struct block_pool *pool)
{
	struct stream_block *block;

	while ((block = pool->idle)) {
		pool->idle = block->next;
		free(block);
	}
}
