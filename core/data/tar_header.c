/* SPDX-License-Identifier: Apache-2.0 */
#include "core/data/tar_header.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/base/text.h"

#define NAME_SIZE 100
#define PREFIX_SIZE 155
#define TARGET_SIZE 100
/* Eleven octal digits hold this. */
#define SIZE_LARGEST ((UINT64_C(1) << 33) - 1)
#define PAX_NAME "PaxHeaders/x"
#define BINARY "21 hdrcharset=BINARY\n"

/* https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html */
struct ustar {
	char name[NAME_SIZE];
	char mode[8];
	char uid[8];
	char gid[8];
	char size[12];
	char mtime[12];
	char checksum[8];
	char kind;
	char target[TARGET_SIZE];
	char magic[6];
	char version[2];
	char user[32];
	char group[32];
	char device_major[8];
	char device_minor[8];
	char prefix[PREFIX_SIZE];
	char unused[12];
};

/* Where to divide a path that is too long for the name field: at a slash that
 * leaves both parts short enough.  NULL if there is none. */
static const char *find_division(const char *path, size_t len)
{
	const char *at = path + len - NAME_SIZE - 1;

	if (len > PREFIX_SIZE + 1 + NAME_SIZE)
		return NULL;
	at = strchr(at < path + 1 ? path + 1 : at, '/');
	return at && at - path <= PREFIX_SIZE && at[1] ? at : NULL;
}

static bool path_fits(const char *path, size_t len)
{
	return len <= NAME_SIZE || find_division(path, len);
}

static void put_octal(char *to, size_t digits, uint64_t value)
{
	for (; digits; value >>= 3)
		to[--digits] = (char)('0' + (value & 7));
}

static void put_path(struct ustar *block, const char *path, size_t len)
{
	const char *slash;

	if (len <= NAME_SIZE) {
		memcpy(block->name, path, len);
		return;
	}
	slash = find_division(path, len);
	if (slash) {
		memcpy(block->prefix, path, (size_t)(slash - path));
		memcpy(block->name, slash + 1,
		       len - (size_t)(slash + 1 - path));
	} else { /* the pax header has the whole path */
		memcpy(block->name, path, NAME_SIZE);
	}
}

static void put_header(char *to, char kind, const struct tar_head *head,
		       size_t len)
{
	struct ustar *block = (struct ustar *)to;
	unsigned sum = 0;
	size_t i;

	_Static_assert(sizeof(*block) == TAR_BLOCK, "ustar has blocks");
	memset(block, 0, sizeof(*block));
	put_path(block, head->path, len);
	put_octal(block->mode, 6, head->mode);
	block->mode[6] = ' ';
	memcpy(block->uid, "000000 ", 7);
	memcpy(block->gid, "000000 ", 7);
	/* A size that does not fit is in the pax header; here it is 0, as in
	 * GNU tar and Python. */
	put_octal(block->size, 11,
		  head->size_bytes > SIZE_LARGEST ? 0 : head->size_bytes);
	block->size[11] = ' ';
	put_octal(block->mtime, 11, head->time_s);
	block->mtime[11] = ' ';
	/* The sum counts its own field as blanks. */
	memcpy(block->checksum, "        ", 8);
	block->kind = kind;
	if (head->target)
		memcpy(block->target, head->target,
		       strnlen(head->target, TARGET_SIZE));
	memcpy(block->magic, "ustar", 6);
	memcpy(block->version, "00", 2);
	memcpy(block->device_major, "000000 ", 7);
	memcpy(block->device_minor, "000000 ", 7);
	for (i = 0; i < TAR_BLOCK; i++)
		sum += (unsigned char)to[i];
	put_octal(block->checksum, 6, sum);
	block->checksum[6] = '\0';
}

/* ---- pax --------------------------------------------------------------- */

/* "LEN KEY=VALUE\n", where LEN counts itself. */
static size_t record_size(const char *key, size_t value_len)
{
	size_t rest = strlen(key) + value_len + 3; /* " =\n" */
	size_t len = rest + 1, limit = 10;

	while (len >= limit) {
		len++;
		limit *= 10;
	}
	return len;
}

/* Values that do not fit into the ustar header. */
struct extra {
	bool path, target, size;
	bool binary; /* records are UTF-8 unless they say that they are not */
	char digits[24];
	size_t bytes; /* of all records; 0: no records */
};

static void find_extra(const struct tar_head *head, size_t len,
		       struct extra *out)
{
	size_t target_len = head->target ? strlen(head->target) : 0;

	*out = (struct extra){
		.path = !path_fits(head->path, len),
		.target = target_len > TARGET_SIZE,
		.size = head->size_bytes > SIZE_LARGEST,
	};
	if (out->path)
		out->bytes += record_size("path", len);
	if (out->target)
		out->bytes += record_size("linkpath", target_len);
	if (out->size)
		out->bytes += record_size(
			"size",
			(size_t)snprintf(out->digits, sizeof(out->digits),
					 "%llu",
					 (unsigned long long)head->size_bytes));
	if ((out->path && !text_is_utf8(head->path)) ||
	    (out->target && !text_is_utf8(head->target))) {
		out->binary = true;
		out->bytes += strlen(BINARY);
	}
}

static char *put_record(char *to, const char *key, const char *value)
{
	return to + sprintf(to, "%zu %s=%s\n", record_size(key, strlen(value)),
			    key, value);
}

static size_t put_pax(char *to, const struct tar_head *head,
		      const struct extra *extra)
{
	const struct tar_head pax = { .path = PAX_NAME,
				      .mode = 0644,
				      .size_bytes = extra->bytes };
	size_t padding = tar_padding(extra->bytes);
	char *p = to + TAR_BLOCK;

	put_header(to, 'x', &pax, strlen(PAX_NAME));
	if (extra->binary)
		p = stpcpy(p, BINARY);
	if (extra->path)
		p = put_record(p, "path", head->path);
	if (extra->target)
		p = put_record(p, "linkpath", head->target);
	if (extra->size)
		p = put_record(p, "size", extra->digits);
	memset(p, 0, padding);
	return TAR_BLOCK + extra->bytes + padding;
}

/* ---- both -------------------------------------------------------------- */

size_t tar_padding(uint64_t size_bytes)
{
	return (size_t)(-size_bytes & (TAR_BLOCK - 1));
}

size_t tar_header_size(const struct tar_head *head)
{
	struct extra extra;

	find_extra(head, strlen(head->path), &extra);
	if (!extra.bytes)
		return TAR_BLOCK;
	return 2 * TAR_BLOCK + extra.bytes + tar_padding(extra.bytes);
}

size_t tar_header_write(char *to, const struct tar_head *head)
{
	size_t len = strlen(head->path), used = 0;
	struct extra extra;

	find_extra(head, len, &extra);
	if (extra.bytes)
		used = put_pax(to, head, &extra);
	put_header(to + used, (char)head->kind, head, len);
	return used + TAR_BLOCK;
}
