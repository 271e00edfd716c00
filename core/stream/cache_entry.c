/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and writes an object in a cache:
 *
 *	4096 bytes	a line with a checksum of the rest of them, and the
 *			object's identity as JSON, up to a NUL
 *	for each block	its CACHE_BLOCK bytes (fewer for the last one), and in
 *			4 bytes, least significant first, the CRC-32C of these
 *			and of the block's number in 8 bytes
 *
 * The header is written last.
 */
#include "core/stream/cache_internal.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/crc32c.h"
#include "core/base/json.h"

#define HEADER_SIZE 4096u
#define MAGIC "jobrun cache 1 "
#define MAGIC_LEN 15u
/* The line: magic, checksum and newline. */
#define LINE_LEN (MAGIC_LEN + 9)
#define SUM_SIZE 4u

struct cache_entry {
	struct cache *cache;
	int fd;
	char name[CACHE_NAME_SIZE];
	json_t *header;
	struct cache_version version; /* borrows from `header` */
};

struct cache_writer {
	struct cache *cache;
	int fd;
	bool failed;
	bool ended;
	char name[CACHE_NAME_SIZE]; /* while it is being written */
	char entry[CACHE_NAME_SIZE];
	uint64_t size, at;
	uint32_t crc;   /* of the blocks before this one */
	uint32_t block; /* of this one */
};

static uint64_t blocks_in(uint64_t size)
{
	return size / CACHE_BLOCK + (size % CACHE_BLOCK ? 1 : 0);
}

static uint64_t file_size(uint64_t size)
{
	return HEADER_SIZE + size + blocks_in(size) * SUM_SIZE;
}

static off_t offset_of(uint64_t at)
{
	return (off_t)(HEADER_SIZE + at + at / CACHE_BLOCK * SUM_SIZE);
}

/* Includes the number, so that a valid block in another's place counts as
 * damage. */
static uint32_t sum_of(uint32_t crc, uint64_t number)
{
	uint64_t word = htole64(number);

	return crc32c_add(crc, &word, sizeof(word));
}

static int pread_all(int fd, struct iovec *pieces, int count, size_t len,
		     off_t offset)
{
	ssize_t n;

	do {
		n = preadv(fd, pieces, count, offset);
	} while (n < 0 && errno == EINTR);
	/* A regular file is read short only at its end. */
	return n >= 0 && (size_t)n == len ? 0 : -1;
}

