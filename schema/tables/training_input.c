/* SPDX-License-Identifier: Apache-2.0 */
/* trainingInput: AI Platform Training's message, every field of it. */
#include "core/job/check.h"
#include "core/job/machines.h"
#include "core/job/traits.h"
#include "schema/tables/tables.h"

#include "core/job/job.h"

/* In the order of enum scale_tier. */
static const char *const scale_tier_names[] = {
	"SCALE_TIER_UNSPECIFIED",
	"BASIC",
	"STANDARD_1",
	"PREMIUM_1",
	"BASIC_GPU",
	"BASIC_TPU",
	"CUSTOM",
	NULL,
};

static const struct field encryption_config_fields[] = {
	{ .name = "kmsKeyName",
	  .type = FIELD_STRING,
	  .check = check_kms_key,
	  .offset = offsetof(struct encryption_config, kms_key_name),
	  .doc = "The key, as projects/PROJECT/locations/REGION/keyRings/"
		 "RING/cryptoKeys/KEY." },
	{ .name = NULL },
};

static const struct message message_encryption_config = {
	.name = "EncryptionConfig",
	.doc = "A customer-managed key for what the job stores.",
	.size = sizeof(struct encryption_config),
	.fields = encryption_config_fields,
};

static const struct field scheduling_fields[] = {
	{ .name = "maxRunningTime",
	  .type = FIELD_DURATION,
	  .offset = offsetof(struct scheduling, max_running_time_s),
	  .check = check_seconds,
	  .doc = "The job is cancelled after running for this long, for "
		 "instance \"7200s\".  AI Platform's default is seven days." },
	{ .name = "maxWaitTime",
	  .type = FIELD_DURATION,
	  .offset = offsetof(struct scheduling, max_wait_time_s),
	  .traits = TRAIT_MANAGED,
	  .check = check_seconds,
	  .min = 1800,
	  .max = 3153600000,
	  .doc = "The job is cancelled if it does not run by then; at least "
		 "\"1800s\"." },
	{ .name = "priority",
	  .type = FIELD_INT,
	  .max = 1000,
	  .fallback = "0",
	  .fallback_1 = "0",
	  .offset = offsetof(struct scheduling, priority),
	  .traits = TRAIT_PRIORITY,
	  .doc = "Which job goes first among those waiting for the same "
		 "accelerators: 0 to 1000, the greater the sooner." },
	{ .name = NULL },
};

static const struct message message_scheduling = {
	.name = "Scheduling",
	.doc = "How long the job may wait and run.",
	.size = sizeof(struct scheduling),
	.fields = scheduling_fields,
};

