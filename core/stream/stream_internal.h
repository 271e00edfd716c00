/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files of a stream.  One thread, the stream's own, decides
 * (stream.c: which objects and in what order; stream_plan.c: which parts of
 * them to ask for), starts and ends requests (stream_part.c) and writes.  The
 * HTTP client's thread fills blocks (stream_answer.c).  The lock guards what
 * both threads use, and the client's thread never waits.
 */
#ifndef JOBRUN_STREAM_INTERNAL_H
#define JOBRUN_STREAM_INTERNAL_H

#include <pthread.h>

#include "core/base/digest.h"
#include "core/stream/stream.h"
#include "core/stream/stream_output.h"
#include "core/stream/stream_skip.h"

#define BLOCK_SIZE (256u << 10)

/* More than any object has, but small enough to calculate with. */
#define STREAM_SIZE_OPEN (UINT64_C(1) << 62)

struct stream_block {
	struct stream_block *next;
	size_t len;
	char data[BLOCK_SIZE];
};

/* A queue of blocks, in order. */
struct block_queue {
	struct stream_block *first;
	struct stream_block **end;
};

/* Memory for read-ahead.  A part reserves what it needs before it begins, so
 * that no answer has to wait for another. */
struct block_pool {
	size_t unreserved;         /* bytes that parts may still reserve */
	struct stream_block *idle; /* allocated but unused blocks */
};

/* What to do after an answer, or the end of a request. */
enum part_verdict {
	PART_GOOD,
	PART_AGAIN, /* retry after a while; `err` says why */
	PART_WRONG, /* retry, but count it: only a broken server does this */
	PART_NEVER, /* give up; `err` says why */
};

enum part_state {
	PART_WAITING, /* to be started, not before `due_ms` */
	PART_RUNNING,
	PART_WHOLE,
	PART_FAILED, /* `err` says why */
};

/* A range of an object. */
struct part {
	struct part *next; /* of the object, in their order */
	struct object_stream *object;
	enum part_state state;
	uint64_t start, len;

	/* The request; its strings live as long as it does. */
	struct http_call *call;
	struct part *next_ended;
	struct buf url, authorization;
	char range[64];
	char *match;    /* If-Match or If-None-Match */
	bool asks_kept; /* expects a 304 if the version is the kept one */
	const char *headers[5];

	/* Owned by the client's thread while RUNNING, else by the stream's. */
	uint64_t received; /* of `len` */
	uint64_t skip;     /* bytes of this answer before the requested ones */
	bool answered;     /* the headers of this answer were checked */
	int64_t asked_us;  /* when this try began */
	enum part_verdict verdict;
	struct stream_block *filling;

	/* Under the lock: */
	struct block_queue ready; /* full blocks, and the last one */
	size_t reserved;          /* blocks that it may still take */
	/* blocks that it will need beyond those, as blocks are written: an
	 * answer without ranges has the whole length */
	size_t owed;
	bool paused;     /* its answer waits for a block */
	bool was_paused; /* it has, so that it may have been slow */

	int failed; /* consecutive tries without a byte */
	int wrong;  /* answers that were PART_WRONG */
	bool signed_again;
	uint64_t received_before; /* this try */
	/* when it last came on fast enough, or started, and with how much */
	int64_t since_ms;
	uint64_t received_since;
	int64_t due_ms;
	struct error err;
};

enum object_kind {
	OBJECT_FILE,
	OBJECT_REMOTE,
};

/* What the cache has of an object; size 0: nothing usable. */
struct kept {
	uint64_t size;
	char *etag, *modified, *generation, *crc32c; /* or NULL */
};

struct object_stream {
	struct object_stream *next; /* of the stream, in order */
	struct stream *stream;
	enum object_kind kind;
	char *name;                         /* its URL or path, as given */
	const struct stream_scheme *scheme; /* or NULL */
	char *crc32c, *sha256;              /* or NULL */

	/* Under the lock: what the first answer said. */
	bool known;
	uint64_t size; /* or STREAM_SIZE_UNKNOWN */
	/* the answer tells the size only by its end: STREAM_SIZE_OPEN until
	 * then */
	bool is_open;
	char *etag, *modified, *generation; /* or NULL */
	/* not for the cache, which does not record the encoding */
	bool is_encoded;

