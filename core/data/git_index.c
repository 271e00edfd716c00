/* SPDX-License-Identifier: Apache-2.0 */
#include "core/data/git_index.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/alloc.h"
#include "core/base/file.h"

#define INDEX_MAX ((size_t)128 << 20)
#define NAMES_PER_BYTE 8 /* of version 4, which compresses them */
#define NS_PER_S INT64_C(1000000000)
#define HEADER_SIZE 12
#define STAT_SIZE 40
#define EXTENSION_HEADER 8

/* Bits of an entry's flags, in the file. */
#define FLAG_UNCHECKED 0x8000
#define FLAG_EXTENDED 0x4000
#define FLAG_STAGE 0x3000
#define FLAG_NAME 0x0fff
#define EXTENDED_ABSENT 0x4000
#define EXTENDED_ADDED 0x2000

struct git_index {
	char *data;
	size_t len;
	size_t hash_size;
	unsigned version;
	struct git_entry *entries;
	size_t count;
	struct arena *names; /* entry names that are not in `data` verbatim */
	bool ahead;
	int64_t time_ns;
};

/* The state of reading an index. */
struct index_reader {
	struct git_index *index;
	const unsigned char *at, *end;
	const char *before; /* the name of the previous entry */
	/* an entry without a name: that is in another file */
	bool split;
	size_t names; /* bytes of decompressed names */
};

static uint32_t get_32(const unsigned char *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 |
	       (uint32_t)at[2] << 8 | at[3];
}

static unsigned get_16(const unsigned char *at)
{
	return (unsigned)at[0] << 8 | at[1];
}

static size_t left_of(const struct index_reader *in)
{
	return (size_t)(in->end - in->at);
}

/* Reads a name in versions 2 and 3: verbatim, then one to eight zeros. */
static const char *plain_name(struct index_reader *in,
			      const unsigned char *start)
{
	const char *name = (const char *)in->at;
	size_t n = strnlen(name, left_of(in));
	size_t whole = ((size_t)(in->at - start) + n + 8) & ~(size_t)7;

	if (n == left_of(in) || whole > (size_t)(in->end - start))
		return NULL;
	in->at = start + whole;
	return name;
}

/* Reads a name in version 4: how many bytes to drop from the previous name, and
 * the bytes to append. */
static const char *packed_name(struct index_reader *in)
{
	size_t before = strlen(in->before);
	size_t drop = 0, n;
	unsigned char c;
	char *name;

	do {
		if (in->at == in->end || drop > PATH_MAX)
			return NULL;
		c = *in->at++;
		drop = (drop << 7) + (c & 127) + (c & 128 ? 1 : 0);
	} while (c & 128);
	n = strnlen((const char *)in->at, left_of(in));
	if (drop > before || n == left_of(in) || before - drop + n >= PATH_MAX)
		return NULL;
	in->names += before - drop + n + 1;
	if (in->names > NAMES_PER_BYTE * in->index->len)
		return NULL;
	name = arena_alloc(in->index->names, before - drop + n + 1);
	memcpy(name, in->before, before - drop);
	memcpy(name + before - drop, in->at, n);
	in->at += n + 1;
	return name;
}

/* Whether the name is valid for Git, and leads nowhere else. */
static bool is_name(const char *name)
{
	size_t n;

	if (!*name)
		return false;
	for (; *name; name += n + (name[n] == '/')) {
		n = strcspn(name, "/");
		if (!n || (n == 1 && name[0] == '.') ||
		    (n == 2 && !memcmp(name, "..", 2)) ||
		    (n == 4 && !memcmp(name, ".git", 4)))
			return false;
	}
	return true;
}

static unsigned flags_of(unsigned flags, unsigned extended)
{
	return (flags & FLAG_UNCHECKED ? GIT_ENTRY_UNCHECKED : 0U) |
	       (flags & FLAG_STAGE ? GIT_ENTRY_CONFLICT : 0U) |
	       (extended & EXTENDED_ABSENT ? GIT_ENTRY_ABSENT : 0U) |
	       (extended & EXTENDED_ADDED ? GIT_ENTRY_ADDED : 0U);
}

static int read_entry(struct index_reader *in, struct git_entry *out)
{
	const struct git_index *index = in->index;
	const unsigned char *start = in->at;
	unsigned flags, extended = 0;
	size_t n;

	if (left_of(in) < STAT_SIZE + index->hash_size + 4)
		return -1;
	out->mtime_s = get_32(start + 8);
	out->mtime_ns = get_32(start + 12);
	out->mode = get_32(start + 24);
	out->size = get_32(start + 36);
	out->hash = start + STAT_SIZE;
	in->at += STAT_SIZE + index->hash_size;
	flags = get_16(in->at);
	in->at += 2;
	if (flags & FLAG_EXTENDED) {
		if (index->version < 3)
			return -1;
		extended = get_16(in->at);
		in->at += 2;
	}
	out->flags = flags_of(flags, extended);
	out->path =
		index->version == 4 ? packed_name(in) : plain_name(in, start);
	if (out->path && !*out->path && !(flags & FLAG_NAME)) {
		in->split = true;
		return 0;
	}
	if (!out->path || !is_name(out->path))
		return -1;
	n = strlen(out->path);
	if ((flags & FLAG_NAME) != (n < FLAG_NAME ? n : FLAG_NAME))
		return -1;
	/* Equal names are the sides of a conflict. */
	if (strcmp(in->before, out->path) > 0)
		return -1;
	in->before = out->path;
	return 0;
}

