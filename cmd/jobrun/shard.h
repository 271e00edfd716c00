/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of `jobrun shard`. */
#ifndef JOBRUN_SHARD_H
#define JOBRUN_SHARD_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/jobrun/ui/app.h"

struct shard_opts {
	uint64_t bytes;       /* of a shard; 0: no limit */
	long samples, shards; /* 0: no limit */
	long seed;            /* -1: do not shuffle */
	const char *name, *directory, *format;
	long threads; /* 0: one per core */
	bool classes, null, follow_links, sha256, sync, force;
	bool verify, list;
};

/* How many shards to process at once. */
unsigned shard_threads(const struct shard_opts *opts, bool remote);

/* Handles --verify and --list. */
int shard_look(struct app *app, const struct shard_opts *opts, char **paths,
	       int count, struct error *err);

#endif
