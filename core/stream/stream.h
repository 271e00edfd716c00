/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes objects, one after the other, as one stream of bytes: files, standard
 * input, http(s):// URLs, and those of schemes (gs://, s3://).  Objects from the
 * network are read ahead, in parts and on several connections at once, into
 * limited memory; a part that breaks resumes where it stopped.
 *
 * The output is correct, or it ends in an error.  Every answer must be for the
 * same version of the object as the first one (its generation, ETag, time and
 * size), and for the range that was asked for.  The last STREAM_HELD_BYTES of
 * an object are written once all of it has arrived and its checksums match;
 * until then the stream never ends at a multiple of 512 bytes of the object.  A
 * tar file that breaks therefore has no end-of-archive marker, and ends within
 * the contents of a member.
 *
 * The cache serves an object if the index confirms its version, or the server
 * when asked; it keeps an object from a server if the server names its version
 * (a strong ETag, a generation) or the index does.
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
/* The smallest allowed `read_ahead`. */
#define STREAM_READ_AHEAD_MIN (1u << 20)
/* More than a tar record, to which the end-of-archive marker is padded. */
#define STREAM_HELD_BYTES 16384u

struct stream_object {
	const char *url;    /* or a path, or "-" */
	uint64_t size;      /* or STREAM_SIZE_UNKNOWN */
	const char *crc32c; /* as by crc32c_format(); NULL: unknown */
	const char *sha256; /* in hex; NULL: unknown */
	/* how many samples of a tar file to leave out at its beginning; the
	 * checksums are those of the whole file */
	uint64_t skip;
};

/* Gets the next object, whose strings must live until the next call.  1: there
 * is one; 0: there is none left; -1 with `err` set. */
typedef int stream_next(void *arg, struct stream_object *out,
			struct error *err);

/* For objects that need more than their URL to be requested. */
struct stream_scheme {
	const char *prefix; /* the prefix of its URLs: "gs://" */
	/* A version is named by its ETag, in a header, as over http. */
	bool by_tag;
	const struct stream_scheme *next; /* another one, or NULL */
	/* Adds the URL to request: for that generation, if not NULL; answered
	 * by 304 if it is still `kept`, unless that is NULL. */
	int (*locate)(void *arg, const char *url, const char *generation,
		      const char *kept, struct buf *out, struct error *err);
	/* Adds the header with the caller's credentials, or nothing if none are
	 * needed; may block.  The caller wipes it. */
	int (*authorize)(void *arg, struct buf *header, struct error *err);
	/* Reports that the server has refused that header, or "". */
	void (*refused)(void *arg, const char *header);
	void *arg;
};

/* A store whose streams need such a scheme. */
struct stream_store {
	const char *prefix; /* the prefix of its URLs: "gs://" */
	/* Returns new; `out` is valid until close().  Borrows `http`. */
	void *(*open)(struct http *http, struct stream_scheme *out);
	void (*close)(void *ctx); /* accepts NULL */
};

struct stream_options {
	uint64_t read_ahead; /* the memory for read-ahead, in bytes */
	long connections;    /* the most at once */
	/* when to give up a connection that sends nothing */
	long stall_timeout_s;
	/* a connection that sends fewer bytes a second, for as long, is given
	 * up, and counts as silent; 0: any byte will do */
	long least_rate;
	/* when to give up a part that gets no byte on any connection */
	int64_t patience_ms;
	const struct retry_policy *retry;   /* NULL: stream_retry */
	const struct stream_scheme *scheme; /* the first one, or NULL */
	struct cache *cache;                /* or NULL; borrowed */
	/* If it breaks between two objects, the stream ends in half a tar
	 * member that says why, for readers that see no exit status. */
	bool marks_failure;
	/* Joins several tar files into one: only the last keeps its final
	 * zeroes, which most readers take for the end.  A break is marked as
	 * above. */
	bool joins_tars;
	/* An object with a Content-Encoding is delivered as it is stored,
	 * instead of refused. */
	bool takes_encoded;
};

enum stream_end {
	STREAM_DONE = 0,
	STREAM_READER_GONE = 1, /* the reader of `fd` has closed it */
};

/*
 * Writes all objects to `fd`.  Returns an enum stream_end, or -1.  `http` is
 * borrowed, and may be NULL if no object needs it; make it with one more
 * `host_connections`.
 */
int stream_run(struct http *http, const struct stream_options *options,
	       stream_next *next, void *arg, int fd, struct error *err);

/* Whether this URL needs an HTTP client. */
bool stream_is_remote(const char *url, const struct stream_scheme *scheme);

#endif