/* "TREE" begins with the top: "", 0, and in digits the number of entries, or -1
 * if they are not those of a tree that Git has made. */
static void read_tree(struct git_index *index, const unsigned char *at,
		      size_t len)
{
	index->ahead = len >= 3 && !memcmp(at, "\0-1", 3);
}

/* An extension with an upper-case name may be ignored; "sdir" only says that
 * the entries may include folders. */
static int read_extensions(struct index_reader *in, const char **unknown)
{
	while (left_of(in)) {
		const char *name = (const char *)in->at;
		size_t size;

		if (left_of(in) < EXTENSION_HEADER)
			return -1;
		size = get_32(in->at + 4);
		in->at += EXTENSION_HEADER;
		if (size > left_of(in))
			return -1;
		if (!memcmp(name, "TREE", 4))
			read_tree(in->index, in->at, size);
		else if (!memcmp(name, "link", 4))
			*unknown = "it is split, which 'git update-index "
				   "--no-split-index' undoes";
		else if ((name[0] < 'A' || name[0] > 'Z') &&
			 memcmp(name, "sdir", 4) != 0)
			*unknown = "it has a part unknown to this version";
		in->at += size;
	}
	return 0;
}

/* The file does not say how long its hashes are, but it parses to its end only
 * with the right size. */
static int read_all(struct git_index *index, size_t hash_size,
		    const char **unknown)
{
	const unsigned char *data = (const unsigned char *)index->data;
	struct index_reader in = { .index = index, .before = "" };
	size_t i;

	index->hash_size = hash_size;
	index->ahead = false;
	if (index->len < HEADER_SIZE + hash_size || memcmp(data, "DIRC", 4))
		return -1;
	index->version = get_32(data + 4);
	index->count = get_32(data + 8);
	in.at = data + HEADER_SIZE;
	in.end = data + index->len - hash_size;
	if (index->version < 2 || index->version > 4 ||
	    index->count > left_of(&in) / (STAT_SIZE + hash_size + 4))
		return -1;
	index->entries = mem_grow(index->entries, index->count + 1,
				  sizeof(*index->entries));
	memset(index->entries, 0, (index->count + 1) * sizeof(*index->entries));
	for (i = 0; i < index->count; i++)
		if (read_entry(&in, &index->entries[i]) < 0)
			return -1;
	if (read_extensions(&in, unknown) < 0)
		return -1;
	return in.split && !*unknown ? -1 : 0;
}

/* Takes the data.  Errors call it `name`. */
static struct git_index *parse(char *data, size_t len, const char *name,
			       struct error *err)
{
	struct git_index *index = mem_alloc(sizeof(*index));
	const char *unknown = NULL;

	index->data = data;
	index->len = len;
	index->names = arena_new();
	if (read_all(index, 20, &unknown) < 0) {
		unknown = NULL;
		if (read_all(index, GIT_HASH_MAX, &unknown) < 0)
			unknown = "it is damaged, or of an unknown version";
	}
	if (!unknown)
		return index;
	error_set(err, ERROR_INVALID, "cannot read '%s': %s", name, unknown);
	git_index_free(index);
	return NULL;
}

struct git_index *git_index_read(const char *git, struct error *err)
{
	char *path = path_join(git, "index");
	struct git_index *index = NULL;
	struct stat st;
	size_t len;
	char *data;

	if (stat(path, &st) < 0) {
		if (errno == ENOENT) {
			index = mem_alloc(sizeof(*index));
			index->hash_size = 20;
		} else {
			error_errno(err, "cannot read '%s'", path);
		}
		goto out;
	}
	data = file_read(path, INDEX_MAX, &len, err);
	if (data)
		index = parse(data, len, path, err);
	if (index)
		index->time_ns =
			st.st_mtim.tv_sec * NS_PER_S + st.st_mtim.tv_nsec;
out:
	free(path);
	return index;
}

void git_index_free(struct git_index *index)
{
	if (!index)
		return;
	if (index->names)
		arena_free(index->names);
	free(index->entries);
	free(index->data);
	free(index);
}

size_t git_index_count(const struct git_index *index)
{
	return index->count;
}

const struct git_entry *git_index_at(const struct git_index *index, size_t i)
{
	return &index->entries[i];
}

size_t git_index_hash_size(const struct git_index *index)
{
	return index->hash_size;
}

int64_t git_index_time_ns(const struct git_index *index)
{
	return index->time_ns;
}

bool git_index_is_ahead(const struct git_index *index)
{
	return index->ahead;
}

/* The first entry whose path is not before PATH, or not before PATH and a
 * slash. */
static size_t first_from(const struct git_index *index, const char *path,
			 bool below)
{
	size_t low = 0, high = index->count, n = strlen(path);

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const char *at = index->entries[middle].path;
		int order = below ? strncmp(at, path, n) : strcmp(at, path);

		if (!order && below)
			order = (unsigned char)at[n] - '/';
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct git_entry *git_index_find(const struct git_index *index,
				       const char *path)
{
	size_t i = first_from(index, path, false);

	if (i == index->count || strcmp(index->entries[i].path, path) != 0)
		return NULL;
	return &index->entries[i];
}

bool git_index_has_folder(const struct git_index *index, const char *path)
{
	const struct git_entry *entry = git_index_find(index, path);
	size_t i = first_from(index, path, true), n = strlen(path);

	if (entry && (entry->mode & GIT_MODE_TYPE) == GIT_MODE_MODULE)
		return true;
	return i < index->count && !strncmp(index->entries[i].path, path, n) &&
	       index->entries[i].path[n] == '/';
}
