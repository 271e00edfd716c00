/* SPDX-License-Identifier: Apache-2.0 */
/* The top level of a job file. */
#include "core/job/check.h"
#include "schema/tables/tables.h"

#include "core/job/job.h"

static const struct field job_fields[] = {
	{ .name = "jobId",
	  .type = FIELD_STRING,
	  .check = check_job_id,
	  .offset = offsetof(struct job, job_id),
	  .doc = "The name of the job: letters, digits and underscores, a "
		 "letter first, at most 128.  Without it and --job-id, jobrun "
		 "makes one from the names of the folder and the file." },
	{ .name = "labels",
	  .type = FIELD_PAIRS,
	  .check = check_label,
	  .check_key = check_label_key,
	  .offset = offsetof(struct job, labels),
	  .doc = "Labels to find the job by: lower-case letters, digits, _ "
		 "and -, at most 63 characters each, at most 64 labels." },
	{ .name = "etag",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct job, etag),
	  .doc = "The version of the job at the service, for changes of its "
		 "labels." },
	{ .name = "trainingInput",
	  .type = FIELD_MESSAGE,
	  .message = &message_training_input,
	  .flags = FIELD_REQUIRED,
	  .offset = offsetof(struct job, training_input),
	  .doc = "What to train, and on what, in the form of AI Platform "
		 "Training." },
	{ .name = "jobrun",
	  .type = FIELD_MESSAGE,
	  .message = &message_jobrun,
	  .offset = offsetof(struct job, jobrun),
	  .doc = "Everything that AI Platform had no field for: where and how "
		 "the job runs." },
	{ .name = "createTime",
	  .type = FIELD_STRING,
	  .flags = FIELD_OUTPUT,
	  .doc = "When the job was created." },
	{ .name = "startTime",
	  .type = FIELD_STRING,
	  .flags = FIELD_OUTPUT,
	  .doc = "When it started to run." },
	{ .name = "endTime",
	  .type = FIELD_STRING,
	  .flags = FIELD_OUTPUT,
	  .doc = "When it ended." },
	{ .name = "state",
	  .type = FIELD_STRING,
	  .flags = FIELD_OUTPUT,
	  .doc = "Its state, for instance SUCCEEDED." },
	{ .name = "errorMessage",
	  .type = FIELD_STRING,
	  .flags = FIELD_OUTPUT,
	  .doc = "Why it failed or was cancelled." },
	{ .name = "trainingOutput",
	  .type = FIELD_STRING,
	  .flags = FIELD_OUTPUT,
	  .doc = "Its result." },
	{ .name = "jobPosition",
	  .type = FIELD_STRING,
	  .flags = FIELD_OUTPUT,
	  .doc = "How many jobs are before it in the queue." },
	{ .name = NULL },
};

const struct message message_job = {
	.name = "Job",
	.doc = "A training job.",
	.size = sizeof(struct job),
	.fields = job_fields,
};
