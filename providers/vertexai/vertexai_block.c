/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/vertexai/vertexai_block.h"

#include "core/job/check.h"
#include "providers/vertexai/vertexai_fit.h"
#include "providers/vertexai/vertexai_types.h"
#include "providers/vertexai/vertexai_request.h"

static const struct field nfs_fields[] = {
	{ .name = "server",
	  .type = FIELD_STRING,
	  .flags = FIELD_REQUIRED,
	  .offset = offsetof(struct vertex_ai_nfs, server),
	  .doc = "The address of the NFS server." },
	{ .name = "path",
	  .type = FIELD_STRING,
	  .flags = FIELD_REQUIRED,
	  .offset = offsetof(struct vertex_ai_nfs, path),
	  .doc = "The exported path, starting with /." },
	{ .name = "mountPoint",
	  .type = FIELD_STRING,
	  .flags = FIELD_REQUIRED,
	  .offset = offsetof(struct vertex_ai_nfs, mount_point),
	  .doc = "Where tasks find it, below /mnt/nfs." },
	{ .name = NULL },
};

static const struct message nfs_message = {
	.name = "VertexAiNfsMount",
	.doc = "A directory of an NFS server.",
	.size = sizeof(struct vertex_ai_nfs),
	.fields = nfs_fields,
};

static const struct field fields[] = {
	{ .name = "stagingBucket",
	  .type = FIELD_STRING,
	  .check = check_url,
	  .offset = offsetof(struct vertex_ai_block, staging_bucket),
	  .doc = "Where to upload packages, unless jobrun.staging is set." },
	{ .name = "tensorboard",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct vertex_ai_block, tensorboard),
	  .doc = "The Tensorboard for the job's logs: "
		 "projects/NUMBER/locations/REGION/tensorboards/ID." },
	{ .name = "customJob",
	  .type = FIELD_TREE,
	  .check_tree = vertex_job_check,
	  .offset = offsetof(struct vertex_ai_block, custom_job),
	  .doc = "More fields of the CustomJob, merged key by key: "
		 "jobSpec.scheduling.strategy, "
		 "jobSpec.persistentResourceId.  Items of workerPoolSpecs "
		 "are merged by their place; the first is the master's." },
	{ .name = "strategy",
	  .type = FIELD_STRING,
	  .values = vertex_strategy_names,
	  .offset = offsetof(struct vertex_ai_block, strategy),
	  .doc = "How the service provides machines: STANDARD; SPOT, which it "
		 "may take away at any time; or FLEX_START, which waits for "
		 "all of them and keeps them for at most 7 days." },
	{ .name = "maxWait",
	  .type = FIELD_DURATION,
	  .offset = offsetof(struct vertex_ai_block, max_wait_s),
	  .doc = "With FLEX_START: how long to wait for machines; by default a "
		 "day, with 0s for ever.  Overrides "
		 "trainingInput.scheduling.maxWaitTime." },
	{ .name = "restartOnWorkerRestart",
	  .type = FIELD_BOOL,
	  .offset = offsetof(struct vertex_ai_block, restart_on_worker_restart),
	  .doc = "Whether the whole job starts again when the service "
		 "restarts one of its workers." },
	{ .name = "disableRetries",
	  .type = FIELD_BOOL,
	  .offset = offsetof(struct vertex_ai_block, disable_retries),
	  .doc = "Whether internal errors end a job that has started running; "
		 "restartOnWorkerRestart then has no effect." },
	{ .name = "reservation",
	  .type = FIELD_STRINGS,
	  .offset = offsetof(struct vertex_ai_block, reservation),
	  .doc = "The reservations to take machines from, by their full names "
		 "projects/P/zones/Z/reservations/R, in zones of the job's "
		 "region; or the one word any, or none." },
	{ .name = "persistentResource",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct vertex_ai_block, persistent_resource),
	  .doc = "The persistent resource whose machines the job runs on." },
	{ .name = "dashboardAccess",
	  .type = FIELD_BOOL,
	  .offset = offsetof(struct vertex_ai_block, dashboard_access),
	  .doc = "Whether to make the first container's dashboard reachable." },
	{ .name = "networkAttachment",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct vertex_ai_block, network_attachment),
	  .doc = "The network attachment of a Private Service Connect "
		 "interface, instead of trainingInput.network." },
	{ .name = "experiment",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct vertex_ai_block, experiment),
	  .doc = "The experiment that the job belongs to: projects/P/locations/"
		 "R/metadataStores/S/contexts/NAME." },
	{ .name = "experimentRun",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct vertex_ai_block, experiment_run),
	  .doc = "The run of that experiment, in the same form." },
	{ .name = "outputDirectory",
	  .type = FIELD_STRING,
	  .check = check_url,
	  .offset = offsetof(struct vertex_ai_block, output_directory),
	  .doc = "The directory above the program's AIP_MODEL_DIR, "
		 "AIP_CHECKPOINT_DIR and AIP_TENSORBOARD_LOG_DIR; "
		 "trainingInput.jobDir by default." },
	{ .name = "executorImage",
	  .type = FIELD_STRING,
	  .check = check_image,
	  .offset = offsetof(struct vertex_ai_block, executor_image),
	  .doc = "The prebuilt container that runs the Python package, instead "
		 "of the one for runtimeVersion." },
	{ .name = "nfsMounts",
	  .type = FIELD_MESSAGES,
	  .message = &nfs_message,
	  .offset = offsetof(struct vertex_ai_block, nfs_mounts),
	  .doc = "NFS directories to mount in all tasks." },
	{ .name = "request",
	  .type = FIELD_STRING,
	  .flags = FIELD_JSON,
	  .check = request_check,
	  .offset = offsetof(struct vertex_ai_block, request),
	  .doc = "Fields of the API's CustomJob or HyperparameterTuningJob, "
		 "which override jobrun's: maps are merged, and so are the "
		 "items of workerPoolSpecs, metrics and parameters by "
		 "position; everything else is replaced.  The "
		 "plan shows the whole request." },
	{ .name = NULL },
};

const struct message vertex_ai_message = {
	.name = "VertexAiBlock",
	.doc = "Settings for Vertex AI.",
	.size = sizeof(struct vertex_ai_block),
	.fields = fields,
	.fit = vertex_ai_fit,
};
