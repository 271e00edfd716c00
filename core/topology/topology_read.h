/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds out where a process runs, and with which peers.  Each platform tells
 * its processes in its own way, and its provider supplies a reader for that
 * (core/provider/provider.h).  Readers see only what they are given, and never
 * wait.
 */
#ifndef JOBRUN_TOPOLOGY_READ_H
#define JOBRUN_TOPOLOGY_READ_H

#include "core/topology/topology.h"

/* The input of readers.  Borrowed. */
struct surroundings {
	char *const *env;
	/* this machine's name, fully qualified if it has such a name */
	const char *host;
	const struct catalogue *catalogue;

	/* Whether this machine has a metadata server.  Must be quick if it has
	 * none.  NULL: it has none. */
	bool (*has_metadata)(void *arg);
	/* The value at a path below /computeMetadata/v1/, in `mem`; NULL if
	 * there is no such value. */
	int (*metadata)(void *arg, const char *path, struct arena *mem,
			const char **out, struct error *err);
	void *arg;
};

/* How sure a reader is of its place; the surest is asked first. */
enum reader_order {
	READER_SERVICE,   /* by variables that only this service sets */
	READER_FRAMEWORK, /* by a framework's variable, which several set */
	READER_SCHEDULER, /* by its scheduler's variables */
	READER_MACHINE,   /* by asking the machine's metadata server */
	READER_ANYWHERE,  /* always */
};

struct topology_reader {
	const char *name;    /* "slurm" */
	const char *summary; /* what it reads; no full stop */
	enum reader_order order;
	/* `host` must be the name that peers know, including its domain. */
	bool qualifies_host;
	/* Whether this process runs there, judging by the input alone. */
	bool (*detects)(const struct surroundings *at);
	/*
	 * Sets `self` to the ordinal of this task.  A missing or senseless
	 * variable is ERROR_INVALID, which names it.  The topology borrows from
	 * `at`, too.
	 */
	int (*read)(const struct surroundings *at, struct arena *mem,
		    struct topology *out, size_t *self, struct error *err);
};

#define TOPOLOGY_READERS_MAX 32

/* In the order in which they are asked; borrowed. */
struct topology_readers {
	const struct topology_reader *items[TOPOLOGY_READERS_MAX];
	size_t count;
};

/* Adds a reader after those that are as sure. */
void topology_readers_add(struct topology_readers *all,
			  const struct topology_reader *reader);
/* NULL, with the existing names in `err`, if there is none of that name. */
const struct topology_reader *
topology_reader_find(const struct topology_readers *all, const char *name,
		     struct error *err);
/* The first reader that detects its place; NULL with `err` set if none does. */
const struct topology_reader *
topology_reader_detect(const struct topology_readers *all,
		       const struct surroundings *at, struct error *err);

/* ---- for readers ------------------------------------------------------ */

/* The variable's value, borrowed; NULL if it is unset or empty. */
const char *surroundings_get(const struct surroundings *at, const char *name);
/* Reads a required variable, a number from `min` to `max`. */
int surroundings_number(const struct surroundings *at, const char *name,
			long min, long max, long *out, struct error *err);

/* More tasks than this are a mistake. */
#define TOPOLOGY_TASK_MAX 100000

/* Default ports, for platforms that name none: tasks listen where AI Platform's
 * did, torch.distributed meets where torchrun does. */
#define TOPOLOGY_TASK_PORT 2222
#define TOPOLOGY_MASTER_PORT 29500

/*
 * Makes a group with one task on each host, in that order.  A single one is the
 * master, several are workers.
 */
void topology_from_hosts(const char *const *hosts, size_t count,
			 struct arena *mem, struct topology *out);

#endif
