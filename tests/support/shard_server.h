/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An HTTP server in the test's own process, whose objects and faults are made
 * up: GET /N is object N.  It has ranges, entity tags, If-Match and
 * If-None-Match as nginx has them.
 */
#ifndef JOBRUN_SHARD_SERVER_H
#define JOBRUN_SHARD_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum shard_fault {
	FAULT_NONE,
	/* Faults that a reader must survive. */
	FAULT_CLOSE,       /* before the answer */
	FAULT_RESET,       /* before the answer */
	FAULT_CUT,         /* within the body */
	FAULT_RESET_BODY,  /* within the body */
	FAULT_CUT_HEADERS, /* within the headers */
	FAULT_BUSY,        /* 503 */
	FAULT_SHORT,       /* says it has less, and sends that */
	FAULT_OTHER_RANGE, /* sends, and says so, bytes beside those asked for */
	FAULT_NO_RANGE,    /* 206 without a Content-Range */
	FAULT_TWO_RANGES,  /* a Content-Range that is none */
	FAULT_WHOLE,       /* 200: all of it */
	FAULT_EMPTY,       /* 204 */
	FAULT_STALL,       /* silence within the body */
	/* Faults that must end the reader. */
	FAULT_TAG,      /* another entity tag, and other bytes */
	FAULT_GROWN,    /* another size */
	FAULT_REPLACED, /* 412 to If-Match, or another tag; from now on */
	FAULT_GONE,     /* 404 */
	FAULT_COUNT,
};

struct shard_server;

struct shard_server_options {
	uint64_t (*size)(uint64_t object);
	bool ranges;   /* or 200, whatever is asked for */
	bool weak_tag; /* W/"..." */
	bool no_tag;
	bool chunked; /* says no length; for a server without ranges */
	/* The fault for a request, the n-th of this object; NULL: none. */
	enum shard_fault (*fault)(uint64_t object, uint64_t n, void *arg);
	void *arg;
};

/* `options` is borrowed. */
struct shard_server *
shard_server_start(const struct shard_server_options *options);
void shard_server_stop(struct shard_server *server);
int shard_server_port(const struct shard_server *server);
/* How many it has done. */
size_t shard_server_faults(struct shard_server *server, enum shard_fault fault);
size_t shard_server_requests(struct shard_server *server);

/* The bytes of an object from `offset` on. */
void shard_server_fill(uint64_t object, uint64_t offset, char *data,
		       size_t len);

#endif
