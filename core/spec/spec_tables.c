/* SPDX-License-Identifier: Apache-2.0 */
/* The members of a specification in spec.json, each named once. */
#include "core/spec/spec_tables.h"

#include "core/spec/spec.h"
#include "core/spec/spec_container.h"
#include "core/topology/topology.h"

static const struct field rule_fields[] = {
	{ FIELD_PLAIN(restart_rule, "exitCodes", FIELD_STRINGS, exit_codes) },
	{ FIELD_PLAIN(restart_rule, "signals", FIELD_STRINGS, signals) },
	{ FIELD_PLAIN(restart_rule, "preempted", FIELD_BOOL, preempted) },
	{ FIELD_PLAIN(restart_rule, "fail", FIELD_BOOL, action) },
	{ .name = NULL },
};

static const struct message rule_message = {
	.name = "rule",
	.size = sizeof(struct restart_rule),
	.fields = rule_fields,
};

static const struct field restart_fields[] = {
	{ FIELD_PLAIN(restart, "maxRestarts", FIELD_INT, max_restarts) },
	{ FIELD_PLAIN(restart, "maxPreemptions", FIELD_INT, max_preemptions) },
	{ FIELD_PLAIN(restart, "backoffS", FIELD_INT, backoff_s) },
	{ FIELD_PLAIN(restart, "maxBackoffS", FIELD_INT, max_backoff_s) },
	{ FIELD_PLAIN(restart, "rules", FIELD_MESSAGES, rules),
	  .message = &rule_message },
	{ .name = NULL },
};

static const struct message spec_restart_message = {
	.name = "restart",
	.size = sizeof(struct restart),
	.fields = restart_fields,
};

static const struct field param_fields[] = {
	{ FIELD_PLAIN(parameter_spec, "name", FIELD_STRING, parameter_name),
	  .flags = FIELD_REQUIRED },
	{ FIELD_PLAIN(parameter_spec, "type", FIELD_INT, type),
	  .max = PARAMETER_DISCRETE },
	{ FIELD_PLAIN(parameter_spec, "scale", FIELD_INT, scale_type),
	  .max = SCALE_REVERSE_LOG },
	{ FIELD_PLAIN(parameter_spec, "min", FIELD_DOUBLE, min_value) },
	{ FIELD_PLAIN(parameter_spec, "max", FIELD_DOUBLE, max_value) },
	{ FIELD_PLAIN(parameter_spec, "categorical", FIELD_STRINGS,
		      categorical_values) },
	{ FIELD_PLAIN(parameter_spec, "discrete", FIELD_DOUBLES,
		      discrete_values) },
	{ .name = NULL },
};

static const struct message param_message = {
	.name = "parameter",
	.size = sizeof(struct parameter_spec),
	.fields = param_fields,
};

static const struct field tuning_fields[] = {
	{ FIELD_PLAIN(hyperparameter_spec, "goal", FIELD_INT, goal),
	  .max = GOAL_MINIMIZE },
	{ FIELD_PLAIN(hyperparameter_spec, "maxTrials", FIELD_INT, max_trials),
	  .fallback = "1" },
	{ FIELD_PLAIN(hyperparameter_spec, "maxParallelTrials", FIELD_INT,
		      max_parallel_trials),
	  .fallback = "1" },
	{ FIELD_PLAIN(hyperparameter_spec, "maxFailedTrials", FIELD_INT,
		      max_failed_trials) },
	{ FIELD_PLAIN(hyperparameter_spec, "metric", FIELD_STRING,
		      metric_tag) },
	{ FIELD_PLAIN(hyperparameter_spec, "early", FIELD_BOOL,
		      enable_trial_early_stopping) },
	{ FIELD_PLAIN(hyperparameter_spec, "algorithm", FIELD_INT, algorithm),
	  .max = ALGORITHM_RANDOM_SEARCH },
	{ FIELD_PLAIN(hyperparameter_spec, "params", FIELD_MESSAGES, params),
	  .flags = FIELD_REQUIRED, .message = &param_message },
	{ .name = NULL },
};

static const struct message spec_tuning_message = {
	.name = "hyperparameters",
	.size = sizeof(struct hyperparameter_spec),
	.fields = tuning_fields,
};

static const struct field checkpoint_fields[] = {
	{ FIELD_PLAIN(run_checkpoints, "directory", FIELD_STRING, directory),
	  .flags = FIELD_OPTIONAL },
	{ FIELD_PLAIN(run_checkpoints, "to", FIELD_STRING, to),
	  .flags = FIELD_OPTIONAL },
	{ FIELD_PLAIN(run_checkpoints, "keep", FIELD_INT, keep),
	  .fallback = "1" },
	{ FIELD_PLAIN(run_checkpoints, "metric", FIELD_STRING, metric),
	  .flags = FIELD_OPTIONAL },
	{ FIELD_PLAIN(run_checkpoints, "maximize", FIELD_BOOL, maximize) },
	{ FIELD_PLAIN(run_checkpoints, "resume", FIELD_INT, resume),
	  .max = CHECKPOINT_RESUME_NONE },
	{ FIELD_PLAIN(run_checkpoints, "quietS", FIELD_INT, quiet_s) },
	{ .name = NULL },
};

