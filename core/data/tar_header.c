/* SPDX-License-Identifier: Apache-2.0 */
#include "core/data/tar_header.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/base/text.h"

#define NAME_SIZE 100
#define PREFIX_SIZE 155
/* Eleven octal digits. */
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
	char type;
	char target[100];
	char magic[6];
	char version[2];
	char user[32];
	char group[32];
	char device_major[8];
	char device_minor[8];
	char prefix[PREFIX_SIZE];
	char unused[12];
};

/* Where a path that is too long for the name is divided: at a slash that
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

static void put_path(struct ustar *head, const char *path, size_t len)
{
	const char *slash;

	if (len <= NAME_SIZE) {
		memcpy(head->name, path, len);
		return;
	}
	slash = find_division(path, len);
	if (slash) {
		memcpy(head->prefix, path, (size_t)(slash - path));
		memcpy(head->name, slash + 1, len - (size_t)(slash + 1 - path));
	} else { /* the whole is in the pax header */
		memcpy(head->name, path, NAME_SIZE);
	}
}

static void put_header(char *to, char type, const char *path, size_t len,
		       uint64_t size_bytes)
{
	struct ustar *head = (struct ustar *)to;
	unsigned sum = 0;
	size_t i;

	_Static_assert(sizeof(*head) == TAR_BLOCK, "ustar has blocks");
	memset(head, 0, sizeof(*head));
	put_path(head, path, len);
	memcpy(head->mode, "000644 ", 7);
	memcpy(head->uid, "000000 ", 7);
	memcpy(head->gid, "000000 ", 7);
	put_octal(head->size, 11, size_bytes);
	head->size[11] = ' ';
	memcpy(head->mtime, "00000000000 ", 12);
	/* The sum counts itself as blanks. */
	memcpy(head->checksum, "        ", 8);
	head->type = type;
	memcpy(head->magic, "ustar", 6);
	memcpy(head->version, "00", 2);
	memcpy(head->device_major, "000000 ", 7);
	memcpy(head->device_minor, "000000 ", 7);
	for (i = 0; i < TAR_BLOCK; i++)
		sum += (unsigned char)to[i];
	put_octal(head->checksum, 6, sum);
	head->checksum[6] = '\0';
}

/* "LEN KEY=VALUE\n", where LEN counts itself. */
static size_t record_size(size_t key, size_t value)
{
	size_t rest = key + value + 3; /* " =\n" */
	size_t len = rest + 1, limit = 10;

	while (len >= limit) {
		len++;
		limit *= 10;
	}
	return len;
}

static size_t pax_size(const char *path, size_t len, uint64_t size_bytes)
{
	size_t size = 0;

	if (!path_fits(path, len)) {
		size += record_size(strlen("path"), len);
		if (!text_is_utf8(path))
			size += strlen(BINARY);
	}
	if (size_bytes > SIZE_LARGEST)
		size += record_size(
			strlen("size"),
			(size_t)snprintf(NULL, 0, "%llu",
					 (unsigned long long)size_bytes));
	return size;
}

static size_t put_pax(char *to, const char *path, size_t len,
		      uint64_t size_bytes, size_t size)
{
	size_t padding = tar_padding(size);
	char *p = to + TAR_BLOCK;
	char digits[24];

	put_header(to, 'x', PAX_NAME, strlen(PAX_NAME), size);
	if (!path_fits(path, len)) {
		/* Records are UTF-8 unless they say that they are not. */
		if (!text_is_utf8(path))
			p = stpcpy(p, BINARY);
		p += sprintf(p, "%zu path=%s\n",
			     record_size(strlen("path"), len), path);
	}
	if (size_bytes > SIZE_LARGEST) {
		int n = snprintf(digits, sizeof(digits), "%llu",
				 (unsigned long long)size_bytes);

		p += sprintf(p, "%zu size=%s\n",
			     record_size(strlen("size"), (size_t)n), digits);
	}
	memset(p, 0, padding);
	return TAR_BLOCK + size + padding;
}

size_t tar_padding(uint64_t size_bytes)
{
	return (size_t)(-size_bytes & (TAR_BLOCK - 1));
}

size_t tar_header_size(const char *path, uint64_t size_bytes)
{
	size_t pax = pax_size(path, strlen(path), size_bytes);

	return TAR_BLOCK + (pax ? TAR_BLOCK + pax + tar_padding(pax) : 0);
}

size_t tar_header_write(char *to, const char *path, uint64_t size_bytes)
{
	size_t len = strlen(path);
	size_t pax = pax_size(path, len, size_bytes);
	size_t used = pax ? put_pax(to, path, len, size_bytes, pax) : 0;

	/* A size that does not fit is in the pax header; here it is 0, as
	 * GNU tar and Python have it. */
	put_header(to + used, '0', path, len,
		   size_bytes > SIZE_LARGEST ? 0 : size_bytes);
	return used + TAR_BLOCK;
}
