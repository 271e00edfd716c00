/* SPDX-License-Identifier: Apache-2.0 */
/* jobrun.data and jobrun.checkpoints: what goes into training and comes out
 * of it. */
#include "schema/tables.h"

#include "core/job.h"

static const char *const goal_names[] = {
	"GOAL_TYPE_UNSPECIFIED",
	"MAXIMIZE",
	"MINIMIZE",
	NULL,
};

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
	  .offset = offsetof(struct data_set, split_by_host),
	  .doc = "Whether each host reads shards of its own, as many samples "
		 "as every other; if not, each reads all." },
	{ .name = "splitByDevice",
	  .type = FIELD_BOOL,
	  .fallback = "true",
	  .offset = offsetof(struct data_set, split_by_device),
	  .doc = "Whether those of a host are split between its processes "
		 "in the same way." },
	{ .name = "shuffle",
	  .type = FIELD_BOOL,
	  .fallback = "false",
	  .offset = offsetof(struct data_set, shuffle),
	  .doc = "Whether the shards come in another order each epoch." },
	{ .name = "seed",
	  .type = FIELD_INT,
	  .fallback = "0",
	  .offset = offsetof(struct data_set, seed),
	  .doc = "What that order is made from: the same seed, the same "
		 "order." },
	{ .name = NULL },
};

const struct message message_data_set = {
	.name = "DataSet",
	.doc = "A set of shards of training data, and how processes share "
	       "it.",
	.size = sizeof(struct data_set),
	.fields = data_set_fields,
};

static const struct field checkpoints_fields[] = {
	{ .name = "directory",
	  .type = FIELD_STRING,
	  .flags = FIELD_REQUIRED,
	  .offset = offsetof(struct checkpoints, directory),
	  .doc = "Where the program writes its checkpoints, relative to "
		 "where it starts." },
	{ .name = "to",
	  .type = FIELD_STRING,
	  .check = check_url,
	  .offset = offsetof(struct checkpoints, to),
	  .doc = "Where whole ones are copied to, and fetched from at the "
		 "next start: a gs:// URL or a directory." },
	{ .name = "keep",
	  .type = FIELD_INT,
	  .min = 1,
	  .max = 100000,
	  .fallback = "3",
	  .offset = offsetof(struct checkpoints, keep),
	  .doc = "How many are kept there: the last ones, or the best ones "
		 "if there is a metric." },
	{ .name = "metric",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct checkpoints, metric),
	  .doc = "The metric of the log that says which are the best." },
	{ .name = "goal",
	  .type = FIELD_ENUM,
	  .values = goal_names,
	  .offset = offsetof(struct checkpoints, goal),
	  .doc = "Whether a good metric is large or small." },
	{ .name = NULL },
};

const struct message message_checkpoints = {
	.name = "Checkpoints",
	.doc = "What happens to the checkpoints that the program writes.",
	.size = sizeof(struct checkpoints),
	.fields = checkpoints_fields,
};