static const struct message checkpoints_message = {
	.name = "checkpoints",
	.size = sizeof(struct run_checkpoints),
	.fields = checkpoint_fields,
};

static const struct field set_fields[] = {
	{ FIELD_PLAIN(data_set, "urls", FIELD_STRINGS, urls),
	  .flags = FIELD_REQUIRED },
	{ FIELD_PLAIN(data_set, "index", FIELD_STRING, index),
	  .flags = FIELD_OPTIONAL },
	{ FIELD_PLAIN(data_set, "shuffle", FIELD_BOOL, shuffle) },
	{ FIELD_PLAIN(data_set, "seed", FIELD_INT, seed) },
	{ FIELD_PLAIN(data_set, "drop", FIELD_BOOL, uneven) },
	{ FIELD_PLAIN(data_set, "exact", FIELD_BOOL, exact),
	  .flags = FIELD_OPTIONAL },
	{ FIELD_PLAIN(data_set, "cache", FIELD_STRING, cache),
	  .flags = FIELD_OPTIONAL },
	{ FIELD_PLAIN(data_set, "cacheSize", FIELD_STRING, cache_size),
	  .with = "cache" },
	{ FIELD_PLAIN(data_set, "splitByHost", FIELD_BOOL, split_by_host) },
	{ FIELD_PLAIN(data_set, "splitByDevice", FIELD_BOOL, split_by_device) },
	{ .name = NULL },
};

const struct message spec_set_message = {
	.name = "data set",
	.size = sizeof(struct data_set),
	.fields = set_fields,
	.key = offsetof(struct data_set, name),
};

static const struct field data_fields[] = {
	{ FIELD_PLAIN(run_data, "data", FIELD_NAMED, sets),
	  .flags = FIELD_OPTIONAL | FIELD_ARRAY, .message = &spec_set_message },
	{ .name = NULL },
};

const struct message spec_data_message = {
	.name = "data sets",
	.size = sizeof(struct run_data),
	.fields = data_fields,
};

static const struct field secret_fields[] = {
	{ FIELD_PLAIN(secret_source, "env", FIELD_STRING, env),
	  .flags = FIELD_OPTIONAL },
	{ FIELD_PLAIN(secret_source, "file", FIELD_STRING, file),
	  .flags = FIELD_OPTIONAL },
	{ .name = NULL },
};

static const struct message secret_message = {
	.name = "secret",
	.size = sizeof(struct secret_source),
	.fields = secret_fields,
	.key = offsetof(struct secret_source, name),
};

static const struct field host_fields[] = {
	{ FIELD_PLAIN(run_hosts, "names", FIELD_STRINGS, names),
	  .flags = FIELD_OPTIONAL },
	{ FIELD_PLAIN(run_hosts, "shown", FIELD_STRINGS, shown),
	  .flags = FIELD_OPTIONAL },
	{ FIELD_PLAIN(run_hosts, "nonce", FIELD_STRING, nonce) },
	{ FIELD_PLAIN(run_hosts, "source", FIELD_STRING, source) },
	{ FIELD_PLAIN(run_hosts, "rule", FIELD_STRING, rule) },
	{ FIELD_PLAIN(run_hosts, "proxy", FIELD_STRING, proxy),
	  .flags = FIELD_OPTIONAL },
	{ FIELD_PLAIN(run_hosts, "directory", FIELD_STRING, directory),
	  .flags = FIELD_OPTIONAL },
	{ FIELD_PLAIN(run_hosts, "origin", FIELD_STRING, origin),
	  .flags = FIELD_OPTIONAL },
	{ FIELD_PLAIN(run_hosts, "digest", FIELD_STRING, digest),
	  .flags = FIELD_OPTIONAL },
	{ FIELD_PLAIN(run_hosts, "takeOver", FIELD_BOOL, take_over),
	  .flags = FIELD_OPTIONAL },
	/* Every run on hosts has a lease, also if its machines must be created
	 * first. */
	{ FIELD_PLAIN(run_hosts, "leaseS", FIELD_INT, lease_s),
	  .flags = FIELD_REQUIRED },
	{ FIELD_PLAIN(run_hosts, "reachS", FIELD_INT, reach_s),
	  .flags = FIELD_OPTIONAL },
	{ FIELD_PLAIN(run_hosts, "slot", FIELD_INT, slot) },
	{ FIELD_PLAIN(run_hosts, "rounds", FIELD_INT, rounds) },
	{ .name = NULL },
};

