/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cloud Storage: objects in, out, listed, composed and deleted.  Writes carry
 * a precondition, so that a repeated one is harmless; contents are checked by
 * CRC-32C both ways; what breaks in the middle goes on where it was.
 */
#ifndef JOBRUN_STORAGE_H
#define JOBRUN_STORAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/alloc.h"
#include "providers/google/google.h"

struct storage_object {
	bool exists;
	const char *name;
	uint64_t size;
	long long generation;
	const char *crc32c; /* as crc32c_format() has it; "" for none */
};

/* "gs://bucket/a/b" in parts, in `mem`; `object` may come out as "". */
int storage_url_parse(const char *url, struct arena *mem, const char **bucket,
		      const char **object, struct error *err);

/* Looks up an object; a missing one is no error. */
int storage_stat(struct google *google, const char *bucket, const char *object,
		 struct arena *mem, struct storage_object *out,
		 struct error *err);

struct storage_put {
	const char *content_type; /* NULL: application/octet-stream */
	/* The generation to replace: 0 if there must be none yet.  An existing
	 * object with these contents counts as ours. */
	long long generation;
	/* It has broken, and goes on after a while.  Or NULL. */
	void (*broken)(void *arg, const struct error *err);
	void *arg;
};

/*
 * Uploads a regular file, from its start whatever its offset is.  Fails with
 * ERROR_FAILED if another object is there.  `out` (or NULL) lives in `mem`.
 */
int storage_put_file(struct google *google, const char *bucket,
		     const char *object, int fd, const struct storage_put *how,
		     struct arena *mem, struct storage_object *out,
		     struct error *err);

/* The next bytes, in order.  On the HTTP client's thread: be quick.  -1: give
 * up. */
typedef int storage_sink(void *arg, const char *data, size_t len);

/*
 * `len` bytes from `offset` of the object that storage_stat() has found, of
 * that generation.  A whole object is checked against its CRC: ERROR_FAILED
 * comes after the last byte then.
 */
int storage_read(struct google *google, const char *bucket,
		 const struct storage_object *object, uint64_t offset,
		 uint64_t len, storage_sink *sink, void *arg,
		 struct error *err);

/* All objects below `prefix`, in their order; -1 from `each` ends it. */
int storage_list(struct google *google, const char *bucket, const char *prefix,
		 int (*each)(void *arg, const struct storage_object *object,
			     struct error *err),
		 void *arg, struct error *err);

/* This generation, or any (0).  Gone already is success. */
int storage_delete(struct google *google, const char *bucket,
		   const char *object, long long generation, struct error *err);

/* One object of up to 32 others, which replaces that generation (0: there must
 * be none yet).  One that is there instead and has these very contents is
 * taken for ours: an earlier answer was lost. */
#define STORAGE_COMPOSE_MAX 32
int storage_compose(struct google *google, const char *bucket,
		    const char *const *sources, size_t count,
		    const char *object, long long generation, struct arena *mem,
		    struct storage_object *out, struct error *err);

#endif
