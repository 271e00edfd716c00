/* SPDX-License-Identifier: Apache-2.0 */
#include "core/stream/stream_tar.h"

#include <stdlib.h>
#include <string.h>

/* Offsets and lengths of header fields. */
#define SIZE_AT 124
#define SIZE_LEN 12
#define SUM_AT 148
#define SUM_LEN 8
#define KIND_AT 156
/* GNU tar: another block of the sparse map follows. */
#define SPARSE_AT 482
#define SPARSE_NEXT_AT 504

void stream_tar_begin(struct stream_tar *tar, bool leaves_end)
{
	tar->is_tar = true;
	tar->begun = false;
	tar->leaves_end = leaves_end;
	tar->is_sparse = false;
	tar->zeros = 0;
	tar->header = 0;
	tar->have = 0;
	memset(&tar->pax, 0, sizeof(tar->pax));
	tar->count = 0;
}

/* Octal, or GNU tar's binary form, marked by the top bit. */
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

static size_t count_zeros(const char *data, size_t len)
{
	size_t n = 0;

	while (n < len && !data[n])
		n++;
	return n;
}

/* Links, devices and folders have no contents, whatever their size says. */
static bool has_contents(char kind)
{
	return kind < '1' || kind > '6';
}

static uint64_t whole_blocks(uint64_t size)
{
	return (size + STREAM_TAR_BLOCK - 1) / STREAM_TAR_BLOCK *
	       STREAM_TAR_BLOCK;
}

bool stream_tar_read_header(const char *block, char *kind, uint64_t *size)
{
	*kind = block[KIND_AT];
	return has_its_sum(block) &&
	       read_number(block + SIZE_AT, SIZE_LEN, size);
}

uint64_t stream_tar_contents(char kind, uint64_t size)
{
	return has_contents(kind) ? whole_blocks(size) : 0;
}

static void add_contents(struct stream_tar *tar, uint64_t size)
{
	size_t slot = tar->count % STREAM_TAR_MEMBERS;

	if (!size)
		return;
	tar->members[slot].start = tar->header;
	tar->members[slot].end = tar->header + whole_blocks(size);
	tar->header = tar->members[slot].end;
	tar->count++;
}

/* A size from a pax header applies to the member after it. */
static void pass_member(struct stream_tar *tar, char kind, uint64_t size)
{
	bool is_pax = kind == 'x' || kind == 'X';

	if (is_pax) {
		memset(&tar->pax, 0, sizeof(tar->pax));
		tar->pax.at = tar->header;
		tar->pax.end = tar->header + size;
	} else if (kind != 'g' && kind != 'L' && kind != 'K') {
		if (tar->pax.has_size)
			size = tar->pax.size;
		tar->pax.has_size = false;
	}
	if (kind == 'S' && tar->block[SPARSE_AT]) {
		tar->is_sparse = true;
		tar->sparse_size = size;
	} else if (has_contents(kind)) {
		add_contents(tar, size);
	}
}

static void pass_header(struct stream_tar *tar)
{
	uint64_t size = 0;
	char kind;

	tar->have = 0;
	tar->header += STREAM_TAR_BLOCK;
	if (tar->is_sparse) {
		tar->is_sparse = tar->block[SPARSE_NEXT_AT];
		if (!tar->is_sparse)
			add_contents(tar, tar->sparse_size);
		return;
	}
	if (count_zeros(tar->block, STREAM_TAR_BLOCK) == STREAM_TAR_BLOCK)
		return;
	tar->is_tar = stream_tar_read_header(tar->block, &kind, &size);
	if (!tar->is_tar)
		return;
	tar->begun = true;
	tar->zeros = 0;
	pass_member(tar, kind, size);
}

/* A record of a pax header: "LENGTH KEY=VALUE\n". */
static void end_record(struct stream_tar *tar)
{
	const char *at;
	uint64_t size = 0;

	tar->pax.text[sizeof(tar->pax.text) - 1] = '\0';
	at = strchr(tar->pax.text, ' ');
	if (at && !strncmp(at, " size=", 6)) {
		for (at += 6; *at >= '0' && *at <= '9' && !(size >> 54); at++)
			size = size * 10 + (uint64_t)(*at - '0');
		tar->pax.size = size;
		tar->pax.has_size = *at == '\n';
	}
	tar->pax.length = 0;
	tar->pax.seen = 0;
	memset(tar->pax.text, 0, sizeof(tar->pax.text));
}

static void add_pax(struct stream_tar *tar, const char *data, size_t len)
{
	for (; len; data++, len--) {
		if (tar->pax.seen < sizeof(tar->pax.text))
			tar->pax.text[tar->pax.seen] = *data;
		tar->pax.seen++;
		if (*data >= '0' && *data <= '9' && !tar->pax.length &&
		    tar->pax.seen < 10)
			continue;
		if (!tar->pax.length)
			tar->pax.length = strtoul(tar->pax.text, NULL, 10);
		if (tar->pax.seen >= tar->pax.length)
			end_record(tar);
	}
}

uint64_t stream_tar_next(const struct stream_tar *tar)
{
	return tar->pax.at < tar->pax.end ? tar->pax.at
					  : tar->header + tar->have;
}

/* Whether an end of the archive could begin at `at`. */
static bool may_end(const struct stream_tar *tar, uint64_t at)
{
	return tar->is_tar && tar->leaves_end && !tar->is_sparse &&
	       !tar->have && at == tar->header;
}

bool stream_tar_is_whole(const struct stream_tar *tar, uint64_t at)
{
	return at == tar->header && !tar->have && !tar->is_sparse;
}

static size_t least(uint64_t a, uint64_t b)
{
	return (size_t)(a < b ? a : b);
}

static void take(struct stream_tar *tar, const char *data, uint64_t len)
{
	size_t n;

	if (tar->pax.at < tar->pax.end) {
		n = least(len, tar->pax.end - tar->pax.at);
		add_pax(tar, data, n);
		tar->pax.at += n;
		return;
	}
	n = least(len, STREAM_TAR_BLOCK - tar->have);
	memcpy(tar->block + tar->have, data, n);
	tar->have += n;
	if (tar->have == STREAM_TAR_BLOCK)
		pass_header(tar);
}

size_t stream_tar_add(struct stream_tar *tar, uint64_t at, const char *data,
		      size_t len)
{
	uint64_t from;
	size_t n;

	while (tar->is_tar && (from = stream_tar_next(tar)) < at + len) {
		n = least(at + len - from, STREAM_TAR_BLOCK);
		if (may_end(tar, from) &&
		    count_zeros(data + (from - at), n) == n)
			return (size_t)(from - at);
		take(tar, data + (from - at), at + len - from);
	}
	return len;
}

size_t stream_tar_skip(struct stream_tar *tar, uint64_t at, const char *data,
		       size_t len, size_t *owed)
{
	size_t n, of_header;

	*owed = 0;
	if (!may_end(tar, at))
		return 0;
	n = count_zeros(data, len);
	tar->zeros += n;
	if (n == len)
		return n;
	of_header = (size_t)(tar->zeros % STREAM_TAR_BLOCK);
	tar->zeros -= of_header;
	if (of_header <= n)
		return n - of_header;
	*owed = of_header - n;
	return 0;
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
	/* Before the first contents, nothing is safer than a header. */
	return tar->is_tar && tar->count <= STREAM_TAR_MEMBERS ? 0 : end;
}
