/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields of `jobrun: fake:`.  Fields that control the world's behaviour are
 * not in the job's digest: with the trouble taken out of the file, it is still
 * the same job.
 */
#include <string.h>

#include "providers/fake/fake.h"
#include "providers/fake/trouble.h"

static int check_trouble(const char *value, struct error *err)
{
	struct trouble trouble;

	return trouble_parse(value, &trouble, err);
}

static int check_meddling(const char *value, struct error *err)
{
	struct meddling meddling;

	return meddling_parse(value, &meddling, err);
}

static const struct field fields[] = {
	{ .name = "resources",
	  .type = FIELD_INT,
	  .max = 100000,
	  .fallback = "0",
	  .fallback_1 = "0",
	  .offset = offsetof(struct fake_block, resources),
	  .doc = "How many things the run needs." },
	{ .name = "width",
	  .type = FIELD_INT,
	  .min = 1,
	  .max = 100000,
	  .fallback = "4",
	  .fallback_1 = "4",
	  .offset = offsetof(struct fake_block, width),
	  .doc = "The things stand in rows of this many, and each needs the "
		 "one above it.  With 1 they are a chain, with as many as "
		 "there are they need nothing." },
	{ .name = "color",
	  .type = FIELD_STRING,
	  .fallback = "red",
	  .fallback_1 = "red",
	  .offset = offsetof(struct fake_block, color),
	  .doc = "A property of each thing; it can change in place." },
	{ .name = "size",
	  .type = FIELD_INT,
	  .max = 1000000,
	  .fallback = "1",
	  .fallback_1 = "1",
	  .offset = offsetof(struct fake_block, size),
	  .doc = "A property of each thing; a change of it is a "
		 "replacement." },
	{ .name = "linked",
	  .type = FIELD_BOOL,
	  .offset = offsetof(struct fake_block, linked),
	  .doc = "Each thing, and the run, has as a property the addresses of "
		 "those that it needs, which are known when they are there." },
	{ .name = "password",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct fake_block, password),
	  .doc = "The name of a secret in `jobrun.secrets`: a property of each "
		 "thing, and not shown." },
	{ .name = "readyTime",
	  .type = FIELD_INT,
	  .flags = FIELD_POSITION,
	  .max = 86400000,
	  .fallback = "0",
	  .offset = offsetof(struct fake_block, ready_time),
	  .doc = "Milliseconds from the creation of a thing until it is "
		 "ready." },
	{ .name = "runTime",
	  .type = FIELD_INT,
	  .max = 86400000,
	  .fallback = "0",
	  .fallback_1 = "0",
	  .offset = offsetof(struct fake_block, run_time),
	  .doc = "Milliseconds that the run takes." },
	{ .name = "cancelTime",
	  .type = FIELD_INT,
	  .flags = FIELD_POSITION,
	  .max = 86400000,
	  .fallback = "0",
	  .offset = offsetof(struct fake_block, cancel_time),
	  .doc = "Milliseconds that the run takes to end when it is "
		 "cancelled with grace." },
	{ .name = "exitCode",
	  .type = FIELD_INT,
	  .max = 255,
	  .fallback = "0",
	  .fallback_1 = "0",
	  .offset = offsetof(struct fake_block, exit_code),
	  .doc = "What the run exits with; it fails unless that is 0." },
	{ .name = "error",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct fake_block, error),
	  .doc = "Why the run failed, if it does." },
	{ .name = "callTime",
	  .type = FIELD_INT,
	  .flags = FIELD_POSITION,
	  .max = 3600000,
	  .fallback = "0",
	  .offset = offsetof(struct fake_block, call_time),
	  .doc = "Milliseconds that each call takes." },
	{ .name = "failAt",
	  .type = FIELD_STRINGS,
	  .flags = FIELD_POSITION,
	  .check = check_trouble,
	  .offset = offsetof(struct fake_block, fail_at),
	  .doc = "Which calls go wrong and how, each as CALL:WHICH:HOW.  CALL "
		 "is create, update, delete, read, wait, cancel or '*' for "
		 "any.  WHICH is a number or a range of those calls of this "
		 "job (3, 1-3, '*' for all), the name of a resource, or both "
		 "(thing-07#1-3).  Calls are counted in the world, so across "
		 "processes.  HOW is permanent, denied, try-again, "
		 "unreachable or quota (nothing happens but the error), lost "
		 "(it is "
		 "done, but the answer is unreachable), twice (it is done "
		 "twice), kill or kill-after (jobrun is killed before or "
		 "after it is done)." },
	{ .name = "meddle",
	  .type = FIELD_STRINGS,
	  .flags = FIELD_POSITION,
	  .check = check_meddling,
	  .offset = offsetof(struct fake_block, meddle),
	  .doc = "What others do behind our back, each as "
		 "CALL:WHICH:NAME=gone or CALL:WHICH:NAME.PROPERTY=VALUE, "
		 "done right after that call." },
	{ .name = "world",
	  .type = FIELD_STRING,
	  .flags = FIELD_POSITION,
	  .offset = offsetof(struct fake_block, world),
	  .doc = "The folder that things and runs live in, relative to the "
		 "job's file; fake-world in the store if it is not set." },
	{ .name = NULL },
};

const struct message fake_message = {
	.name = "Fake",
	.doc = "The provider for tests: it starts nothing.",
	.size = sizeof(struct fake_block),
	.fields = fields,
};
