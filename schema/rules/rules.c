/* SPDX-License-Identifier: Apache-2.0 */
/* The table of rules.  What each does is in rules_THEME.c. */
#include "schema/rules/rules.h"

#include "core/job/traits.h"
#include "schema/catalogue/catalogue_get.h"
#include "schema/rules/rules_check.h"

/* What they look at. */
static const char *const labels_fields[] = {
	"labels",
	NULL,
};
static const char *const custom_master_fields[] = {
	"trainingInput.scaleTier",
	"trainingInput.masterType",
	NULL,
};
static const char *const only_custom_fields[] = {
	"trainingInput.scaleTier",
	"trainingInput.masterType",
	"trainingInput.workerType",
	"trainingInput.workerCount",
	"trainingInput.parameterServerType",
	"trainingInput.parameterServerCount",
	"trainingInput.evaluatorType",
	"trainingInput.evaluatorCount",
	NULL,
};
static const char *const type_and_count_fields[] = {
	"trainingInput.workerType",
	"trainingInput.workerCount",
	"trainingInput.parameterServerType",
	"trainingInput.parameterServerCount",
	"trainingInput.evaluatorType",
	"trainingInput.evaluatorCount",
	NULL,
};
static const char *const machine_type_fields[] = {
	"trainingInput.masterType",
	"trainingInput.workerType",
	"trainingInput.parameterServerType",
	"trainingInput.evaluatorType",
	NULL,
};
static const char *const accelerator_pair_fields[] = {
	"trainingInput.masterConfig.acceleratorConfig",
	"trainingInput.workerConfig.acceleratorConfig",
	"trainingInput.parameterServerConfig.acceleratorConfig",
	"trainingInput.evaluatorConfig.acceleratorConfig",
	NULL,
};
static const char *const accelerator_region_fields[] = {
	"trainingInput.region",
	NULL,
};
static const char *const tpu_worker_fields[] = {
	"trainingInput.masterType",
	"trainingInput.parameterServerType",
	"trainingInput.evaluatorType",
	NULL,
};
static const char *const tpu_accelerator_fields[] = {
	"trainingInput.workerType",
	"trainingInput.workerConfig.acceleratorConfig.type",
	NULL,
};
static const char *const tpu_one_fields[] = {
	"trainingInput.workerType",
	"trainingInput.workerCount",
	NULL,
};
static const char *const tpu_no_servers_fields[] = {
	"trainingInput.workerType",
	"trainingInput.parameterServerCount",
	NULL,
};
static const char *const tpu_count_fields[] = {
	"trainingInput.workerConfig.acceleratorConfig.type",
	"trainingInput.workerConfig.acceleratorConfig.count",
	NULL,
};
static const char *const tpu_slice_fields[] = {
	"trainingInput.workerConfig.acceleratorConfig.count",
	NULL,
};
static const char *const tpu_tf_version_fields[] = {
	"trainingInput.workerConfig.tpuTfVersion",
	"trainingInput.workerConfig.imageUri",
	"trainingInput.masterConfig.imageUri",
	"trainingInput.runtimeVersion",
	NULL,
};
static const char *const tpu_runtime_fields[] = {
	"trainingInput.runtimeVersion",
	"trainingInput.workerConfig.tpuTfVersion",
	NULL,
};
static const char *const tpu_zone_fields[] = {
	"jobrun.zone",
	"trainingInput.workerConfig.acceleratorConfig",
	NULL,
};
static const char *const image_or_runtime_fields[] = {
	"trainingInput.masterConfig.imageUri",
	"trainingInput.workerConfig.imageUri",
	"trainingInput.parameterServerConfig.imageUri",
	"trainingInput.evaluatorConfig.imageUri",
	"trainingInput.runtimeVersion",
	"trainingInput.pythonVersion",
	NULL,
};
static const char *const container_args_fields[] = {
	"trainingInput.args",
	"trainingInput.masterConfig.containerCommand",
	"trainingInput.masterConfig.containerArgs",
	"trainingInput.workerConfig.containerCommand",
	"trainingInput.workerConfig.containerArgs",
	"trainingInput.parameterServerConfig.containerCommand",
	"trainingInput.parameterServerConfig.containerArgs",
	"trainingInput.evaluatorConfig.containerCommand",
	"trainingInput.evaluatorConfig.containerArgs",
	NULL,
};
static const char *const python_version_fields[] = {
	"trainingInput.pythonVersion",
	"trainingInput.runtimeVersion",
	NULL,
};
static const char *const packages_fields[] = {
	"trainingInput.packageUris",
	NULL,
};
static const char *const job_dir_fields[] = {
	"trainingInput.jobDir",
	NULL,
};
static const char *const chief_fields[] = {
	"trainingInput.useChiefInTfConfig",
	"trainingInput.runtimeVersion",
	NULL,
};
static const char *const zone_fields[] = {
	"jobrun.zone",
	NULL,
};
static const char *const zone_in_region_fields[] = {
	"jobrun.zone",
	"trainingInput.region",
	NULL,
};
static const char *const parameters_fields[] = {
	"trainingInput.hyperparameters.params",
	NULL,
};
static const char *const parameter_name_fields[] = {
	"trainingInput.hyperparameters.params.parameterName",
	NULL,
};
static const char *const parameter_range_fields[] = {
	"trainingInput.hyperparameters.params.type",
	"trainingInput.hyperparameters.params.minValue",
	"trainingInput.hyperparameters.params.maxValue",
	NULL,
};
static const char *const parameter_values_fields[] = {
	"trainingInput.hyperparameters.params.type",
	"trainingInput.hyperparameters.params.categoricalValues",
	"trainingInput.hyperparameters.params.discreteValues",
	NULL,
};
static const char *const parameter_scale_fields[] = {
	"trainingInput.hyperparameters.params.scaleType",
	"trainingInput.hyperparameters.params.minValue",
	"trainingInput.hyperparameters.params.discreteValues",
	NULL,
};
static const char *const parameter_fields_fields[] = {
	"trainingInput.hyperparameters.params.type",
	"trainingInput.hyperparameters.params.minValue",
	"trainingInput.hyperparameters.params.maxValue",
	"trainingInput.hyperparameters.params.categoricalValues",
	"trainingInput.hyperparameters.params.discreteValues",
	"trainingInput.hyperparameters.params.scaleType",
	NULL,
};
static const char *const grid_search_fields[] = {
	"trainingInput.hyperparameters.algorithm",
	"trainingInput.hyperparameters.params.type",
	NULL,
};
static const char *const trials_fields[] = {
	"trainingInput.hyperparameters.maxTrials",
	"trainingInput.hyperparameters.maxParallelTrials",
	NULL,
};
static const char *const docker_or_conda_fields[] = {
	"jobrun.docker",
	"jobrun.conda",
	NULL,
};
static const char *const docker_hosts_fields[] = {
	"jobrun.docker",
	"jobrun.hosts",
	NULL,
};
static const char *const secret_fields[] = {
	"jobrun.secrets",
	NULL,
};
static const char *const variable_twice_fields[] = {
	"jobrun.secrets",
	"jobrun.env",
	NULL,
};
static const char *const own_variable_fields[] = {
	"jobrun.env",
	"jobrun.secrets",
	NULL,
};
static const char *const best_checkpoint_fields[] = {
	"jobrun.checkpoints.metric",
	"jobrun.checkpoints.goal",
	"jobrun.checkpoints.resume",
	NULL,
};

