/* SPDX-License-Identifier: Apache-2.0 */
/* The options of 'launch' about checkpoints. */
#ifndef JOBRUN_LAUNCH_CHECKPOINTS_H
#define JOBRUN_LAUNCH_CHECKPOINTS_H

#include "core/base/opt.h"
#include "core/task/launch.h"

struct environment;

/* If zeroed, no checkpoints are saved. */
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

/* Runs a saver (core/checkpoint/saver.h) that supports every kind of store;
 * `trace_http` is a const char *, or NULL. */
int keep_checkpoints(const void *trace_http);

/*
 * Fetches the checkpoint from which the task at `self` of `count` resumes; for
 * the first task, also starts saving its checkpoints and sets `saver`.  `mem`
 * must outlive the saver.
 */
int launch_checkpoints_keep(const struct launch_checkpoint_opts *opts,
			    const char *trace_http, size_t count, size_t self,
			    struct arena *mem, struct environment *env,
			    struct launch_saver **saver, struct error *err);

#endif
