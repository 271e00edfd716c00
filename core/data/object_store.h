/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One interface to objects in a store: a bucket, a web server, a directory.  An
 * object is a named byte string that appears at once and complete, or not at
 * all.  A scheme, a table of calls, reaches one kind of store;
 * providers/stores.h lists all schemes and passes them in, so core names none.
 *
 * Calls block, and may be made from several threads at once.  After the store's
 * own retries, failures are ERROR_UNREACHABLE or ERROR_TRY_AGAIN if another try
 * may help.
 */
#ifndef JOBRUN_OBJECT_STORE_H
#define JOBRUN_OBJECT_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/net/retry.h"

/* Strings of an existing object are never NULL. */
struct object {
	bool exists;
	const char *url; /* "gs://bucket/a/b", "/srv/a/b" */
	uint64_t size_bytes;
	/* of its contents; "" if the store has no versions */
	const char *version;
	const char *crc32c; /* as by crc32c_format(); "" if unknown */
};

/* Takes the next bytes, in order, maybe on another thread, and must return
 * quickly.  Returns -1 to stop. */
typedef int object_sink(void *arg, const char *data, size_t len);
/* Takes the next object of a list, valid during the call.  Returns -1 to
 * stop. */
typedef int object_each(void *arg, const struct object *object,
			struct error *err);

struct object_put {
	const char *content_type; /* NULL: application/octet-stream */
	/* Replaces an existing object.  Otherwise an existing object is an
	 * error unless its contents are equal, left by an earlier try. */
	bool replace;
	/* Only buckets: replaces this version and no other ("": there must be
	 * none).  NULL: as `replace` says. */
	const char *version;
	/* Called when a transfer broke and will be retried after a while.
	 * NULL: no report. */
	void (*broken)(void *arg, const struct error *err);
	void *arg;
};

/* The resources a scheme may use. */
struct object_env {
	const char *trace_http; /* the file that records requests, or NULL */
	const struct retry_policy *retry; /* for requests; NULL: the default */
};

/* The calls match the functions below. */
struct object_scheme {
	const char *prefix; /* "gs://"; "": everything that is not a URL */
	void *(*open)(const struct object_env *env, struct error *err);
	/* Fails with ERROR_NO_CREDENTIALS if none are configured.  NULL: the
	 * scheme needs none. */
	int (*check)(void *ctx, struct error *err);
	void (*stop)(void *ctx); /* or NULL */
	void (*close)(void *ctx);
	int (*stat)(void *ctx, const char *url, struct arena *mem,
		    struct object *out, struct error *err);
	int (*read)(void *ctx, const struct object *object, uint64_t offset,
		    uint64_t len, object_sink *sink, void *arg,
		    struct error *err);
	/* These are NULL in read-only schemes. */
	int (*put)(void *ctx, const char *url, int fd,
		   const struct object_put *how, struct arena *mem,
		   struct object *out, struct error *err);
	int (*list)(void *ctx, const char *folder, object_each *each, void *arg,
		    struct error *err);
	int (*remove)(void *ctx, const char *url, struct error *err);
};

/* Directories of this machine: object_folder.c. */
extern const struct object_scheme object_scheme_folder;

struct object_store;

/* `schemes` is NULL-terminated; borrowed, as is `env`.  A scheme is opened when
 * first used. */
struct object_store *
object_store_new(const struct object_scheme *const *schemes,
		 const struct object_env *env);
void object_store_free(struct object_store *store);
/* Makes current and later calls that wait for others fail soon with
 * ERROR_INTERRUPTED. */
void object_store_stop(struct object_store *store);

/* Whether credentials are configured; does not ask the store. */
int object_check(struct object_store *store, const char *url,
		 struct error *err);

/* Looks up an object; a missing one is no error.  The result lives in `mem`. */
int object_stat(struct object_store *store, const char *url, struct arena *mem,
		struct object *out, struct error *err);

/*
 * Reads `len` bytes from `offset` of the version of an object that
 * object_stat() found; fails if the object was replaced.  A read of the whole
 * object is checked against the CRC if that is known: the failure then comes
 * after the last byte.
 */
int object_read(struct object_store *store, const struct object *object,
		uint64_t offset, uint64_t len, object_sink *sink, void *arg,
		struct error *err);

/* Uploads a regular file from its start, whatever its offset is.  `out` (or
 * NULL) is the new object, with its CRC; it lives in `mem`. */
int object_put(struct object_store *store, const char *url, int fd,
	       const struct object_put *how, struct arena *mem,
	       struct object *out, struct error *err);
/* The same for a string in memory. */
int object_put_text(struct object_store *store, const char *url,
		    const char *text, const struct object_put *how,
		    struct error *err);

/* Lists all objects below a folder, in no particular order.  A missing folder
 * is empty. */
int object_list(struct object_store *store, const char *folder,
		object_each *each, void *arg, struct error *err);

/* A missing object is no error. */
int object_remove(struct object_store *store, const char *url,
		  struct error *err);

#endif
