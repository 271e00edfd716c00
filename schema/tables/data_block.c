/* SPDX-License-Identifier: Apache-2.0 */
/* jobrun.data and jobrun.checkpoints: the input and output of training. */
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
static const char *const uneven_names[] = { "repeat", "drop", "exact", NULL };

static const struct field data_set_fields[] = {
	{ .name = "urls",
	  .type = FIELD_STRINGS,
	  .flags = FIELD_REQUIRED,
	  .offset = offsetof(struct data_set, urls),
	  .doc = "The shards, as gs://, s3:// or http(s):// URLs or paths; "
		 "braces stand for many: gs://bucket/train-{000..639}.tar." },
	{ .name = "index",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct data_set, index),
	  .doc = "The index that 'jobrun shard' wrote for them: it says how "
		 "many samples each holds." },
	{ .name = "splitByHost",
	  .type = FIELD_BOOL,
	  .fallback = "true",
	  .fallback_1 = "true",
	  .offset = offsetof(struct data_set, split_by_host),
	  .doc = "Whether each host reads its own shards, with the same number "
		 "of samples as every other; if not, each reads all." },
	{ .name = "splitByDevice",
	  .type = FIELD_BOOL,
	  .fallback = "true",
	  .fallback_1 = "true",
	  .offset = offsetof(struct data_set, split_by_device),
	  .doc = "Whether the processes of a host split its shards in the same "
		 "way." },
	{ .name = "shuffle",
	  .type = FIELD_BOOL,
	  .fallback = "false",
	  .fallback_1 = "false",
	  .offset = offsetof(struct data_set, shuffle),
	  .doc = "Whether to shuffle the shards each epoch." },
	{ .name = "seed",
	  .type = FIELD_INT,
	  .fallback = "0",
	  .fallback_1 = "0",
	  .offset = offsetof(struct data_set, seed),
	  .doc = "The seed of that order: the same seed gives the same "
		 "order." },
	{ .name = "uneven",
	  .type = FIELD_ENUM,
	  .values = uneven_names,
	  .fallback = "repeat",
	  .fallback_1 = "repeat",
	  .offset = offsetof(struct data_set, uneven),
	  .doc = "What to do if the shards cannot be dealt evenly: repeat uses "
		 "some twice, drop skips some, so that all have equally many; "
		 "exact, for evaluation, reads each once, and some processes "
		 "have one shard more.  The plan says how many." },
	{ .name = "cache",
	  .type = FIELD_STRING,
	  .flags = FIELD_POSITION,
	  .check = check_folder,
	  .offset = offsetof(struct data_set, cache),
	  .doc = "A folder on each machine where the program runs, in which "
		 "'jobrun cat' caches shards for the next epoch and the next "
		 "run.  Without it there is no cache." },
	{ .name = "cacheSize",
	  .type = FIELD_STRING,
	  .flags = FIELD_POSITION,
	  .check = check_size,
	  .fallback = "10GiB",
	  .offset = offsetof(struct data_set, cache_size),
	  .doc = "The size limit of that cache." },
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
	  .check = check_store,
	  .offset = offsetof(struct checkpoints, to),
	  .doc = "Where to upload complete ones, and to fetch them from at the "
		 "next start: a gs:// or s3:// URL or a directory, in which "
		 "each job has a folder of its name.  Without it they stay "
		 "where the "
		 "program wrote them." },
	{ .name = "keep",
	  .type = FIELD_INT,
	  .flags = FIELD_POSITION,
	  .min = 1,
	  .max = 100000,
	  .fallback = "3",
	  .offset = offsetof(struct checkpoints, keep),
	  .doc = "How many to keep there: the newest ones, or with a metric "
		 "the best ones, and always the newest." },
	{ .name = "metric",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct checkpoints, metric),
	  .doc = "The metric that decides which are best: its last value in "
		 "the first task's log when the checkpoint was written." },
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
	  .doc = "What a run and each of its restarts resumes from, which the "
		 "program finds in JOBRUN_CHECKPOINT: the newest complete one, "
		 "the best one, or none." },
	{ .name = "quietPeriod",
	  .type = FIELD_DURATION,
	  .flags = FIELD_POSITION,
	  .min = 1,
	  .max = 86400,
	  .fallback = "10s",
	  .offset = offsetof(struct checkpoints, quiet_period_s),
	  .doc = "How long a file must stay unchanged, and open for writing "
		 "nowhere, to count as complete.  A renamed file is complete "
		 "at once." },
	{ .name = NULL },
};

const struct message message_checkpoints = {
	.name = "Checkpoints",
	.doc = "What happens to the checkpoints that the program writes.",
	.size = sizeof(struct checkpoints),
	.fields = checkpoints_fields,
};
