/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of `jobrun: vertex-ai:`. */
#ifndef JOBRUN_VERTEXAI_BLOCK_H
#define JOBRUN_VERTEXAI_BLOCK_H

#include "core/job/message.h"

struct vertex_ai_block {
	struct message_head head;
	const char *staging_bucket; /* gs://, or NULL */
	const char *tensorboard;    /* its full name, or NULL */
	const char *custom_job;     /* merged into the job, JSON; or NULL */
	const char *strategy;       /* "SPOT", or NULL */
	long max_wait_s;
	bool restart_on_worker_restart;
	bool disable_retries;
	struct strings reservation; /* full names; or just "any" or "none" */
	const char *persistent_resource;
	bool dashboard_access;
	const char *network_attachment;
	const char *experiment, *experiment_run;
	const char *output_directory;
	const char *executor_image;
	struct messages nfs_mounts; /* of struct vertex_ai_nfs */
	const char *request;        /* JSON, see vertexai_request.h */
};

struct vertex_ai_nfs {
	struct message_head head;
	const char *server, *path, *mount_point;
};

extern const struct message vertex_ai_message;

#endif
