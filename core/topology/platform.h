/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the platform below a process answers when it is asked: the metadata
 * server of its machine, and the API of the TPU nodes that it may drive.  The
 * calls have the forms that topology_read.h and tpu_wait.h ask for; their
 * `ctx` is what `open` has given.
 */
#ifndef JOBRUN_PLATFORM_H
#define JOBRUN_PLATFORM_H

#include "core/topology/tpu_wait.h"

struct platform {
	/* No I/O: all is opened at its first use.  Returns new.  `trace_http`
	 * is borrowed: where requests are recorded, or NULL. */
	void *(*open)(const char *trace_http);
	void (*close)(void *ctx); /* NULL does nothing */
	/* Asks nobody on a machine that does not look like one of its own. */
	bool (*has_metadata)(void *ctx);
	int (*metadata)(void *ctx, const char *path, struct arena *mem,
			const char **out, struct error *err);
	/* Looks at the TPU node that `all` names. */
	int (*look)(void *ctx, const struct topology *all, struct arena *mem,
		    struct tpu_view *out, struct error *err);
	/* Makes `all` name a TPU node, which a user has called `name`. */
	int (*name_tpu)(void *ctx, const char *name, struct arena *mem,
			struct topology *all, struct error *err);
};

#endif
