/* SPDX-License-Identifier: Apache-2.0 */
/* jobrun.docker, jobrun.container and jobrun.conda: where the program is
 * started. */
#include "schema/tables/tables.h"

#include "core/job/check.h"
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

static const char *const runtime_names[] = {
	"auto",      "none",         "podman", "docker",
	"apptainer", "charliecloud", "pyxis",  NULL,
};

static const struct field container_fields[] = {
	{ .name = "runtime",
	  .type = FIELD_STRING,
	  .values = runtime_names,
	  .fallback = "auto",
	  .offset = offsetof(struct container_block, runtime),
	  .doc = "The container runtime; auto takes the first one installed, "
		 "rootless ones first, and none runs the program without a "
		 "container.  pyxis is Slurm's plugin, for each task a step of "
		 "its own." },
	{ .name = "image",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct container_block, image),
	  .doc = "The image of all tasks in place of imageUri: a path, of a "
		 "directory or a .sif file, or what the runtime calls it." },
	{ .name = "mounts",
	  .type = FIELD_STRINGS,
	  .check = check_mount,
	  .offset = offsetof(struct container_block, mounts),
	  .doc = "More directories of the host to mount, besides the source "
		 "and the run's folder: DIR, DIR:THERE or DIR:THERE:ro." },
	{ .name = "workdir",
	  .type = FIELD_STRING,
	  .check = check_folder,
	  .offset = offsetof(struct container_block, workdir),
	  .doc = "The directory where the program starts, if not its source." },
	{ .name = "options",
	  .type = FIELD_STRINGS,
	  .offset = offsetof(struct container_block, options),
	  .doc = "More options of the runtime, for instance "
		 "--shm-size=50GB." },
	{ .name = NULL },
};

const struct message message_container = {
	.name = "Container",
	.doc = "The container of trainingInput.masterConfig.imageUri, or the "
	       "task's own image.",
	.size = sizeof(struct container_block),
	.fields = container_fields,
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
