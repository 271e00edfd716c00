/* SPDX-License-Identifier: Apache-2.0 */
#include "core/stream/stream_skip.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/data/sample_key.h"
#include "core/stream/stream_tar.h"

/* The most that headers which extend another may have. */
#define HEAD_MAX (1u << 20)
/* Lengths of the fields of a header that hold the name. */
#define NAME_LEN 100
#define PREFIX_AT 345
#define PREFIX_LEN 155

struct stream_skip {
	uint64_t samples; /* to leave out */
	uint64_t seen;    /* samples that have begun */
	uint64_t at;      /* bytes taken */
	/* Headers before a member's own, and that one as far as it was seen. */
	struct buf head;
	size_t header;     /* where in `head` the current header begins */
	uint64_t contents; /* bytes to pass until the next header */
	bool extends;      /* they are of a header that extends another */
	uint64_t size;     /* of these, without padding */
	char kind;         /* of the current header */
	/* For the next member, from headers that extend its own: */
	char *name; /* or NULL */
	uint64_t member_size;
	bool has_size;
	char *key; /* of the last sample, or NULL */
};

struct stream_skip *stream_skip_new(uint64_t samples)
{
	struct stream_skip *skip = mem_alloc(sizeof(*skip));

	skip->samples = samples;
	return skip;
}

void stream_skip_free(struct stream_skip *skip)
{
	if (!skip)
		return;
	buf_done(&skip->head);
	free(skip->name);
	free(skip->key);
	free(skip);
}

const struct buf *stream_skip_head(const struct stream_skip *skip)
{
	return &skip->head;
}

uint64_t stream_skip_left_out(const struct stream_skip *skip)
{
	return skip->at - skip->head.len;
}

static int refuse(const struct stream_skip *skip, const char *why,
		  struct error *err)
{
	return error_set(err, ERROR_FAILED,
			 "cannot resume after %llu samples: %s",
			 (unsigned long long)skip->samples, why);
}

/* Takes "LENGTH KEY=VALUE\n" records. */
static void take_pax(struct stream_skip *skip, const char *at, size_t len)
{
	const char *end = at + len;
	char *key;
	size_t n;

	while (at < end && (n = strtoul(at, &key, 10)) > 0 &&
	       n <= (size_t)(end - at) && key < at + n) {
		if (!strncmp(key, " path=", 6)) {
			free(skip->name);
			skip->name = mem_printf(
				"%.*s", (int)(at + n - 1 - (key + 6)), key + 6);
		} else if (!strncmp(key, " size=", 6)) {
			skip->member_size = strtoull(key + 6, NULL, 10);
			skip->has_size = true;
		}
		at += n;
	}
}

/* All contents of a header that extends another have been seen. */
static void take_extension(struct stream_skip *skip)
{
	const char *from = skip->head.data + skip->header + STREAM_TAR_BLOCK;

	if (skip->kind == 'x') {
		take_pax(skip, from, (size_t)skip->size);
	} else if (skip->kind == 'L') {
		free(skip->name);
		skip->name = mem_printf("%.*s", (int)skip->size, from);
	}
	skip->extends = false;
	skip->header = skip->head.len;
}

static char *name_of(const struct stream_skip *skip, const char *block)
{
	bool is_ustar = !memcmp(block + 257, "ustar", 6);

	if (skip->name)
		return mem_strdup(skip->name);
	if (is_ustar && block[PREFIX_AT])
		return mem_printf("%.*s/%.*s", PREFIX_LEN, block + PREFIX_AT,
				  NAME_LEN, block);
	return mem_printf("%.*s", NAME_LEN, block);
}

/* Whether the member is the first of a sample that is to be passed on. */
static bool is_wanted(struct stream_skip *skip, const char *block)
{
	bool is_file = skip->kind == '0' || !skip->kind || skip->kind == '7';
	char *name = is_file ? name_of(skip, block) : NULL;
	size_t len = name ? sample_key_len(name) : 0;
	bool begins = len && (!skip->key || strlen(skip->key) != len ||
			      memcmp(skip->key, name, len) != 0);

	if (!begins) {
		free(name);
		return false;
	}
	free(skip->key);
	name[len] = '\0';
	skip->key = name;
	return skip->seen++ == skip->samples;
}

/* Takes a whole header: 1 if the rest is wanted from here on. */
static int take_header(struct stream_skip *skip, struct error *err)
{
	static const char zeros[STREAM_TAR_BLOCK];
	const char *block = skip->head.data + skip->header;
	uint64_t size;

	if (!memcmp(block, zeros, sizeof(zeros)))
		return refuse(skip, "it has no more", err);
	if (!stream_tar_read_header(block, &skip->kind, &size))
		return refuse(skip, "it is not a tar file", err);
	if (skip->kind && strchr("xgLK", skip->kind)) {
		if (size > HEAD_MAX || skip->head.len > HEAD_MAX)
			return refuse(skip, "a header in it is too large", err);
		skip->extends = true;
		skip->size = size;
		skip->contents = stream_tar_contents(skip->kind, size);
		return 0;
	}
	if (skip->kind == 'S')
		return refuse(skip, "it has a sparse file", err);
	if (skip->has_size)
		size = skip->member_size;
	if (is_wanted(skip, block))
		return 1;
	skip->contents = stream_tar_contents(skip->kind, size);
	skip->has_size = false;
	free(skip->name);
	skip->name = NULL;
	buf_clear(&skip->head);
	skip->header = 0;
	return 0;
}

static size_t least(uint64_t a, uint64_t b)
{
	return (size_t)(a < b ? a : b);
}

/* Takes bytes of what extends a header, up to a whole block. */
static size_t add_extension(struct stream_skip *skip, const char *data,
			    size_t len)
{
	size_t n = least(skip->contents, len);

	buf_add(&skip->head, data, n);
	skip->contents -= n;
	return n;
}

int stream_skip_add(struct stream_skip *skip, const char *data, size_t len,
		    size_t *used, struct error *err)
{
	size_t n;
	int ret = 0;

	*used = 0;
	while (ret == 0 && *used < len) {
		n = len - *used;
		if (skip->extends) {
			n = add_extension(skip, data + *used, n);
		} else if (skip->contents) {
			n = least(skip->contents, n);
			skip->contents -= n;
		} else {
			n = least(STREAM_TAR_BLOCK -
					  (skip->head.len - skip->header),
				  n);
			buf_add(&skip->head, data + *used, n);
			if (skip->head.len - skip->header == STREAM_TAR_BLOCK)
				ret = take_header(skip, err);
		}
		*used += n;
		skip->at += n;
		if (skip->extends && !skip->contents)
			take_extension(skip);
	}
	return ret;
}
