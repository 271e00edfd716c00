/* SPDX-License-Identifier: Apache-2.0 */
/* Streams in a test: made up objects from a server with faults, through a pipe
 * to a reader that knows what should come. */
#ifndef JOBRUN_STREAM_FIXTURE_H
#define JOBRUN_STREAM_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/stream/stream.h"
#include "tests/support/shard_server.h"

struct stream_fixture {
	struct shard_server_options server;
	struct stream_options how;
	size_t count;       /* of objects */
	size_t epochs;      /* how often all come; 0: once */
	bool with_crc;      /* each is said to have the right CRC */
	uint64_t wrong_crc; /* but this one */
	uint64_t limit; /* the reader closes after so many bytes; 0: never */
	bool stays_up;  /* the server, for streams of the same URLs; then
			 * stream_fixture_stop() ends it */

	struct error err;
	size_t faults[FAULT_COUNT]; /* how many there were, of all streams */
	size_t requests;
	/* The received whole objects, and bytes of the one after them. */
	size_t whole;
	uint64_t rest;
	bool wrong;

	size_t next;
	char url[64], crc[9];
	struct shard_server *up;
	int port, fd;
};

/* Streams all objects, with defaults for what `how` leaves open.  Returns what
 * stream_run() does. */
int stream_fixture_run(struct stream_fixture *f);
void stream_fixture_stop(struct stream_fixture *f);
/* Asserts that nothing else came. */
void stream_fixture_all_came(const struct stream_fixture *f);

/* Sizes of objects. */
uint64_t stream_sizes_mixed(uint64_t object);
uint64_t stream_sizes_small(uint64_t object);
uint64_t stream_sizes_large(uint64_t object);

/* More than half of all requests go wrong, in every way that may pass. */
enum shard_fault stream_faults_passing(uint64_t object, uint64_t n, void *arg);

#endif
