/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where am I, and with whom?  Each platform tells its processes in a way of
 * its own, and its provider brings a reader of that (core/provider/provider.h).
 * All that readers look at is given to them, and none of them waits.
 */
#ifndef JOBRUN_TOPOLOGY_READ_H
#define JOBRUN_TOPOLOGY_READ_H

#include "core/topology/topology.h"

/* What readers look at.  Borrowed. */
struct surroundings {
	char *const *env;
	const char *host; /* this machine's name, fully qualified if it has
			   * such a one */
	const struct catalogue *catalogue;

	/* Has this machine a metadata server?  Must be quick where it has
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
	READER_SERVICE,   /* by what that service alone sets */
	READER_FRAMEWORK, /* by a framework's variable, which several set */
	READER_SCHEDULER, /* by its scheduler's variables */
	READER_MACHINE,   /* by asking the machine's metadata server */
	READER_ANYWHERE,  /* always */
};

struct topology_reader {
	const char *name;    /* "slurm" */
	const char *summary; /* what it looks at; no full stop */
	enum reader_order order;
	/* `host` of its surroundings must be the name that peers know, with its
	 * domain. */
	bool qualifies_host;
	/* Does this process run there, by all that it sees? */
	bool (*detects)(const struct surroundings *at);
	/*
	 * `self` is set to the ordinal of this task.  What is missing or
	 * makes no sense is ERROR_INVALID, and names the variable.  The
	 * topology borrows from `at`, too.
	 */
	int (*read)(const struct surroundings *at, struct arena *mem,
		    struct topology *out, size_t *self, struct error *err);
};

#define TOPOLOGY_READERS_MAX 32

/* In the order of asking; borrowed. */
struct topology_readers {
	const struct topology_reader *items[TOPOLOGY_READERS_MAX];
	size_t count;
};

/* Behind all that are as sure. */
void topology_readers_add(struct topology_readers *all,
			  const struct topology_reader *reader);
/* NULL, with what there is in `err`, if there is none of that name. */
const struct topology_reader *
topology_reader_find(const struct topology_readers *all, const char *name,
		     struct error *err);
/* The first that detects its place; NULL with `err` set if none does. */
const struct topology_reader *
topology_reader_detect(const struct topology_readers *all,
		       const struct surroundings *at, struct error *err);

/* ---- for readers ------------------------------------------------------ */

/* Borrowed; NULL if it is not there or empty. */
const char *surroundings_get(const struct surroundings *at, const char *name);
/* A variable that must be there, from `min` to `max`. */
int surroundings_number(const struct surroundings *at, const char *name,
			long min, long max, long *out, struct error *err);

/* More tasks than this is a mistake. */
#define TOPOLOGY_TASK_MAX 100000

/* Places where platforms name none: tasks listen where AI Platform's did,
 * torch.distributed meets where torchrun does. */
#define TOPOLOGY_TASK_PORT 2222
#define TOPOLOGY_MASTER_PORT 29500

/*
 * The tasks of a group that has one on each host, in that order.  A single
 * one is the master, several are workers.
 */
void topology_from_hosts(const char *const *hosts, size_t count,
			 struct arena *mem, struct topology *out);

#endif
