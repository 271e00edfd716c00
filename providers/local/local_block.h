/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of `jobrun: local:`, and what the user has set for all jobs. */
#ifndef JOBRUN_LOCAL_BLOCK_H
#define JOBRUN_LOCAL_BLOCK_H

#include "core/provider/provider.h"

enum local_devices {
	LOCAL_DEVICES_ANY,
	LOCAL_DEVICES_STRICT,
	LOCAL_DEVICES_IGNORE,
};

struct local_block {
	struct message_head head;
	int devices;       /* enum local_devices */
	long runs_at_once; /* 0: no limit */
};

extern const struct message local_message;

/* The smaller of the values in the job and in the user's configuration,
 * ~/.config/jobrun/config.yaml; 0: neither has one. */
int local_runs_at_once(const struct job *job, const struct provider_env *env,
		       long *out, struct error *err);

#endif
