/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One interface to objects in a store: a bucket, a web server, a directory.  An
 * object is a named run of bytes that appears at once and whole, or not at all.
 * A scheme, a table of calls, reaches one kind of store; providers/stores.h
 * lists them all and hands them in, so core calls none by name.
 *
 * Calls block, and may be made from several threads at once.  Failures are
 * ERROR_UNREACHABLE or ERROR_TRY_AGAIN where another try may help, after the
 * store's own tries.
 */
#ifndef JOBRUN_OBJECT_STORE_H
#define JOBRUN_OBJECT_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/net/retry.h"

/* Its texts are never NULL where it exists. */
struct object {
	bool exists;
	const char *url; /* "gs://bucket/a/b", "/srv/a/b" */
	uint64_t size_bytes;
	const char *version; /* of its contents; "" if the store knows none */
	const char *crc32c;  /* as crc32c_format() has it; "" if unknown */
};

/* Takes the next bytes, in order; perhaps on another thread: be quick.  -1:
 * give up. */
typedef int object_sink(void *arg, const char *data, size_t len);
/* Takes the next object of a list, valid during the call.  -1: give up. */
typedef int object_each(void *arg, const struct object *object,
			struct error *err);

struct object_put {
	const char *content_type; /* NULL: application/octet-stream */
	/* Replace an existing object.  Otherwise one may exist only with equal
	 * contents, which an earlier try left. */
	bool replace;
	/* Called when a transfer broke and will be retried after a while.
	 * NULL: no report. */
	void (*broken)(void *arg, const struct error *err);
	void *arg;
};

/* The resources a scheme may use. */
struct object_env {
	const char *trace_http; /* where requests are recorded, or NULL */
	const struct retry_policy *retry; /* of requests; NULL: the usual */
};

/* The calls are like those below. */
struct object_scheme {
	const char *prefix; /* "gs://"; "": all that is no URL */
	void *(*open)(const struct object_env *env, struct error *err);
	/* Fails with ERROR_NO_CREDENTIALS if nothing says how to get in.  NULL:
	 * it needs none. */
	int (*check)(void *ctx, struct error *err);
	void (*stop)(void *ctx); /* or NULL */
	void (*close)(void *ctx);
	int (*stat)(void *ctx, const char *url, struct arena *mem,
		    struct object *out, struct error *err);
	int (*read)(void *ctx, const struct object *object, uint64_t offset,
		    uint64_t len, object_sink *sink, void *arg,
		    struct error *err);
	/* These are NULL where objects can only be read. */
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

/* `schemes` up to NULL; borrowed, as is `env`.  A scheme is opened when it is
 * first used. */
struct object_store *
object_store_new(const struct object_scheme *const *schemes,
		 const struct object_env *env);
void object_store_free(struct object_store *store);
/* Makes calls that wait for others, now and later, fail soon with
 * ERROR_INTERRUPTED. */
void object_store_stop(struct object_store *store);

/* Whether there is a way in; asks nobody whether it leads there. */
int object_check(struct object_store *store, const char *url,
		 struct error *err);

/* Looks up an object; a missing one is no error.  Lives in `mem`. */
int object_stat(struct object_store *store, const char *url, struct arena *mem,
		struct object *out, struct error *err);

/*
 * Reads `len` bytes from `offset` of an object that object_stat() found, in
 * that version: it fails if the object was replaced.  A whole object is checked
 * against its CRC if that is known: then the failure comes after the last byte.
 */
int object_read(struct object_store *store, const struct object *object,
		uint64_t offset, uint64_t len, object_sink *sink, void *arg,
		struct error *err);

/* A regular file, from its start whatever its offset is.  `out` (or NULL) is
 * the new object, with its CRC; it lives in `mem`. */
int object_put(struct object_store *store, const char *url, int fd,
	       const struct object_put *how, struct arena *mem,
	       struct object *out, struct error *err);
/* The same for a text in memory. */
int object_put_text(struct object_store *store, const char *url,
		    const char *text, const struct object_put *how,
		    struct error *err);

/* All objects below a folder, in no certain order.  A folder that is not there
 * is empty. */
int object_list(struct object_store *store, const char *folder,
		object_each *each, void *arg, struct error *err);

/* Gone already is success. */
int object_remove(struct object_store *store, const char *url,
		  struct error *err);

#endif
