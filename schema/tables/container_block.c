/* SPDX-License-Identifier: Apache-2.0 */
/* jobrun.docker and jobrun.conda: what the program is started in. */
#include "schema/tables/tables.h"

#include "core/job/job.h"

static const struct field docker_fields[] = {
	{ .name = "image",
	  .type = FIELD_STRING,
	  .flags = FIELD_REQUIRED,
	  .offset = offsetof(struct docker, image),
	  .doc = "The image whose container the program runs in, with the "
		 "network of its host, the source, and JOBRUN_RUN_DIR." },
	{ .name = "runFlags",
	  .type = FIELD_STRINGS,
	  .offset = offsetof(struct docker, run_flags),
	  .doc = "More flags of 'docker run', for instance --gpus=all or "
		 "--shm-size=50GB." },
	{ .name = NULL },
};

const struct message message_docker = {
	.name = "Docker",
	.doc = "A container for each task.",
	.size = sizeof(struct docker),
	.fields = docker_fields,
};

static const struct field conda_fields[] = {
	{ .name = "env",
	  .type = FIELD_STRING,
	  .flags = FIELD_REQUIRED,
	  .offset = offsetof(struct conda, env),
	  .doc = "The name of the environment, or its path." },
	{ .name = NULL },
};

const struct message message_conda = {
	.name = "Conda",
	.doc = "A conda environment for setup and the program.",
	.size = sizeof(struct conda),
	.fields = conda_fields,
};
