/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of `jobrun: ai-platform:`. */
#ifndef JOBRUN_AIPLATFORM_BLOCK_H
#define JOBRUN_AIPLATFORM_BLOCK_H

#include "core/job/message.h"

struct ai_platform_block {
	struct message_head head;
	const char *staging_bucket; /* gs://, or NULL */
	bool grant_tpu_access;
};

extern const struct message ai_platform_message;

#endif
