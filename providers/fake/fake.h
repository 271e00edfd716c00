/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A provider that starts nothing.  Its things and runs are small files in a
 * folder, the world, which outlives any process; the job file says what its
 * calls do, how long they take and how they fail:
 *
 *	jobrun:
 *	  provider: fake
 *	  fake: {resources: 30, failAt: ["create:3:lost"]}
 *
 * It is used to test planner, executor and journal.
 */
#ifndef JOBRUN_FAKE_H
#define JOBRUN_FAKE_H

#include "core/provider/provider.h"

struct fake_block {
	struct message_head head;
	long resources;
	long width;
	const char *color;
	long size;
	bool linked;
	const char *password;
	long ready_time;
	long run_time;
	long cancel_time;
	long exit_code;
	const char *error;
	long call_time;
	struct strings fail_at;
	struct strings meddle;
	const char *world;
};

extern const struct message fake_message; /* for the `jobrun: fake:` block */
extern const struct provider provider_fake;

#endif
