/* SPDX-License-Identifier: Apache-2.0 */
/* The options of 'launch' about checkpoints. */
#ifndef JOBRUN_LAUNCH_CHECKPOINTS_H
#define JOBRUN_LAUNCH_CHECKPOINTS_H

#include "core/base/opt.h"
#include "core/task/launch.h"

struct environment;

/* Zeroed, no checkpoints are kept. */
struct launch_checkpoint_opts {
	const char *directory;
	const char *to;
	long keep;
	const char *resume;
	long quiet_s;
	const char *metric;
	const char *goal;
	struct opt_list patterns; /* NAME=REGEX */
};

extern const struct opt launch_checkpoint_options[];

int launch_checkpoints_check(const struct launch_checkpoint_opts *opts,
			     struct error *err);

/* Runs a saver (core/checkpoint/saver.h), with every kind of store there is;
 * `trace_http` is a const char *, or NULL. */
int keep_checkpoints(const void *trace_http);

/*
 * Fetches what the task at `self` of `count` goes on from, and if it is the
 * first has its checkpoints kept: then `saver` is set.  `mem` must live as
 * long as that.
 */
int launch_checkpoints_keep(const struct launch_checkpoint_opts *opts,
			    const char *trace_http, size_t count, size_t self,
			    struct arena *mem, struct environment *env,
			    struct launch_saver **saver, struct error *err);

#endif