static const struct field words_fields[] = {
	{ FIELD_PLAIN(run_words, "role", FIELD_STRING, role),
	  .flags = FIELD_REQUIRED },
	{ FIELD_PLAIN(run_words, "command", FIELD_STRINGS, command) },
	{ FIELD_PLAIN(run_words, "argsEnd", FIELD_INT, args_end) },
	{ FIELD_PLAIN(run_words, "ownEntry", FIELD_BOOL, own_entry) },
	{ .name = NULL },
};

static const struct message words_message = {
	.name = "words",
	.size = sizeof(struct run_words),
	.fields = words_fields,
};

static const struct field container_fields[] = {
	{ FIELD_PLAIN(run_container, "runtime", FIELD_STRING, runtime),
	  .flags = FIELD_REQUIRED },
	{ FIELD_PLAIN(run_container, "images", FIELD_PAIRS, images) },
	{ FIELD_PLAIN(run_container, "mounts", FIELD_STRINGS, mounts) },
	{ FIELD_PLAIN(run_container, "workdir", FIELD_STRING, workdir),
	  .flags = FIELD_OPTIONAL },
	{ FIELD_PLAIN(run_container, "options", FIELD_STRINGS, options) },
	{ FIELD_PLAIN(run_container, "words", FIELD_MESSAGES, words),
	  .message = &words_message },
	{ .name = NULL },
};

static const struct field device_fields[] = {
	{ FIELD_PLAIN(run_devices, "folder", FIELD_STRING, folder),
	  .flags = FIELD_REQUIRED },
	{ FIELD_PLAIN(run_devices, "vendor", FIELD_STRING, vendor),
	  .flags = FIELD_REQUIRED },
	{ FIELD_PLAIN(run_devices, "share", FIELD_BOOL, share),
	  .flags = FIELD_OPTIONAL },
	{ FIELD_PLAIN(run_devices, "first", FIELD_INT, first) },
	{ FIELD_PLAIN(run_devices, "each", FIELD_INT, each) },
	{ FIELD_PLAIN(run_devices, "names", FIELD_STRINGS, names) },
	{ FIELD_PLAIN(run_devices, "ids", FIELD_STRINGS, ids) },
	{ FIELD_PLAIN(run_devices, "held", FIELD_STRINGS, held) },
	{ FIELD_PLAIN(run_devices, "type", FIELD_STRING, type),
	  .flags = FIELD_OPTIONAL },
	{ FIELD_PLAIN(run_devices, "model", FIELD_STRING, model),
	  .flags = FIELD_OPTIONAL },
	{ FIELD_PLAIN(run_devices, "strict", FIELD_BOOL, strict),
	  .flags = FIELD_OPTIONAL },
	{ .name = NULL },
};

static const struct message devices_message = {
	.name = "devices",
	.size = sizeof(struct run_devices),
	.fields = device_fields,
};

static const struct message container_message = {
	.name = "container",
	.size = sizeof(struct run_container),
	.fields = container_fields,
};

static const struct message hosts_message = {
	.name = "hosts",
	.size = sizeof(struct run_hosts),
	.fields = host_fields,
};

