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
};

extern const struct message vertex_ai_message;

#endif