	/* Used only with a cache: */
	bool looked_up;
	struct kept kept; /* set until an answer says whether it is current */
	bool cached;      /* it is current: the rest comes from the cache */
	bool retreated;   /* it was current, but turned out damaged */
	struct cache_writer *writer; /* or NULL */

	uint64_t planned; /* parts exist up to here */
	struct part *parts, **parts_end;

	/* Output: */
	bool begun;
	uint64_t at;
	uint32_t crc;
	struct digester *digester; /* or NULL */
	struct stream_skip *skip;  /* while samples are left out, else NULL */
	int fd;                    /* a file that was opened ahead, or -1 */
};

struct stream {
	struct http *http;
	const struct stream_options *options;
	const struct retry_policy *retry;
	stream_next *next;
	void *next_arg;
	bool next_ended;
	/* the error of `next`, reported once everything before is written */
	struct error next_err;
	bool next_failed;
	struct stream_output out;

	pthread_mutex_t lock;
	struct block_pool pool;
	struct part *ended; /* parts whose requests have ended */
	/* the least time from a request to the first bytes of its answer;
	 * INT64_MAX: none has come */
	int64_t first_us;
	bool waiting; /* the stream's thread waits for `wake` */
	int wake;     /* eventfd */

	struct object_stream *objects, **objects_end;
	size_t object_count;
	size_t running;    /* requests */
	size_t spare;      /* blocks that only the first object may use */
	uint64_t part_max; /* bytes */
	uint64_t expected; /* assumed size of an object of unknown size */
};

/* stream_block.c: under the lock, except for private queues. */
void block_queue_init(struct block_queue *queue);
void block_queue_add(struct block_queue *queue, struct stream_block *block);
struct stream_block *block_queue_take(struct block_queue *queue); /* or NULL */
struct stream_block *
block_pool_take(struct block_pool *pool); /* takes a reserved one */
void block_pool_put(struct block_pool *pool, struct stream_block *block);
void block_pool_done(struct block_pool *pool);
size_t blocks_of(uint64_t bytes);

/* stream_answer.c: runs on the client's thread. */
int part_take(void *arg, const struct http_response *response, const char *data,
	      size_t len);
void part_ended(void *arg);
/* Takes the end of an answer as that of its object, if that is open. */
void part_close(struct part *part);
/* Decides what the status of an answer means, with or without a body. */
enum part_verdict part_judge(struct part *part,
			     const struct http_response *response,
			     struct error *err);

/* stream_part.c */
struct part *part_new(struct object_stream *object, uint64_t start,
		      uint64_t len);
void part_free(struct part *part); /* only after its request has ended */
void part_start(struct part *part);
/* To be called after part_ended(): evaluates the result. */
void part_reap(struct part *part);

/* stream_plan.c: starts parts that are due and fit into memory.  Returns the
 * milliseconds until the next look, or -1: when a request ends. */
int64_t stream_plan(struct stream *stream);
/* Whether there is an object after the first one. */
bool stream_has_several(struct stream *stream);
/* Handles requests that have ended. */
void stream_reap(struct stream *stream);

/* stream_file.c */
int stream_send_file(struct stream *stream, struct object_stream *object,
		     struct error *err);

/* stream_object.c: writes the first object.  These return an enum stream_end or
 * -1. */
int object_begin(struct object_stream *object, uint64_t size,
		 struct error *err);
int object_add(struct object_stream *object, const char *data, size_t len,
	       struct error *err);
int object_end(struct object_stream *object, struct error *err);
void object_free(struct object_stream *object);

/* stream_cached.c */
/* Looks in the cache for `object`, which must not be known yet. */
void stream_look_up(struct stream *stream, struct object_stream *object);
/* Handles the server's confirmation of the cached version.  Under the lock. */
void object_take_kept(struct object_stream *object);
/* Like stream_send_file().  Clears `cached` if the rest has to come over the
 * network. */
int stream_send_cached(struct stream *stream, struct object_stream *object,
		       struct error *err);
/* Adds the data written of a downloaded object to the cache. */
void object_keep(struct object_stream *object);
/* Completes the cache entry when all of the object was written and is
 * correct. */
void object_kept(struct object_stream *object);
void kept_done(struct kept *kept);

void stream_wake(struct stream *stream); /* under the lock */

#endif
