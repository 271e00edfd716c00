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

#define BLOCK_SIZE (256u << 10)

struct stream_block {
	struct stream_block *next;
	size_t len;
	char data[BLOCK_SIZE];
};

/* Blocks in their order. */
struct block_queue {
	struct stream_block *first;
	struct stream_block **end;
};

/* Memory for what is read ahead.  A part reserves what it needs before it
 * begins, so that no answer has to wait for another. */
struct block_pool {
	size_t unreserved;         /* that may still be given to parts */
	struct stream_block *idle; /* made already, and not in use */
};

/* What to do after an answer, or the end of a request. */
enum part_verdict {
	PART_GOOD,
	PART_AGAIN, /* `err` says why; after a while */
	PART_WRONG, /* the same, but a server that does that is broken */
	PART_NEVER, /* `err` says why */
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

	/* The request; its texts live as long as it does. */
	struct http_call *call;
	struct part *next_ended;
	struct buf url, authorization;
	char range[64];
	char *match;    /* If-Match or If-None-Match */
	bool asks_kept; /* for a 304, if it is what is kept */
	const char *headers[5];

	/* The client's thread's while it is RUNNING, else the stream's. */
	uint64_t received; /* of `len` */
	uint64_t skip;     /* of this answer, before what was asked for */
	bool answered;     /* the headers of this answer were looked at */
	enum part_verdict verdict;
	struct stream_block *filling;

	/* Under the lock. */
	struct block_queue ready; /* full ones, and the last */
	size_t reserved;          /* blocks that it may still take */
	size_t owed; /* more that it will need, as those are written: an
		      * answer without ranges is as long as it is */
	bool paused; /* its answer waits for one of them */

	int failed; /* tries in a row without a byte */
	int wrong;  /* answers that were PART_WRONG */
	bool signed_again;
	uint64_t received_before; /* this try */
	int64_t since_ms;         /* of the last byte, or of the start */
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
	struct object_stream *next; /* of the stream, in their order */
	struct stream *stream;
	enum object_kind kind;
	char *name; /* its URL or path, as it was given */
	const struct stream_scheme *scheme; /* or NULL */
	char *crc32c, *sha256;              /* or NULL */

	/* Under the lock: what the first answer said. */
	bool known;
	uint64_t size;                      /* or STREAM_SIZE_UNKNOWN */
	char *etag, *modified, *generation; /* or NULL */
	bool is_encoded; /* not for the cache, which would not say so */

	/* Used only with a cache. */
	bool looked_up;
	struct kept kept; /* until an answer says whether it is that */
	bool cached;      /* it is: all that is yet to come is there */
	bool retreated;   /* it was, but was no good */
	struct cache_writer *writer; /* or NULL */

	uint64_t planned; /* up to where there are parts */
	struct part *parts, **parts_end;

	/* The output side. */
	bool begun;
	uint64_t at;
	uint32_t crc;
	struct digester *digester; /* or NULL */
	int fd;                    /* of a file that was opened ahead, or -1 */
};

struct stream {
	struct http *http;
	const struct stream_options *options;
	const struct retry_policy *retry;
	stream_next *next;
	void *next_arg;
	bool next_ended;
	struct error next_err; /* of `next`, once all before it is
			        * written */
	bool next_failed;
	struct stream_output out;

	pthread_mutex_t lock;
	struct block_pool pool;
	struct part *ended; /* their requests have */
	bool waiting;       /* the stream's thread does, for `wake` */
	int wake;           /* eventfd */

	struct object_stream *objects, **objects_end;
	size_t object_count;
	size_t running;    /* requests */
	size_t spare;      /* blocks that only the first object may take */
	uint64_t part_max; /* bytes */
	uint64_t expected; /* size of an object whose size is not known */
};

/* stream_block.c, under the lock but for `queue`s of one's own. */
void block_queue_init(struct block_queue *queue);
void block_queue_add(struct block_queue *queue, struct stream_block *block);
struct stream_block *block_queue_take(struct block_queue *queue); /* or NULL */
struct stream_block *
block_pool_take(struct block_pool *pool); /* a reserved one */
void block_pool_put(struct block_pool *pool, struct stream_block *block);
void block_pool_done(struct block_pool *pool);
size_t blocks_of(uint64_t bytes);

/* stream_answer.c: on the client's thread. */
int part_take(void *arg, const struct http_response *response, const char *data,
	      size_t len);
void part_ended(void *arg);
/* Also for an answer without bytes: what its status means. */
enum part_verdict part_judge(struct part *part,
			     const struct http_response *response,
			     struct error *err);

/* stream_part.c */
struct part *part_new(struct object_stream *object, uint64_t start,
		      uint64_t len);
void part_free(struct part *part); /* call only after its request has ended */
void part_start(struct part *part);
/* After part_ended(): looks at how it went. */
void part_reap(struct part *part);

/* stream_plan.c: starts what is due and what there is memory for.  Returns in
 * how many milliseconds to look again, or -1: when a request ends. */
int64_t stream_plan(struct stream *stream);
/* Whether there is an object after the first one. */
bool stream_has_several(struct stream *stream);
/* Looks at the requests that have ended. */
void stream_reap(struct stream *stream);

/* stream_file.c */
int stream_send_file(struct stream *stream, struct object_stream *object,
		     struct error *err);

/* stream_object.c: of the first object, what is written of it.  These return
 * an enum stream_end or -1. */
int object_begin(struct object_stream *object, uint64_t size,
		 struct error *err);
int object_add(struct object_stream *object, const char *data, size_t len,
	       struct error *err);
int object_end(struct object_stream *object, struct error *err);
void object_free(struct object_stream *object);

/* stream_cached.c */
/* Looks in the cache for `object`, which must not be known yet. */
void stream_look_up(struct stream *stream, struct object_stream *object);
/* The server confirmed the cached version.  Under the lock. */
void object_take_kept(struct object_stream *object);
/* As stream_send_file().  Clears `cached` if the rest has to come over the
 * network. */
int stream_send_cached(struct stream *stream, struct object_stream *object,
		       struct error *err);
/* Adds what will be written of a downloaded object to the cache. */
void object_keep(struct object_stream *object);
void object_kept(
	struct object_stream *object); /* all of it was written, and is right */
void kept_done(struct kept *kept);

void stream_wake(struct stream *stream); /* under the lock */

#endif
