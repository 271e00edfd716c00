/* SPDX-License-Identifier: Apache-2.0 */
/* jobrun.logs, jobrun.metrics and jobrun.restart: how a run is observed, and
 * what happens when it fails. */
#include "core/job/check.h"
#include "schema/tables/tables.h"

#include "core/job/job.h"

/* In the order of enum restart_action. */
static const char *const action_names[] = { "restart", "fail", NULL };

static const struct field metrics_fields[] = {
	{ .name = "patterns",
	  .type = FIELD_PAIRS,
	  .check = check_pattern,
	  .offset = offsetof(struct metrics, patterns),
	  .doc = "Metrics to find in the log besides those with known names, "
		 "each with the regular expression that finds it: the first "
		 "group is the value." },
	{ .name = NULL },
};

const struct message message_metrics = {
	.name = "Metrics",
	.doc = "What to read from the log of a run.",
	.size = sizeof(struct metrics),
	.fields = metrics_fields,
};

static const struct field logs_fields[] = {
	{ .name = "to",
	  .type = FIELD_STRING,
	  .flags = FIELD_REQUIRED | FIELD_PATH | FIELD_POSITION,
	  .check = check_store,
	  .offset = offsetof(struct upload_logs, to),
	  .doc = "Where to upload them: a gs:// or s3:// URL or a directory, "
		 "in "
		 "which each run has a folder, JOBID/TIME, with a folder per "
		 "attempt, and in that one per stream of a task: its objects, "
		 "in the order of their names, hold what was written to it, "
		 "byte for byte." },
	{ .name = "every",
	  .type = FIELD_DURATION,
	  .flags = FIELD_POSITION,
	  .min = 1,
	  .max = 86400,
	  .fallback = "1m",
	  .offset = offsetof(struct upload_logs, every_s),
	  .doc = "How often to upload new output; the rest follows when the "
		 "run has ended." },
	{ .name = NULL },
};

const struct message message_logs = {
	.name = "Logs",
	.doc = "Where to upload the raw logs during a run.",
	.size = sizeof(struct upload_logs),
	.fields = logs_fields,
};

static const struct field restart_rule_fields[] = {
	{ .name = "exitCodes",
	  .type = FIELD_STRINGS,
	  .flags = FIELD_NUMBERS,
	  .check = check_exit_codes,
	  .offset = offsetof(struct restart_rule, exit_codes),
	  .doc = "Exit codes that it applies to: 1, or 64-127." },
	{ .name = "signals",
	  .type = FIELD_STRINGS,
	  .check = check_signal,
	  .offset = offsetof(struct restart_rule, signals),
	  .doc = "Signals that it applies to: SIGSEGV." },
	{ .name = "preempted",
	  .type = FIELD_BOOL,
	  .offset = offsetof(struct restart_rule, preempted),
	  .doc = "Whether it applies to a run whose host was preempted or "
		 "lost." },
	{ .name = "action",
	  .type = FIELD_ENUM,
	  .flags = FIELD_REQUIRED,
	  .values = action_names,
	  .offset = offsetof(struct restart_rule, action),
	  .doc = "What to do then: restart, or fail." },
	{ .name = NULL },
};

static const struct message message_restart_rule = {
	.name = "RestartRule",
	.doc = "What to do about a run that ended in one of these ways; a rule "
	       "that names none applies to all.",
	.size = sizeof(struct restart_rule),
	.fields = restart_rule_fields,
};

static const struct field restart_fields[] = {
	{ .name = "rules",
	  .type = FIELD_MESSAGES,
	  .message = &message_restart_rule,
	  .offset = offsetof(struct restart, rules),
	  .doc = "The first matching rule decides; without one jobrun restarts "
		 "the run while the counts allow it." },
	{ .name = "maxRestarts",
	  .type = FIELD_INT,
	  .max = 1000,
	  .fallback = "0",
	  .fallback_1 = "0",
	  .offset = offsetof(struct restart, max_restarts),
	  .doc = "How often to restart a failed run." },
	{ .name = "maxPreemptions",
	  .type = FIELD_INT,
	  .max = 1000,
	  .fallback = "10",
	  .fallback_1 = "10",
	  .offset = offsetof(struct restart, max_preemptions),
	  .doc = "How often to restart a run whose host was preempted; counted "
		 "apart from failures." },
	{ .name = "backoff",
	  .type = FIELD_DURATION,
	  .fallback = "10s",
	  .fallback_1 = "10s",
	  .offset = offsetof(struct restart, backoff_s),
	  .doc = "How long to wait before the first restart; twice as long "
		 "before each later one." },
	{ .name = "maxBackoff",
	  .type = FIELD_DURATION,
	  .fallback = "5m",
	  .fallback_1 = "5m",
	  .offset = offsetof(struct restart, max_backoff_s),
	  .doc = "The longest wait before a restart." },
	{ .name = NULL },
};

const struct message message_restart = {
	.name = "Restart",
	.doc = "What happens to a run that fails or loses its host.",
	.size = sizeof(struct restart),
	.fields = restart_fields,
};
