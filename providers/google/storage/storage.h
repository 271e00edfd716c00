/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cloud Storage: uploads, downloads, lists, composes and deletes objects.
 * Writes carry a precondition, so that a repeated one is harmless; contents are
 * checked by CRC-32C in both directions; a broken transfer resumes where it
 * stopped.
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
	const char *crc32c; /* as by crc32c_format(); "" for none */
};

/* Splits "gs://bucket/a/b" into its parts, in `mem`; `object` may become "". */
int storage_url_parse(const char *url, struct arena *mem, const char **bucket,
		      const char **object, struct error *err);

/* Looks up an object; a missing one is no error. */
int storage_stat(struct google *google, const char *bucket, const char *object,
		 struct arena *mem, struct storage_object *out,
		 struct error *err);

struct storage_put {
	const char *content_type; /* NULL: application/octet-stream */
	/* The generation to replace: 0 if the object must not exist yet.  An
	 * existing object with these contents counts as ours. */
	long long generation;
	/* Reports that the upload broke and will be retried after a while.  Or
	 * NULL. */
	void (*broken)(void *arg, const struct error *err);
	void *arg;
};

/* Whether a file of that size is uploaded in one request. */
bool storage_is_small(uint64_t size);

/*
 * Uploads a regular file, from its start whatever its offset is.  Fails with
 * ERROR_FAILED if another object is there.  `out` (or NULL) lives in `mem`.
 */
int storage_put_file(struct google *google, const char *bucket,
		     const char *object, int fd, const struct storage_put *how,
		     struct arena *mem, struct storage_object *out,
		     struct error *err);

/* Takes the next bytes, in order, on the HTTP client's thread, so it must be
 * quick.  Returns -1 to give up. */
typedef int storage_sink(void *arg, const char *data, size_t len);

/*
 * Reads `len` bytes from `offset` of the generation of an object that
 * storage_stat() has found.  A read of the whole object is checked against its
 * CRC: ERROR_FAILED then comes after the last byte.
 */
int storage_read(struct google *google, const char *bucket,
		 const struct storage_object *object, uint64_t offset,
		 uint64_t len, storage_sink *sink, void *arg,
		 struct error *err);

/* Lists all objects below `prefix`, in the service's order; -1 from `each`
 * stops it. */
int storage_list(struct google *google, const char *bucket, const char *prefix,
		 int (*each)(void *arg, const struct storage_object *object,
			     struct error *err),
		 void *arg, struct error *err);

/* Deletes this generation, or any (0).  Already gone is success. */
int storage_delete(struct google *google, const char *bucket,
		   const char *object, long long generation, struct error *err);

/* Composes up to 32 objects into one, which replaces that generation (0: it
 * must not exist yet).  If another object with exactly these contents exists,
 * it counts as ours: an earlier answer was lost. */
#define STORAGE_COMPOSE_MAX 32
int storage_compose(struct google *google, const char *bucket,
		    const char *const *sources, size_t count,
		    const char *object, long long generation, struct arena *mem,
		    struct storage_object *out, struct error *err);

#endif