static const char *const launcher_fields[] = {
	"jobrun.checkpoints",
	"jobrun.data",
	NULL,
};

const struct rule rules[] = {
	{ .id = "labels",
	  .severity = SEVERITY_ERROR,
	  .doc = "A job has at most 64 labels.",
	  .source = "tensorflow/cloud, core/validate.py",
	  .fields = labels_fields,
	  .check = check_labels },
	{ .id = "custom-master",
	  .severity = SEVERITY_ERROR,
	  .doc = "With scaleTier CUSTOM the service needs to know the "
		 "master's machine.",
	  .source = "AI Platform Training REST reference, TrainingInput",
	  .fields = custom_master_fields,
	  .traits = TRAIT_MANAGED,
	  .check = check_custom_master },
	{ .id = "only-custom",
	  .severity = SEVERITY_ERROR,
	  .doc = "Machine types and counts are the file's to say with "
		 "scaleTier CUSTOM only; a tier has its own.",
	  .source = "AI Platform Training REST reference, TrainingInput",
	  .fields = only_custom_fields,
	  .check = check_only_custom },
	{ .id = "type-and-count",
	  .severity = SEVERITY_ERROR,
	  .doc = "Replicas need a machine type, and a machine type needs "
		 "replicas.",
	  .source = "AI Platform Training REST reference, TrainingInput",
	  .fields = type_and_count_fields,
	  .check = check_types },
	{ .id = "machine-type",
	  .severity = SEVERITY_ERROR,
	  .doc = "The service has a list of machine types.",
	  .source = "AI Platform Training docs, machine types",
	  .fields = machine_type_fields,
	  .traits = TRAIT_MANAGED,
	  .check = check_machine_types },
	{ .id = "one-category",
	  .severity = SEVERITY_ERROR,
	  .doc = "The machines of a job are all of Compute Engine or all "
		 "legacy ones; cloud_tpu goes with both.",
	  .source = "AI Platform Training REST reference, TrainingInput",
	  .fields = machine_type_fields,
	  .traits = TRAIT_MANAGED,
	  .check = check_one_category },
	{ .id = "accelerator-pair",
	  .severity = SEVERITY_ERROR,
	  .doc = "Accelerators have a type and a number.",
	  .source = "AI Platform Training REST reference, AcceleratorConfig",
	  .fields = accelerator_pair_fields,
	  .check = check_accelerator_pairs },
	{ .id = "accelerator",
	  .severity = SEVERITY_ERROR,
	  .doc = "A machine of Compute Engine can have certain numbers of "
		 "certain GPUs; a legacy one has its own.",
	  .source = "AI Platform Training docs, using GPUs",
	  .fields = accelerator_pair_fields,
	  .traits = TRAIT_MANAGED,
	  .check = check_accelerators },
	{ .id = "accelerator-region",
	  .severity = SEVERITY_WARNING,
	  .doc = "Not every region has every GPU.",
	  .source = "AI Platform Training docs, regions",
	  .fields = accelerator_region_fields,
	  .traits = TRAIT_AI_PLATFORM_RULES,
	  .check = check_accelerator_region },
	{ .id = "tpu-worker",
	  .severity = SEVERITY_ERROR,
	  .doc = "A Cloud TPU is a worker, and neither the master nor "
		 "another replica.",
	  .source = "tensorflow/cloud, core/validate.py",
	  .fields = tpu_worker_fields,
	  .check = check_tpu_worker },
	{ .id = "tpu-accelerator",
	  .severity = SEVERITY_ERROR,
	  .doc = "Accelerators of type TPU_ go with workerType cloud_tpu, "
		 "and no others do.",
	  .source = "AI Platform Training docs, using TPUs",
	  .fields = tpu_accelerator_fields,
	  .traits = TRAIT_MANAGED,
	  .check = check_tpu_accelerator },
	{ .id = "tpu-one",
	  .severity = SEVERITY_ERROR,
	  .doc = "A job has one TPU: how large it is says "
		 "acceleratorConfig.count.",
	  .source = "AI Platform Training docs, using TPUs",
	  .fields = tpu_one_fields,
	  .check = check_tpu_one },
	{ .id = "tpu-no-servers",
	  .severity = SEVERITY_ERROR,
	  .doc = "The service refuses parameter servers beside a TPU.",
	  .source = "AI Platform Training docs, using TPUs",
	  .fields = tpu_no_servers_fields,
	  .check = check_tpu_no_servers },
	{ .id = "tpu-count",
	  .severity = SEVERITY_ERROR,
	  .doc = "The service has TPU_V2 and TPU_V3 with eight cores, and "
		 "no other number.",
	  .source = "AI Platform Training docs, using TPUs",
	  .fields = tpu_count_fields,
	  .traits = TRAIT_AI_PLATFORM_RULES,
	  .check = check_tpu_count },
	{ .id = "tpu-slice",
	  .severity = SEVERITY_ERROR,
	  .doc = "A pod slice has one of a few sizes.",
	  .source = "Cloud TPU docs, TPU versions",
	  .fields = tpu_slice_fields,
	  .unless = TRAIT_AI_PLATFORM_RULES,
	  .check = check_tpu_slice },
	{ .id = "tpu-tf-version",
	  .severity = SEVERITY_ERROR,
	  .doc = "The TPU needs to know the TensorFlow of a custom "
		 "container; otherwise the runtime version says it.",
	  .source = "AI Platform Training REST reference, TrainingInput, "
		    "tpuTfVersion",
	  .fields = tpu_tf_version_fields,
	  .traits = TRAIT_AI_PLATFORM_RULES,
	  .check = check_tpu_tf },
	{ .id = "tpu-runtime",
	  .severity = SEVERITY_ERROR,
	  .doc = "Only some runtime versions support TPUs.",
	  .source = "AI Platform Training docs, using TPUs",
	  .fields = tpu_runtime_fields,
	  .traits = TRAIT_AI_PLATFORM_RULES,
	  .check = check_tpu_runtime },
	{ .id = "tpu-region",
	  .severity = SEVERITY_ERROR,
	  .doc = "Only some regions have TPUs.",
	  .source = "AI Platform Training docs, using TPUs",
	  .fields = accelerator_region_fields,
	  .traits = TRAIT_AI_PLATFORM_RULES,
	  .check = check_tpu_region },
	{ .id = "tpu-zone",
	  .severity = SEVERITY_WARNING,
	  .doc = "Only some zones have TPUs of a type and size.",
	  .source = "Cloud TPU docs, TPU regions and zones",
	  .fields = tpu_zone_fields,
	  .traits = TRAIT_MAKES_MACHINES,
	  .check = check_tpu_zone },
	{ .id = "image-or-runtime",
	  .severity = SEVERITY_ERROR,
	  .doc = "A replica runs a container or a runtime version, not "
		 "both.",
	  .source = "gcloud ai-platform jobs submit training reference",
	  .fields = image_or_runtime_fields,
	  .traits = TRAIT_MANAGED,
	  .check = check_image_or_runtime },
	{ .id = "container-args",
	  .severity = SEVERITY_ERROR,
	  .doc = "containerCommand and containerArgs are for a container, "
		 "and stand instead of args.",
	  .source = "AI Platform Training REST reference, ReplicaConfig",
	  .fields = container_args_fields,
	  .traits = TRAIT_MANAGED,
	  .check = check_container_args },
	{ .id = "runtime-version",
	  .severity = SEVERITY_ERROR,
	  .doc = "The service had certain runtime versions.",
	  .source = "AI Platform Training docs, runtime version list",
	  .fields = tpu_runtime_fields,
	  .traits = TRAIT_AI_PLATFORM_RULES,
	  .check = check_runtime },
	{ .id = "python-version",
	  .severity = SEVERITY_ERROR,
	  .doc = "Each runtime version has certain versions of Python.",
	  .source = "AI Platform Training docs, runtime version list",
	  .fields = python_version_fields,
	  .traits = TRAIT_AI_PLATFORM_RULES,
	  .check = check_python },
	{ .id = "packages",
	  .severity = SEVERITY_ERROR,
	  .doc = "A job has at most 100 packages.",
	  .source = "AI Platform Training REST reference, TrainingInput, "
		    "packageUris",
	  .fields = packages_fields,
	  .traits = TRAIT_MANAGED,
	  .check = check_packages },
	{ .id = "job-dir",
	  .severity = SEVERITY_ERROR,
	  .doc = "The service keeps what a job makes in Cloud Storage.",
	  .source = "AI Platform Training REST reference, TrainingInput, "
		    "jobDir",
	  .fields = job_dir_fields,
	  .traits = TRAIT_MANAGED,
	  .check = check_job_dir },
	{ .id = "chief",
	  .severity = SEVERITY_WARNING,
	  .doc = "Only the TF_CONFIG of custom containers can be changed.",
	  .source = "AI Platform Training REST reference, TrainingInput, "
		    "useChiefInTfConfig",
	  .fields = chief_fields,
	  .traits = TRAIT_AI_PLATFORM_RULES,
	  .check = check_chief },
	{ .id = "region",
	  .severity = SEVERITY_ERROR,
	  .doc = "The service runs in regions, not in zones.",
	  .source = "AI Platform Training docs, regions",
	  .fields = accelerator_region_fields,
	  .traits = TRAIT_GOOGLE_CLOUD,
	  .check = check_region },
	{ .id = "zone",
	  .severity = SEVERITY_ERROR,
	  .doc = "A zone is a region and a letter.",
	  .source = "Compute Engine docs, regions and zones",
	  .fields = zone_fields,
	  .traits = TRAIT_GOOGLE_CLOUD,
	  .check = check_zone },
	{ .id = "zone-in-region",
	  .severity = SEVERITY_ERROR,
	  .doc = "A zone is in one region.",
	  .source = "Compute Engine docs, regions and zones",
	  .fields = zone_in_region_fields,
	  .traits = TRAIT_GOOGLE_CLOUD,
	  .check = check_zone_in_region },
	{ .id = "parameters",
	  .severity = SEVERITY_ERROR,
	  .doc = "To tune needs parameters.",
	  .source = "AI Platform Training REST reference, HyperparameterSpec",
	  .fields = parameters_fields,
	  .check = check_parameters },
	{ .id = "parameter-name",
	  .severity = SEVERITY_ERROR,
	  .doc = "Each parameter has a name of its own.",
	  .source = "AI Platform Training REST reference, ParameterSpec",
	  .fields = parameter_name_fields,
	  .check = check_parameter_names },
	{ .id = "parameter-range",
	  .severity = SEVERITY_ERROR,
	  .doc = "A DOUBLE and an INTEGER lie between two values, whole "
		 "ones for an INTEGER.",
	  .source = "AI Platform Training REST reference, ParameterSpec",
	  .fields = parameter_range_fields,
	  .check = check_parameter_range },
	{ .id = "parameter-values",
	  .severity = SEVERITY_ERROR,
	  .doc = "CATEGORICAL and DISCRETE have lists of values, and those "
		 "of DISCRETE rise.",
	  .source = "AI Platform Training REST reference, ParameterSpec",
	  .fields = parameter_values_fields,
	  .check = check_parameter_values },
	{ .id = "parameter-scale",
	  .severity = SEVERITY_ERROR,
	  .doc = "There is no logarithm of 0.",
	  .source = "AI Platform Training REST reference, ParameterSpec",
	  .fields = parameter_scale_fields,
	  .check = check_parameter_scale },
	{ .id = "parameter-fields",
	  .severity = SEVERITY_ERROR,
	  .doc = "A parameter has the fields of its type.",
	  .source = "AI Platform Training REST reference, ParameterSpec",
	  .fields = parameter_fields_fields,
	  .check = check_parameter_fields },
	{ .id = "grid-search",
	  .severity = SEVERITY_ERROR,
	  .doc = "A grid has as many points as there are values.",
	  .source = "Cloud ML Engine release notes",
	  .fields = grid_search_fields,
	  .check = check_grid_search },
	{ .id = "trials",
	  .severity = SEVERITY_WARNING,
	  .doc = "There are never more trials at a time than in all.",
	  .source = "AI Platform Training REST reference, HyperparameterSpec",
	  .fields = trials_fields,
	  .check = check_trials },
	{ .id = "secret",
	  .severity = SEVERITY_ERROR,
	  .doc = "A secret has exactly one place to be taken from.",
	  .source = "jobrun-job(5)",
	  .fields = secret_fields,
	  .check = check_secrets },
	{ .id = "docker-or-conda",
	  .severity = SEVERITY_ERROR,
	  .doc = "A program runs in a container or in a conda environment, "
		 "not in both.",
	  .source = "jobrun-job(5)",
	  .fields = docker_or_conda_fields,
	  .check = check_docker_or_conda },
	{ .id = "docker-hosts",
	  .severity = SEVERITY_ERROR,
	  .doc = "Containers are for hosts: on this machine the program runs "
		 "as it is.",
	  .source = "jobrun-job(5)",
	  .fields = docker_hosts_fields,
	  .check = check_docker_hosts },
	{ .id = "variable-twice",
	  .severity = SEVERITY_ERROR,
	  .doc = "A variable has one value.",
	  .source = "jobrun-job(5)",
	  .fields = variable_twice_fields,
	  .check = check_secret_names },
	{ .id = "own-variable",
	  .severity = SEVERITY_ERROR,
	  .doc = "JOBRUN_RUN_DIR is jobrun's own where it starts the program: "
		 "it knows the processes of a run by it.",
	  .source = "jobrun-job(5)",
	  .traits = TRAIT_STARTS_PROGRAM,
	  .fields = own_variable_fields,
	  .check = check_own_variable },
	{ .id = "best-checkpoint",
	  .severity = SEVERITY_ERROR,
	  .doc = "Which checkpoint is the best say a metric and its goal "
		 "together.",
	  .source = "jobrun-job(5)",
	  .fields = best_checkpoint_fields,
	  .check = check_checkpoints },
	{ .id = "launcher",
	  .severity = SEVERITY_ERROR,
	  .doc = "In a pod it is jobrun that keeps checkpoints and streams "
		 "data, and an image must have it.",
	  .source = "jobrun-job(5)",
	  .fields = launcher_fields,
	  .traits = TRAIT_LAUNCHER,
	  .check = check_launcher },
	{ .id = NULL },
};

bool rule_holds(const struct rule *rule, unsigned traits)
{
	return traits_have(traits, rule->traits) && !(traits & rule->unless);
}

bool rule_is_everywhere(const struct rule *rule)
{
	return !rule->traits && !rule->unless;
}

void rules_check(const struct job *job, unsigned traits, struct problems *found)
{
	struct error err;
	struct check check = {
		.job = job,
		.in = &job->training_input,
		.traits = traits,
		.catalogue = catalogue_get(&err),
		.found = found,
	};

	if (!check.catalogue) {
		problem_add(found, SEVERITY_ERROR, job->head.node, NULL,
			    "catalogue", "%s", err.text);
		return;
	}
	for (check.rule = rules; check.rule->id; check.rule++)
		if (rule_holds(check.rule, traits))
			check.rule->check(&check);
}