static const struct field training_input_fields[] = {
	{ .name = "scaleTier",
	  .type = FIELD_ENUM,
	  .values = scale_tier_names,
	  .fallback = "BASIC",
	  .fallback_1 = "BASIC",
	  .offset = offsetof(struct training_input, scale_tier),
	  .doc = "The machines of the job: a named set, or CUSTOM, with "
		 "masterType, workerType and so on." },
	{ .name = "masterType",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct training_input, master_type),
	  .doc = "The machine type of the master, for instance "
		 "n1-highcpu-16.  Needed with scaleTier CUSTOM, and only "
		 "then." },
	{ .name = "workerType",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct training_input, worker_type),
	  .doc = "The machine type of the workers, or cloud_tpu." },
	{ .name = "parameterServerType",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct training_input, parameter_server_type),
	  .doc = "The machine type of the parameter servers." },
	{ .name = "evaluatorType",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct training_input, evaluator_type),
	  .doc = "The machine type of the evaluators." },
	{ .name = "workerCount",
	  .type = FIELD_INT,
	  .flags = FIELD_INT64,
	  .max = MACHINE_COUNT_MAX,
	  .fallback = "0",
	  .fallback_1 = "0",
	  .offset = offsetof(struct training_input, worker_count),
	  .doc = "How many workers there are besides the master; exactly 1 "
		 "if the worker is a cloud_tpu." },
	{ .name = "parameterServerCount",
	  .type = FIELD_INT,
	  .flags = FIELD_INT64,
	  .max = MACHINE_COUNT_MAX,
	  .fallback = "0",
	  .fallback_1 = "0",
	  .offset = offsetof(struct training_input, parameter_server_count),
	  .doc = "How many parameter servers there are; none with a TPU." },
	{ .name = "evaluatorCount",
	  .type = FIELD_INT,
	  .flags = FIELD_INT64,
	  .max = MACHINE_COUNT_MAX,
	  .fallback = "0",
	  .fallback_1 = "0",
	  .offset = offsetof(struct training_input, evaluator_count),
	  .doc = "How many evaluators there are.  TensorFlow expects at most "
		 "one." },
	{ .name = "packageUris",
	  .type = FIELD_STRINGS,
	  .flags = FIELD_PATH,
	  .check = check_url,
	  .offset = offsetof(struct training_input, package_uris),
	  .doc = "The Python packages (.tar.gz, .whl) to install before the "
		 "program starts, in this order, as gs:// URLs; at most 100." },
	{ .name = "pythonModule",
	  .type = FIELD_STRING,
	  .check = check_module,
	  .offset = offsetof(struct training_input, python_module),
	  .doc = "The module to run after that, as python -m does: "
		 "trainer.task." },
	{ .name = "args",
	  .type = FIELD_STRINGS,
	  .offset = offsetof(struct training_input, args),
	  .doc = "The arguments of the program." },
	{ .name = "hyperparameters",
	  .type = FIELD_MESSAGE,
	  .message = &message_hyperparameter_spec,
	  .offset = offsetof(struct training_input, hyperparameters),
	  .doc = "Turns the job into many trials of one program." },
	{ .name = "region",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct training_input, region),
	  .doc = "The region to run in, for instance us-central1; not a "
		 "zone." },
	{ .name = "jobDir",
	  .type = FIELD_STRING,
	  .check = check_url,
	  .offset = offsetof(struct training_input, job_dir),
	  .doc = "Where the program puts its output.  It gets the path as "
		 "--job-dir." },
	{ .name = "runtimeVersion",
	  .type = FIELD_STRING,
	  .check = check_version,
	  .offset = offsetof(struct training_input, runtime_version),
	  .doc = "The AI Platform runtime to run in, for instance \"2.11\", "
		 "in quotes.  Not with masterConfig.imageUri." },
	{ .name = "pythonVersion",
	  .type = FIELD_STRING,
	  .check = check_version,
	  .offset = offsetof(struct training_input, python_version),
	  .doc = "The version of Python, for instance \"3.7\", in quotes; "
		 "each runtime has its own." },
	{ .name = "masterConfig",
	  .type = FIELD_MESSAGE,
	  .message = &message_replica_config,
	  .offset = offsetof(struct training_input, master_config),
	  .doc = "What the master runs on and in." },
	{ .name = "workerConfig",
	  .type = FIELD_MESSAGE,
	  .message = &message_replica_config,
	  .offset = offsetof(struct training_input, worker_config),
	  .doc = "What the workers run on and in." },
	{ .name = "parameterServerConfig",
	  .type = FIELD_MESSAGE,
	  .message = &message_replica_config,
	  .offset = offsetof(struct training_input, parameter_server_config),
	  .doc = "What the parameter servers run on and in." },
	{ .name = "evaluatorConfig",
	  .type = FIELD_MESSAGE,
	  .message = &message_replica_config,
	  .offset = offsetof(struct training_input, evaluator_config),
	  .doc = "What the evaluators run on and in." },
	{ .name = "encryptionConfig",
	  .type = FIELD_MESSAGE,
	  .message = &message_encryption_config,
	  .offset = offsetof(struct training_input, encryption_config),
	  .traits = TRAIT_MANAGED,
	  .doc = "A customer-managed key for what the job stores." },
	{ .name = "scheduling",
	  .type = FIELD_MESSAGE,
	  .message = &message_scheduling,
	  .offset = offsetof(struct training_input, scheduling),
	  .doc = "How long the job may wait and run." },
	{ .name = "network",
	  .type = FIELD_STRING,
	  .check = check_peered,
	  .offset = offsetof(struct training_input, network),
	  .traits = TRAIT_MANAGED,
	  .doc = "The network to peer the job with, as "
		 "projects/NUMBER/global/networks/NAME: the number of the "
		 "project, not its name." },
	{ .name = "serviceAccount",
	  .type = FIELD_STRING,
	  .check = check_email,
	  .offset = offsetof(struct training_input, service_account),
	  .traits = TRAIT_GOOGLE_CLOUD,
	  .doc = "The service account that the program runs as." },
	{ .name = "useChiefInTfConfig",
	  .type = FIELD_BOOL,
	  .offset = offsetof(struct training_input, use_chief_in_tf_config),
	  .doc = "Whether TF_CONFIG calls the master of a custom container "
		 "chief.  No effect with a runtimeVersion." },
	{ .name = "enableWebAccess",
	  .type = FIELD_BOOL,
	  .offset = offsetof(struct training_input, enable_web_access),
	  .traits = TRAIT_MANAGED,
	  .doc = "Whether the service opens a shell in each replica, for "
		 "debugging." },
	{ .name = NULL },
};

const struct message message_training_input = {
	.name = "TrainingInput",
	.doc = "What to train, and on what: AI Platform Training's message.",
	.size = sizeof(struct training_input),
	.fields = training_input_fields,
};
