/* SPDX-License-Identifier: Apache-2.0 */
/* trainingInput.hyperparameters: many trials of one job. */
#include "core/job/check.h"
#include "schema/tables/tables.h"

#include "core/job/job.h"

/* On Kubernetes and Slurm all trials are written out. */
#define TRIALS_MAX 10000

static const char *const goal_names[] = {
	"GOAL_TYPE_UNSPECIFIED",
	"MAXIMIZE",
	"MINIMIZE",
	NULL,
};

static const char *const algorithm_names[] = {
	"ALGORITHM_UNSPECIFIED",
	"GRID_SEARCH",
	"RANDOM_SEARCH",
	NULL,
};

static const char *const parameter_type_names[] = {
	"PARAMETER_TYPE_UNSPECIFIED",
	"DOUBLE",
	"INTEGER",
	"CATEGORICAL",
	"DISCRETE",
	NULL,
};

static const char *const scale_type_names[] = {
	"NONE", "UNIT_LINEAR_SCALE", "UNIT_LOG_SCALE", "UNIT_REVERSE_LOG_SCALE",
	NULL,
};

static const struct field parameter_spec_fields[] = {
	{ .name = "parameterName",
	  .type = FIELD_STRING,
	  .flags = FIELD_REQUIRED,
	  .offset = offsetof(struct parameter_spec, parameter_name),
	  .doc = "The name of the parameter, which must be unique.  A trial "
		 "gets --NAME=VALUE as an argument." },
	{ .name = "type",
	  .type = FIELD_ENUM,
	  .flags = FIELD_REQUIRED,
	  .values = parameter_type_names,
	  .offset = offsetof(struct parameter_spec, type),
	  .doc = "The type of the parameter.  DOUBLE and INTEGER take "
		 "minValue and maxValue, CATEGORICAL takes categoricalValues, "
		 "DISCRETE takes discreteValues." },
	{ .name = "minValue",
	  .type = FIELD_DOUBLE,
	  .offset = offsetof(struct parameter_spec, min_value),
	  .doc = "The least value of a DOUBLE or an INTEGER; a whole number "
		 "for an INTEGER." },
	{ .name = "maxValue",
	  .type = FIELD_DOUBLE,
	  .offset = offsetof(struct parameter_spec, max_value),
	  .doc = "The greatest value of a DOUBLE or an INTEGER; a whole "
		 "number for an INTEGER." },
	{ .name = "categoricalValues",
	  .type = FIELD_STRINGS,
	  .offset = offsetof(struct parameter_spec, categorical_values),
	  .doc = "The values of a CATEGORICAL parameter." },
	{ .name = "discreteValues",
	  .type = FIELD_DOUBLES,
	  .offset = offsetof(struct parameter_spec, discrete_values),
	  .doc = "The values of a DISCRETE parameter, each greater than the "
		 "one before, at most 1000." },
	{ .name = "scaleType",
	  .type = FIELD_ENUM,
	  .values = scale_type_names,
	  .offset = offsetof(struct parameter_spec, scale_type),
	  .doc = "How values are distributed.  The two log scales need values "
		 "greater than 0; a CATEGORICAL parameter has none." },
	{ .name = NULL },
};

static const struct message message_parameter_spec = {
	.name = "ParameterSpec",
	.doc = "One parameter for which the trials try values.",
	.size = sizeof(struct parameter_spec),
	.fields = parameter_spec_fields,
};

static const struct field hyperparameter_spec_fields[] = {
	{ .name = "goal",
	  .type = FIELD_ENUM,
	  .flags = FIELD_REQUIRED,
	  .unless = "resumePreviousJobId",
	  .values = goal_names,
	  .offset = offsetof(struct hyperparameter_spec, goal),
	  .doc = "Whether to maximise or minimise the metric." },
	{ .name = "params",
	  .type = FIELD_MESSAGES,
	  .flags = FIELD_REQUIRED,
	  .unless = "resumePreviousJobId",
	  .message = &message_parameter_spec,
	  .offset = offsetof(struct hyperparameter_spec, params),
	  .doc = "The parameters to try values for." },
	{ .name = "maxTrials",
	  .type = FIELD_INT,
	  .min = 1,
	  .max = TRIALS_MAX,
	  .fallback = "1",
	  .fallback_1 = "1",
	  .offset = offsetof(struct hyperparameter_spec, max_trials),
	  .doc = "How many trials to run in all." },
	{ .name = "maxParallelTrials",
	  .type = FIELD_INT,
	  .min = 1,
	  .max = 2147483647,
	  .fallback = "1",
	  .fallback_1 = "1",
	  .offset = offsetof(struct hyperparameter_spec, max_parallel_trials),
	  .doc = "How many trials to run at a time.  Later trials learn less "
		 "from earlier ones if many run at once." },
	{ .name = "maxFailedTrials",
	  .type = FIELD_INT,
	  .max = 2147483647,
	  .fallback = "0",
	  .fallback_1 = "0",
	  .offset = offsetof(struct hyperparameter_spec, max_failed_trials),
	  .doc = "After how many failed trials the job fails; 0 leaves it to "
		 "the service." },
	{ .name = "hyperparameterMetricTag",
	  .type = FIELD_STRING,
	  .fallback = "training/hptuning/metric",
	  .fallback_1 = "training/hptuning/metric",
	  .offset = offsetof(struct hyperparameter_spec, metric_tag),
	  .doc = "The name under which the program reports the metric." },
	{ .name = "resumePreviousJobId",
	  .type = FIELD_STRING,
	  .offset =
		  offsetof(struct hyperparameter_spec, resume_previous_job_id),
	  .check = check_job_id,
	  .doc = "The job whose trials these resume.  Its goal and its params "
		 "then apply, and need not be repeated." },
	{ .name = "enableTrialEarlyStopping",
	  .type = FIELD_BOOL,
	  .offset = offsetof(struct hyperparameter_spec,
			     enable_trial_early_stopping),
	  .doc = "Whether to stop unpromising trials early." },
	{ .name = "algorithm",
	  .type = FIELD_ENUM,
	  .values = algorithm_names,
	  .offset = offsetof(struct hyperparameter_spec, algorithm),
	  .doc = "How values are chosen: Bayesian optimisation by default, "
		 "GRID_SEARCH (not with a DOUBLE) or RANDOM_SEARCH." },
	{ .name = NULL },
};

const struct message message_hyperparameter_spec = {
	.name = "HyperparameterSpec",
	.doc = "Parameters of the program for which many trials try values.",
	.size = sizeof(struct hyperparameter_spec),
	.fields = hyperparameter_spec_fields,
};