static const struct field spec_fields[] = {
	{ FIELD_PLAIN(run_spec, "jobId", FIELD_STRING, job_id),
	  .flags = FIELD_REQUIRED },
	{ FIELD_PLAIN(run_spec, "attempt", FIELD_INT, attempt) },
	{ FIELD_PLAIN(run_spec, "folder", FIELD_STRING, folder),
	  .flags = FIELD_REQUIRED },
	{ FIELD_PLAIN(run_spec, "home", FIELD_STRING, home) },
	{ FIELD_PLAIN(run_spec, "output", FIELD_STRING, output) },
	{ FIELD_PLAIN(run_spec, "topology", FIELD_MESSAGE, topology),
	  .flags = FIELD_REQUIRED, .message = &topology_message },
	{ FIELD_PLAIN(run_spec, "command", FIELD_STRINGS, command) },
	{ FIELD_PLAIN(run_spec, "setup", FIELD_STRINGS, setup) },
	{ FIELD_PLAIN(run_spec, "preflightDisk", FIELD_INT, preflight.disk_kib),
	  .flags = FIELD_OPTIONAL },
	{ FIELD_PLAIN(run_spec, "preflightDevices", FIELD_BOOL,
		      preflight.devices),
	  .flags = FIELD_OPTIONAL },
	{ FIELD_PLAIN(run_spec, "preflightCount", FIELD_INT,
		      preflight.device_count),
	  .with = "preflightDevices" },
	{ FIELD_PLAIN(run_spec, "preflight", FIELD_STRINGS, preflight.command),
	  .flags = FIELD_OPTIONAL },
	{ FIELD_PLAIN(run_spec, "preflightBandwidth", FIELD_INT,
		      preflight.bandwidth_kib),
	  .flags = FIELD_OPTIONAL },
	{ FIELD_PLAIN(run_spec, "preflightClockSkew", FIELD_INT,
		      preflight.clock_skew_s),
	  .flags = FIELD_OPTIONAL },
	{ FIELD_PLAIN(run_spec, "directory", FIELD_STRING, directory),
	  .flags = FIELD_REQUIRED },
	{ FIELD_PLAIN(run_spec, "packages", FIELD_STRINGS, packages) },
	{ FIELD_PLAIN(run_spec, "env", FIELD_PAIRS, env) },
	{ FIELD_PLAIN(run_spec, "metrics", FIELD_PAIRS, metrics) },
	{ FIELD_PLAIN(run_spec, "secrets", FIELD_NAMED, secrets),
	  .flags = FIELD_ARRAY, .message = &secret_message },
	{ FIELD_PLAIN(run_spec, "graceS", FIELD_INT, grace_s),
	  .fallback = "10" },
	{ FIELD_PLAIN(run_spec, "maxRunningTimeS", FIELD_INT,
		      max_running_time_s) },
	{ FIELD_PLAIN(run_spec, "restart", FIELD_MESSAGE, restart),
	  .message = &spec_restart_message },
	{ FIELD_PLAIN(run_spec, "checkpoints", FIELD_MESSAGE, checkpoints),
	  .message = &checkpoints_message },
	{ FIELD_PLAIN(run_spec, "logsTo", FIELD_STRING, logs.to),
	  .flags = FIELD_OPTIONAL },
	{ FIELD_PLAIN(run_spec, "logsEveryS", FIELD_INT, logs.every_s),
	  .fallback = "60", .with = "logsTo" },
	{ FIELD_PLAIN(run_spec, "data", FIELD_NAMED, data.sets),
	  .flags = FIELD_OPTIONAL | FIELD_ARRAY, .message = &spec_set_message },
	{ FIELD_PLAIN(run_spec, "hyperparameters", FIELD_MESSAGE, tuning),
	  .flags = FIELD_OPTIONAL, .message = &spec_tuning_message },
	{ FIELD_PLAIN(run_spec, "argsEnd", FIELD_INT, args_end),
	  .with = "hyperparameters" },
	{ FIELD_PLAIN(run_spec, "restarts", FIELD_INT, restarts),
	  .with = "hyperparameters" },
	{ FIELD_PLAIN(run_spec, "preemptions", FIELD_INT, preemptions),
	  .with = "hyperparameters" },
	{ FIELD_PLAIN(run_spec, "dockerImage", FIELD_STRING, docker_image),
	  .flags = FIELD_OPTIONAL },
	{ FIELD_PLAIN(run_spec, "dockerFlags", FIELD_STRINGS, docker_flags),
	  .with = "dockerImage" },
	{ FIELD_PLAIN(run_spec, "container", FIELD_MESSAGE, container),
	  .flags = FIELD_OPTIONAL, .message = &container_message },
	{ FIELD_PLAIN(run_spec, "condaEnv", FIELD_STRING, conda_env),
	  .flags = FIELD_OPTIONAL },
	{ FIELD_PLAIN(run_spec, "runsAtOnce", FIELD_INT, queue.limit),
	  .flags = FIELD_OPTIONAL },
	{ FIELD_PLAIN(run_spec, "priority", FIELD_INT, queue.priority),
	  .with = "runsAtOnce" },
	{ FIELD_PLAIN(run_spec, "devices", FIELD_MESSAGE, devices),
	  .flags = FIELD_OPTIONAL, .message = &devices_message },
	{ FIELD_PLAIN(run_spec, "hosts", FIELD_MESSAGE, hosts),
	  .flags = FIELD_OPTIONAL, .message = &hosts_message },
	{ FIELD_PLAIN(run_spec, "before", FIELD_STRING, before.what),
	  .flags = FIELD_OPTIONAL },
	{ FIELD_PLAIN(run_spec, "beforeCommand", FIELD_STRINGS, before.command),
	  .with = "before" },
	{ FIELD_PLAIN(run_spec, "allocation", FIELD_STRING, allocation),
	  .flags = FIELD_OPTIONAL | FIELD_JSON },
	{ FIELD_PLAIN(run_spec, "ended", FIELD_STRING, ended),
	  .flags = FIELD_OPTIONAL },
	{ .name = NULL },
};

const struct message spec_message = {
	.name = "a specification",
	.size = sizeof(struct run_spec),
	.fields = spec_fields,
};
