/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The services of the platform below a process: the metadata server of its
 * machine, and the API of the TPU nodes that it may use.  The calls have the
 * signatures that topology_read.h and tpu_wait.h need; their `ctx` comes from
 * `open`.
 */
#ifndef JOBRUN_PLATFORM_H
#define JOBRUN_PLATFORM_H

#include "core/topology/tpu_wait.h"

struct platform {
	/* No I/O: everything is opened when first used.  Returns new.
	 * `trace_http` is borrowed: the file that records requests, or NULL. */
	void *(*open)(const char *trace_http);
	void (*close)(void *ctx); /* accepts NULL */
	/* Makes no request on a machine that does not look like the
	 * platform's. */
	bool (*has_metadata)(void *ctx);
	int (*metadata)(void *ctx, const char *path, struct arena *mem,
			const char **out, struct error *err);
	/* Reads the state of the TPU node that `all` names. */
	int (*look)(void *ctx, const struct topology *all, struct arena *mem,
		    struct tpu_view *out, struct error *err);
	/* Makes `all` name a TPU node that a user has called `name`. */
	int (*name_tpu)(void *ctx, const char *name, struct arena *mem,
			struct topology *all, struct error *err);
};

#endif
