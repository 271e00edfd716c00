/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/alloc.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK_MIN 1024
#define BLOCK_MAX 16384

struct arena_block {
	struct arena_block *next;
	size_t used;
	size_t size;
	max_align_t data[];
};

struct arena {
	struct arena_block *blocks; /* the newest first */
	size_t size;                /* of all blocks */
};

void mem_out(void)
{
	static const char text[] = "jobrun: out of memory\n";

	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(1);
	_exit(1);
}

static void *checked(void *memory)
{
	if (!memory)
		mem_out();
	return memory;
}

void *mem_alloc(size_t size)
{
	return checked(calloc(1, size ? size : 1));
}

void *mem_grow(void *old, size_t count, size_t size)
{
	return checked(reallocarray(old, count ? count : 1, size));
}

char *mem_strdup(const char *text)
{
	return checked(strdup(text));
}

char *mem_printf(const char *format, ...)
{
	va_list args;
	char *text = NULL;
	int len;

	va_start(args, format);
	len = vasprintf(&text, format, args);
	va_end(args);
	return checked(len < 0 ? NULL : text);
}

struct arena *arena_new(void)
{
	return mem_alloc(sizeof(struct arena));
}

void arena_free(struct arena *mem)
{
	struct arena_block *block, *next;

	if (!mem)
		return;
	for (block = mem->blocks; block; block = next) {
		next = block->next;
		free(block);
	}
	free(mem);
}

void *arena_alloc(struct arena *mem, size_t size)
{
	size_t unit = sizeof(max_align_t);
	struct arena_block *block = mem->blocks;
	size_t want = (size + unit - 1) / unit * unit;
	void *out;

	if (want < size)
		checked(NULL);
	if (!block || block->size - block->used < want) {
		/* Little is left unused of the last block, as there may be
		 * many thousand arenas with one small job in each. */
		size_t room = mem->size / 4;

		room = room < BLOCK_MIN ? BLOCK_MIN : room;
		room = room > BLOCK_MAX ? BLOCK_MAX : room;
		if (want > room)
			room = want;
		if (room > SIZE_MAX - sizeof(*block))
			checked(NULL);
		block = checked(malloc(sizeof(*block) + room));
		block->used = 0;
		block->size = room;
		block->next = mem->blocks;
		mem->blocks = block;
		mem->size += room;
	}
	out = (char *)block->data + block->used;
	block->used += want;
	return memset(out, 0, want);
}

char *arena_strndup(struct arena *mem, const char *text, size_t len)
{
	char *out = arena_alloc(mem, len + 1);

	memcpy(out, text, len);
	return out;
}

char *arena_strdup(struct arena *mem, const char *text)
{
	return arena_strndup(mem, text, strlen(text));
}

char *arena_printf(struct arena *mem, const char *format, ...)
{
	va_list args, again;
	char *out;
	int len;

	va_start(args, format);
	va_copy(again, args);
	len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	out = arena_alloc(mem, (size_t)(len < 0 ? 0 : len) + 1);
	vsnprintf(out, (size_t)(len < 0 ? 0 : len) + 1, format, again);
	va_end(again);
	return out;
}
