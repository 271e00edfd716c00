/* SPDX-License-Identifier: Apache-2.0 */
#include "core/stream/stream_tar.h"

#include <string.h>

/* Fields of a header: where they are, and their bytes. */
#define SIZE_AT 124
#define SIZE_LEN 12
#define SUM_AT 148
#define SUM_LEN 8
#define KIND_AT 156

void stream_tar_begin(struct stream_tar *tar)
{
	tar->is_tar = true;
	tar->header = 0;
	tar->have = 0;
	tar->count = 0;
}

/* Octal, or as GNU tar has it binary behind a set bit. */
static bool read_number(const char *at, size_t len, uint64_t *out)
{
	const unsigned char *digit = (const unsigned char *)at;
	bool is_binary = *digit == 0x80;
	uint64_t value = 0;
	size_t i;

	for (i = is_binary ? 1 : 0; i < len; i++) {
		if (value >> 54)
			return false;
		if (is_binary)
			value = value << 8 | digit[i];
		else if (digit[i] >= '0' && digit[i] <= '7')
			value = value << 3 | (digit[i] - '0');
		else if (digit[i] && digit[i] != ' ')
			return false;
	}
	*out = value;
	return true;
}

static bool has_its_sum(const char *block)
{
	const unsigned char *at = (const unsigned char *)block;
	uint64_t sum = (uint64_t)SUM_LEN * ' ', said;
	size_t i;

	for (i = 0; i < STREAM_TAR_BLOCK; i++)
		if (i < SUM_AT || i >= SUM_AT + SUM_LEN)
			sum += at[i];
	return read_number(block + SUM_AT, SUM_LEN, &said) && said == sum;
}

static bool is_zero(const char *block)
{
	return !*block && !memcmp(block, block + 1, STREAM_TAR_BLOCK - 1);
}

/* Links, devices and folders have no contents, whatever their size says. */
static bool has_contents(char kind)
{
	return kind < '1' || kind > '6';
}

static void pass_header(struct stream_tar *tar)
{
	uint64_t start = tar->header + STREAM_TAR_BLOCK, size = 0, end;
	size_t slot = tar->count % STREAM_TAR_MEMBERS;

	tar->have = 0;
	tar->header = start;
	if (is_zero(tar->block))
		return;
	if (!has_its_sum(tar->block) ||
	    !read_number(tar->block + SIZE_AT, SIZE_LEN, &size)) {
		tar->is_tar = false;
		return;
	}
	if (!size || !has_contents(tar->block[KIND_AT]))
		return;
	end = start + (size + STREAM_TAR_BLOCK - 1) / STREAM_TAR_BLOCK *
			      STREAM_TAR_BLOCK;
	tar->members[slot].start = start;
	tar->members[slot].end = end;
	tar->count++;
	tar->header = end;
}

void stream_tar_add(struct stream_tar *tar, uint64_t at, const char *data,
		    size_t len)
{
	uint64_t end = at + len, from;
	size_t n;

	while (tar->is_tar && tar->header + tar->have < end) {
		from = tar->header + tar->have;
		n = STREAM_TAR_BLOCK - tar->have;
		if (n > end - from)
			n = (size_t)(end - from);
		memcpy(tar->block + tar->have, data + (from - at), n);
		tar->have += n;
		if (tar->have == STREAM_TAR_BLOCK)
			pass_header(tar);
	}
}

uint64_t stream_tar_end(const struct stream_tar *tar, uint64_t end)
{
	uint64_t block = end / STREAM_TAR_BLOCK * STREAM_TAR_BLOCK;
	size_t i, slot;

	for (i = 0; tar->is_tar && i < tar->count && i < STREAM_TAR_MEMBERS;
	     i++) {
		slot = (tar->count - 1 - i) % STREAM_TAR_MEMBERS;
		if (tar->members[slot].start > block)
			continue;
		return block < tar->members[slot].end
			       ? end
			       : tar->members[slot].end - 1;
	}
	/* Before the first contents, nothing is better than a header. */
	return tar->is_tar && tar->count <= STREAM_TAR_MEMBERS ? 0 : end;
}
