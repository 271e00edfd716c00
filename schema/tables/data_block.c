/* SPDX-License-Identifier: Apache-2.0 */
/* jobrun.data and jobrun.checkpoints: what goes into training and comes out
 * of it. */
#include "core/job/check.h"
#include "schema/tables/tables.h"

#include "core/job/job.h"

static const char *const goal_names[] = {
	"GOAL_TYPE_UNSPECIFIED",
	"MAXIMIZE",
	"MINIMIZE",
	NULL,
};

/* In the order of enum split_uneven. */
static const char *const uneven_names[] = { "repeat", "drop", NULL };

static const struct field data_set_fields[] = {
	{ .name = "urls",
	  .type = FIELD_STRINGS,
	  .flags = FIELD_REQUIRED,
	  .offset = offsetof(struct data_set, urls),
	  .doc = "The shards, as gs:// or http(s):// URLs or paths; braces "
		 "stand for many: gs://bucket/train-{000..639}.tar." },
	{ .name = "index",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct data_set, index),
	  .doc = "Where their index is, which 'jobrun shard' wrote: it says "
		 "how many samples each holds." },
	{ .name = "splitByHost",
	  .type = FIELD_BOOL,
	  .fallback = "true",
	  .fallback_1 = "true",
	  .offset = offsetof(struct data_set, split_by_host),
	  .doc = "Whether each host reads shards of its own, as many samples "
		 "as every other; if not, each reads all." },
	{ .name = "splitByDevice",
	  .type = FIELD_BOOL,
	  .fallback = "true",
	  .fallback_1 = "true",
	  .offset = offsetof(struct data_set, split_by_device),
	  .doc = "Whether those of a host are split between its processes "
		 "in the same way." },
	{ .name = "shuffle",
	  .type = FIELD_BOOL,
	  .fallback = "false",
	  .fallback_1 = "false",
	  .offset = offsetof(struct data_set, shuffle),
	  .doc = "Whether the shards come in another order each epoch." },
	{ .name = "seed",
	  .type = FIELD_INT,
	  .fallback = "0",
	  .fallback_1 = "0",
	  .offset = offsetof(struct data_set, seed),
	  .doc = "What that order is made from: the same seed, the same "
		 "order." },
	{ .name = "uneven",
	  .type = FIELD_ENUM,
	  .values = uneven_names,
	  .fallback = "repeat",
	  .fallback_1 = "repeat",
	  .offset = offsetof(struct data_set, uneven),
	  .doc = "What makes the shares equal when the shards cannot be "
		 "dealt evenly: repeat gives some out twice, drop leaves "
		 "some out.  The plan says how many." },
	{ .name = "cache",
	  .type = FIELD_STRING,
	  .flags = FIELD_POSITION,
	  .check = check_folder,
	  .offset = offsetof(struct data_set, cache),
	  .doc = "A folder of each machine where the program runs, in which "
		 "'jobrun cat' keeps shards for the next epoch and the next "
		 "run.  Without it nothing is kept." },
	{ .name = "cacheSize",
	  .type = FIELD_STRING,
	  .flags = FIELD_POSITION,
	  .check = check_size,
	  .fallback = "10GiB",
	  .offset = offsetof(struct data_set, cache_size),
	  .doc = "The most that all shards there may have together." },
	{ .name = NULL },
};

const struct message message_data_set = {
	.name = "DataSet",
	.doc = "A set of shards of training data, and how processes share "
	       "it.",
	.size = sizeof(struct data_set),
	.fields = data_set_fields,
};

/* In the order of enum checkpoint_resume. */
static const char *const resume_names[] = { "newest", "best", "none", NULL };

static const struct field checkpoints_fields[] = {
	{ .name = "directory",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct checkpoints, directory),
	  .doc = "Where the program writes its checkpoints, relative to "
		 "where it starts: each file or folder there is one.  Without "
		 "it, a folder of the run's own.  The program finds the path "
		 "in JOBRUN_CHECKPOINT_DIR." },
	{ .name = "to",
	  .type = FIELD_STRING,
	  .flags = FIELD_PATH,
	  .check = check_url,
	  .offset = offsetof(struct checkpoints, to),
	  .doc = "Where whole ones are copied to, and fetched from at the "
		 "next start: a gs:// URL or a directory, in which each job "
		 "has a folder of its name.  Without it they stay where the "
		 "program has written them." },
	{ .name = "keep",
	  .type = FIELD_INT,
	  .flags = FIELD_POSITION,
	  .min = 1,
	  .max = 100000,
	  .fallback = "3",
	  .offset = offsetof(struct checkpoints, keep),
	  .doc = "How many are kept there: the last ones, or if there is a "
		 "metric the best ones, and the newest in any case." },
	{ .name = "metric",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct checkpoints, metric),
	  .doc = "The metric that says which are the best: what the log of "
		 "the first task had last when one was written." },
	{ .name = "goal",
	  .type = FIELD_ENUM,
	  .values = goal_names,
	  .offset = offsetof(struct checkpoints, goal),
	  .doc = "Whether a good metric is large or small." },
	{ .name = "resume",
	  .type = FIELD_ENUM,
	  .values = resume_names,
	  .fallback = "newest",
	  .fallback_1 = "newest",
	  .offset = offsetof(struct checkpoints, resume),
	  .doc = "What a run and each of its restarts goes on from, which the "
		 "program finds in JOBRUN_CHECKPOINT: the newest whole one, "
		 "the best one, or none." },
	{ .name = "quietPeriod",
	  .type = FIELD_DURATION,
	  .flags = FIELD_POSITION,
	  .min = 1,
	  .max = 86400,
	  .fallback = "10s",
	  .offset = offsetof(struct checkpoints, quiet_period_s),
	  .doc = "How long a file must be left alone, open for writing "
		 "nowhere, to be whole.  One that gets its name by being "
		 "renamed is whole at once." },
	{ .name = NULL },
};

const struct message message_checkpoints = {
	.name = "Checkpoints",
	.doc = "What happens to the checkpoints that the program writes.",
	.size = sizeof(struct checkpoints),
	.fields = checkpoints_fields,
};
