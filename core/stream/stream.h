/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects, one after the other, as one stream of bytes: files, standard input,
 * http(s):// URLs, and what a scheme knows (gs://).  Objects that come over the
 * network are read ahead, in parts and on several connections at once, into
 * memory that has a limit; a part that breaks resumes where it stopped.
 *
 * The output is right, or it ends in an error.  Every answer must be of the
 * object that the first one was of (its generation, ETag, time and size), and
 * of the range that was asked for.  The last STREAM_HELD_BYTES of an object are
 * written once all of it is there and its checksums are right; up to then the
 * stream never ends at a multiple of 512 bytes of the object.  A tar file that
 * breaks therefore has no end-of-archive marker, and ends within the contents
 * of a member.
 *
 * A cache serves an object that it has if the index vouches for it, or its
 * server when asked; an object from a server is kept if the server names its
 * version (a strong ETag, a generation) or the index does.
 */
#ifndef JOBRUN_STREAM_H
#define JOBRUN_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/stream/cache.h"
#include "core/net/http.h"

#define STREAM_SIZE_UNKNOWN UINT64_MAX
/* The least that `read_ahead` may be. */
#define STREAM_READ_AHEAD_MIN (1u << 20)
/* More than a record of tar, which its end-of-archive marker fills up. */
#define STREAM_HELD_BYTES 16384u

struct stream_object {
	const char *url;    /* or a path, or "-" */
	uint64_t size;      /* or STREAM_SIZE_UNKNOWN */
	const char *crc32c; /* as crc32c_format() has it; NULL: not known */
	const char *sha256; /* in hex; NULL: not known */
};

/* The next object, whose texts must live until this is called again.  1: here
 * it is; 0: there is none left; -1 with `err` set. */
typedef int stream_next(void *arg, struct stream_object *out,
			struct error *err);

/* Where more than its URL is needed to ask for an object. */
struct stream_scheme {
	const char *prefix; /* of its URLs: "gs://" */
	/* Adds the URL to ask: of that generation, if it is not NULL; with 304
	 * as the answer if it is still `kept`, unless that is NULL. */
	int (*locate)(void *arg, const char *url, const char *generation,
		      const char *kept, struct buf *out, struct error *err);
	/* Adds the header with the caller's credentials; may wait.  The caller
	 * wipes it. */
	int (*authorize)(void *arg, struct buf *header, struct error *err);
	/* The server has refused that header. */
	void (*refused)(void *arg, const char *header);
	void *arg;
};

/* A store whose streams need such a scheme. */
struct stream_store {
	const char *prefix; /* of its URLs: "gs://" */
	/* Returns new; `out` works until it is closed.  Borrows `http`. */
	void *(*open)(struct http *http, struct stream_scheme *out);
	void (*close)(void *ctx); /* NULL does nothing */
};

struct stream_options {
	uint64_t read_ahead;  /* bytes of memory for what was read ahead */
	long connections;     /* at most, at once */
	long stall_timeout_s; /* a connection without a byte is given up */
	int64_t patience_ms;  /* without a byte of a part, whatever is tried */
	const struct retry_policy *retry;   /* NULL: stream_retry */
	const struct stream_scheme *scheme; /* or NULL */
	struct cache *cache;                /* or NULL; borrowed */
	/* A break between two objects ends the stream in half a member of a tar
	 * file that says why, for readers who see no exit status. */
	bool marks_failure;
	/* Several tar files come as one: without the zeroes at the end of each,
	 * which most readers take for the end of all, but for the last.  A
	 * break is marked as above. */
	bool joins_tars;
	/* An object with a Content-Encoding comes as it is stored, and is not
	 * refused. */
	bool takes_encoded;
};

enum stream_end {
	STREAM_DONE = 0,
	STREAM_READER_GONE = 1, /* whoever read `fd` has closed it */
};

/*
 * Writes all objects to `fd`.  Returns an enum stream_end, or -1.  `http` is
 * borrowed, and may be NULL if no object needs it; it should be made with
 * one more `host_connections`.
 */
int stream_run(struct http *http, const struct stream_options *options,
	       stream_next *next, void *arg, int fd, struct error *err);

/* Whether this URL needs an HTTP client. */
bool stream_is_remote(const char *url, const struct stream_scheme *scheme);

#endif