static int pwrite_all(int fd, const void *data, size_t len, off_t offset)
{
	const char *at = data;

	while (len) {
		ssize_t n = pwrite(fd, at, len, offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		at += n;
		len -= (size_t)n;
		offset += n;
	}
	return 0;
}

static int read_version(struct cache_entry *entry)
{
	const json_t *from = entry->header;
	struct cache_version *version = &entry->version;
	const char *name = json_get_text(from, "name", "");
	long long size = json_get_int(from, "size", -1);
	struct stat st;
	uint32_t crc;

	version->size = (uint64_t)size;
	version->etag = json_get_text(from, "etag", NULL);
	version->modified = json_get_text(from, "modified", NULL);
	version->generation = json_get_text(from, "generation", NULL);
	version->crc32c = json_get_text(from, "crc32c", NULL);
	return size > 0 && !strcmp(name, entry->name) && version->crc32c &&
			       crc32c_parse(version->crc32c, &crc) == 0 &&
			       fstat(entry->fd, &st) == 0 &&
			       (uint64_t)st.st_size == file_size((uint64_t)size)
		       ? 0
		       : -1;
}

static int read_header(struct cache_entry *entry)
{
	char header[HEADER_SIZE + 1] = "";
	const char *text = header + LINE_LEN;
	struct iovec piece = { .iov_base = header, .iov_len = HEADER_SIZE };
	struct error unused;
	uint32_t crc = 0;

	if (pread_all(entry->fd, &piece, 1, HEADER_SIZE, 0) < 0 ||
	    memcmp(header, MAGIC, MAGIC_LEN) != 0 ||
	    header[LINE_LEN - 1] != '\n')
		return -1;
	header[LINE_LEN - 1] = '\0';
	if (crc32c_parse(header + MAGIC_LEN, &crc) < 0 ||
	    crc != crc32c_add(0, text, HEADER_SIZE - LINE_LEN))
		return -1;
	entry->header = json_read(text, strlen(text), "header", &unused);
	return entry->header ? read_version(entry) : -1;
}

struct cache_entry *cache_find(struct cache *cache, const char *url)
{
	static const struct timespec now[2] = {
		{ .tv_nsec = UTIME_OMIT },
		{ .tv_nsec = UTIME_NOW },
	};
	struct cache_entry *entry = mem_alloc(sizeof(*entry));

	entry->cache = cache;
	entry->fd = -1;
	cache_name(url, entry->name);
	entry->fd = openat(cache->fd, entry->name,
			   O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (entry->fd < 0)
		goto none;
	if (read_header(entry) < 0) {
		cache_entry_discard(entry);
		return NULL;
	}
	futimens(entry->fd, now);
	return entry;
none:
	cache_entry_close(entry);
	return NULL;
}

void cache_entry_close(struct cache_entry *entry)
{
	if (!entry)
		return;
	if (entry->fd >= 0)
		close(entry->fd);
	json_decref(entry->header);
	free(entry);
}

const struct cache_version *cache_entry_version(const struct cache_entry *entry)
{
	return &entry->version;
}

int cache_entry_read(struct cache_entry *entry, uint64_t number,
		     char data[CACHE_BLOCK], size_t *len)
{
	uint64_t at = number * CACHE_BLOCK, left = entry->version.size - at;
	uint32_t sum;
	struct iovec pieces[2] = {
		{ .iov_base = data },
		{ .iov_base = &sum, .iov_len = sizeof(sum) },
	};

	*len = left < CACHE_BLOCK ? (size_t)left : CACHE_BLOCK;
	pieces[0].iov_len = *len;
	if (pread_all(entry->fd, pieces, 2, *len + SUM_SIZE, offset_of(at)) < 0)
		return -1;
	return le32toh(sum) == sum_of(crc32c_add(0, data, *len), number) ? 0
									 : -1;
}

void cache_entry_discard(struct cache_entry *entry)
{
	cache_delete(entry->cache, entry->name, entry->fd);
	cache_entry_close(entry);
}

struct cache_writer *cache_writer_new(struct cache *cache, const char *url,
				      uint64_t size)
{
	struct cache_writer *writer = mem_alloc(sizeof(*writer));

	writer->cache = cache;
	writer->size = size;
	writer->fd = -1;
	cache_name(url, writer->entry);
	if (size && size < INT64_MAX / 2)
		writer->fd =
			cache_reserve(cache, file_size(size), writer->name);
	if (writer->fd < 0) {
		free(writer);
		return NULL;
	}
	return writer;
}

static void fail(struct cache_writer *writer)
{
	struct error why;

	error_errno(&why, "cannot write to '%s'", writer->cache->folder);
	cache_note(writer->cache, &why);
	writer->failed = true;
}

/* Adds bytes within one block. */
static void add_some(struct cache_writer *writer, const char *data, size_t len)
{
	uint64_t number = writer->at / CACHE_BLOCK, from, sum_at;
	uint32_t sum;

	if (pwrite_all(writer->fd, data, len, offset_of(writer->at)) < 0) {
		fail(writer);
		return;
	}
	writer->block = crc32c_add(writer->block, data, len);
	writer->at += len;
	if (writer->at % CACHE_BLOCK && writer->at < writer->size)
		return;
	from = number * CACHE_BLOCK;
	sum_at = (uint64_t)offset_of(from) + (writer->at - from);
	sum = htole32(sum_of(writer->block, number));
	if (pwrite_all(writer->fd, &sum, sizeof(sum), (off_t)sum_at) < 0)
		fail(writer);
	writer->crc =
		crc32c_join(writer->crc, writer->block, writer->at - from);
	writer->block = 0;
}

void cache_writer_add(struct cache_writer *writer, const void *data, size_t len)
{
	const char *at = data;

	for (size_t n; len && !writer->failed; at += n, len -= n) {
		n = CACHE_BLOCK - (size_t)(writer->at % CACHE_BLOCK);
		if (n > len)
			n = len;
		if (n > writer->size - writer->at) {
			writer->failed = true;
			return;
		}
		add_some(writer, at, n);
	}
}

static json_t *describe(const struct cache_writer *writer,
			const struct cache_version *version)
{
	json_t *out = json_object();
	char crc[9];

	crc32c_format(writer->crc, crc);
	json_put_text(out, "name", writer->entry);
	json_put_int(out, "size", (long long)writer->size);
	json_put_text(out, "crc32c", crc);
	if (version->etag)
		json_put_text(out, "etag", version->etag);
	if (version->modified)
		json_put_text(out, "modified", version->modified);
	if (version->generation)
		json_put_text(out, "generation", version->generation);
	return out;
}

static int write_header(struct cache_writer *writer,
			const struct cache_version *version)
{
	char header[HEADER_SIZE] = "", crc[9];
	json_t *what = describe(writer, version);
	char *text = json_canonical(what);
	size_t len = strlen(text);
	int ret = -1;

	/* An object with a longer tag is not kept. */
	if (len < HEADER_SIZE - LINE_LEN) {
		memcpy(header + LINE_LEN, text, len);
		crc32c_format(crc32c_add(0, header + LINE_LEN,
					 HEADER_SIZE - LINE_LEN),
			      crc);
		memcpy(header, MAGIC, MAGIC_LEN);
		memcpy(header + MAGIC_LEN, crc, 8);
		header[LINE_LEN - 1] = '\n';
		ret = pwrite_all(writer->fd, header, sizeof(header), 0);
		if (ret < 0)
			fail(writer);
	}
	json_decref(what);
	free(text);
	return ret;
}

void cache_writer_end(struct cache_writer *writer,
		      const struct cache_version *version)
{
	if (!writer->failed && writer->at == writer->size &&
	    write_header(writer, version) == 0 &&
	    cache_publish(writer->cache, writer->name, writer->entry) == 0)
		writer->ended = true;
}

void cache_writer_free(struct cache_writer *writer)
{
	if (!writer)
		return;
	if (!writer->ended)
		cache_delete(writer->cache, writer->name, writer->fd);
	close(writer->fd);
	free(writer);
}
