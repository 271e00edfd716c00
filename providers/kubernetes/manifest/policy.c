/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Translates `jobrun.restart` to a podFailurePolicy.  Both try their rules in
 * order: a rule that says fail becomes FailJob, one that says restart becomes
 * Count.  The rule for an evicted pod comes first, as such a pod has an exit
 * code, too.  A Job of a JobSet has no backoff, so a pod that counts also ends
 * it, but with another reason, by which the JobSet knows whether to start all
 * pods again.  A container killed by a signal exits with 128 plus its number.
 */
#include "providers/kubernetes/manifest/policy.h"

#include <stdio.h>
#include <string.h>

#include "core/base/json.h"
#include "core/base/units.h"
#include "providers/kubernetes/manifest/kube_block.h"
#include "providers/kubernetes/manifest/kube_trials.h"

#define EXIT_MAX (POLICY_CODES - 1)
#define SIGNAL_BASE 128
/* The limits of a podFailurePolicy. */
#define RULES_MAX 20
#define VALUES_MAX 255

static int signal_number(const char *name)
{
	char known[32];
	int i;

	for (i = 1; i < 65; i++) {
		signal_format(i, known, sizeof(known));
		if (!strcmp(known, name))
			return i;
	}
	return 0;
}

/* Marks the codes of "1" or "64-127", which was checked when the file was
 * read. */
static void mark_codes(const char *text, bool codes[EXIT_MAX + 1])
{
	unsigned from, to;
	int n = sscanf(text, "%u-%u", &from, &to);

	if (n < 1)
		return;
	if (n < 2)
		to = from;
	for (; from <= to && from <= EXIT_MAX; from++)
		codes[from] = true;
}

/* Marks all codes of a rule. */
static void mark_rule(const struct restart_rule *rule, bool codes[POLICY_CODES])
{
	size_t i;

	memset(codes, false, POLICY_CODES);
	for (i = 0; i < rule->exit_codes.count; i++)
		mark_codes(rule->exit_codes.items[i], codes);
	for (i = 0; i < rule->signals.count; i++) {
		int number = signal_number(rule->signals.items[i]);

		if (number)
			codes[SIGNAL_BASE + number] = true;
	}
}

static json_t *exit_codes(const struct restart_rule *rule)
{
	bool codes[POLICY_CODES];
	json_t *values = json_array();
	size_t i;

	mark_rule(rule, codes);
	/* Code 0 is no failure. */
	for (i = 1; i <= EXIT_MAX; i++)
		if (codes[i])
			json_array_append_new(values,
					      json_integer((json_int_t)i));
	return values;
}

static void add_rule(json_t *rules, const char *action, const char *key,
		     json_t *value)
{
	json_t *rule = json_object();

	json_put_text(rule, "action", action);
	json_put(rule, key, value);
	json_array_append_new(rules, rule);
}

static json_t *codes_match(const char *operator, json_t * values)
{
	json_t *out = json_object();

	json_put_text(out, "operator", operator);
	json_put(out, "values", values);
	return out;
}

/* Matches a pod that was evicted or preempted, or whose node is gone. */
static json_t *disrupted(void)
{
	json_t *condition = json_object();
	json_t *out = json_array();

	json_put_text(condition, "type", "DisruptionTarget");
	json_put_text(condition, "status", "True");
	json_array_append_new(out, condition);
	return out;
}

static const struct message *restart_message(const struct job *job)
{
	const struct message *jobrun =
		message_field(job->message, "jobrun")->message;

	return message_field(jobrun, "restart")->message;
}

static bool names_codes(const struct restart_rule *rule)
{
	return rule->exit_codes.count || rule->signals.count;
}

/* Whether pods start again after a preemption, by the first rule that matches
 * one. */
static bool lost_again(const struct job *job)
{
	const struct restart *restart = &job->jobrun.restart;
	const struct restart_rule *rule = restart->rules.items;
	size_t i;

	for (i = 0; i < restart->rules.count; i++, rule++)
		if (rule->preempted || !names_codes(rule))
			return rule->action == RESTART_ACTION_RESTART &&
			       restart->max_preemptions > 0;
	/* Not every program can be started twice, so the file must ask for
	 * it. */
	return job_has(job, "restart") && restart->max_preemptions > 0;
}

/* Returns the only limit that Kubernetes has; if just one of ours is set, that
 * one. */
long policy_max_restarts(const struct job *job)
{
	const struct restart *restart = &job->jobrun.restart;

	if (restart->max_restarts)
		return restart->max_restarts;
	return lost_again(job) ? restart->max_preemptions : 0;
}

/* Returns the action: if each pod is a trial, its failure ends only its
 * index. */
static const char *fail_action(const struct job *job)
{
	return trials_are_wanted(job) ? "FailIndex" : "FailJob";
}

static void add_any_code(json_t *rules, const char *action)
{
	add_rule(rules, action, "onExitCodes",
		 codes_match("NotIn", json_pack("[i]", EXIT_MAX + 1)));
}

/* Adds the rules for a pod that failed by itself. */
static void add_code_rules(const struct job *job, json_t *rules)
{
	const struct restart *restart = &job->jobrun.restart;
	const struct restart_rule *rule = restart->rules.items;
	size_t i;

	if (!restart->max_restarts) {
		add_any_code(rules, fail_action(job));
		return;
	}
	for (i = 0; i < restart->rules.count; i++, rule++) {
		const char *action = rule->action == RESTART_ACTION_FAIL
					     ? fail_action(job)
					     : "Count";

		if (names_codes(rule))
			add_rule(rules, action, "onExitCodes",
				 codes_match("In", exit_codes(rule)));
		else if (!rule->preempted)
			add_any_code(rules, action);
	}
}

void policy_restarting(const struct job *job, bool codes[POLICY_CODES])
{
	const struct restart *restart = &job->jobrun.restart;
	bool named[POLICY_CODES], decided[POLICY_CODES] = { true };
	size_t i, code;

	memset(codes, restart->max_restarts > 0, POLICY_CODES);
	codes[0] = false;
	for (i = 0; restart->max_restarts && i < restart->rules.count; i++) {
		const struct restart_rule *rule =
			(const struct restart_rule *)restart->rules.items + i;

		mark_rule(rule, named);
		for (code = 1; code < POLICY_CODES; code++) {
			if (decided[code] ||
			    (names_codes(rule) ? !named[code]
					       : rule->preempted))
				continue;
			decided[code] = true;
			codes[code] = rule->action == RESTART_ACTION_RESTART;
		}
	}
}

/* Returns the rules as a new value; empty if every failure counts. */
static json_t *pod_rules(const struct job *job)
{
	const struct restart *restart = &job->jobrun.restart;
	json_t *out = json_array();
	bool again = lost_again(job);

	if (!policy_max_restarts(job))
		return out;
	if (!again || !restart->max_restarts || restart->rules.count)
		add_rule(out, again ? "Count" : fail_action(job),
			 "onPodConditions", disrupted());
	add_code_rules(job, out);
	return out;
}

/* Whether a pod can end the run though restarts are left. */
static bool has_fail_rule(const struct job *job)
{
	json_t *rules = pod_rules(job);
	const json_t *rule;
	bool found = false;
	size_t i;

	json_array_foreach(rules, i, rule) found |=
		!strcmp(json_get_text(rule, "action", ""), "FailJob");
	json_decref(rules);
	return found;
}

static void say_what_is_lost(const struct job *job, bool in_jobset,
			     struct kube_job *out)
{
	const struct restart *restart = &job->jobrun.restart;

	if (!policy_max_restarts(job))
		return;
	if (restart->max_restarts && lost_again(job) &&
	    message_has(restart_message(job), restart, "maxPreemptions"))
		kube_leave_out(out, false, "jobrun.restart.maxPreemptions",
			       "Kubernetes counts preemptions as it counts "
			       "failures: maxRestarts is for both");
	if (in_jobset)
		kube_leave_out(out, false, "jobrun.restart.backoff",
			       "a JobSet starts its pods again at once");
	else
		kube_leave_out(out, false, "jobrun.restart.backoff",
			       "a Job waits 10 s, twice as long each time, and "
			       "at most 6 minutes");
}

void policy_add_job(const struct job *job, bool in_jobset, json_t *spec,
		    struct arena *mem, struct kube_job *out)
{
	json_t *rules = pod_rules(job);
	json_t *policy;

	say_what_is_lost(job, in_jobset, out);
	json_put_int(spec, "backoffLimit",
		     in_jobset ? 0 : policy_max_restarts(job));
	if (!json_array_size(rules)) {
		json_decref(rules);
		return;
	}
	if (json_array_size(rules) > RULES_MAX)
		kube_leave_out(out, true, "jobrun.restart.rules",
			       arena_printf(mem,
					    "a podFailurePolicy has at most %d "
					    "rules, these come to %zu",
					    RULES_MAX, json_array_size(rules)));
	policy = json_object();
	json_put(policy, "rules", rules);
	json_put(spec, "podFailurePolicy", policy);
}

static void add_jobset_rule(json_t *rules, const char *name, const char *action,
			    const char *reason)
{
	json_t *rule = json_object();

	json_put_text(rule, "name", name);
	json_put_text(rule, "action", action);
	if (reason)
		json_put(rule, "onJobFailureReasons", json_pack("[s]", reason));
	json_array_append_new(rules, rule);
}

void policy_add_jobset(const struct job *job, int how, json_t *spec)
{
	long most = policy_max_restarts(job);
	json_t *policy, *rules;

	/* Without a policy the JobSet fails with its first Job. */
	if (!most)
		return;
	policy = json_object();
	rules = json_array();
	json_put_int(policy, "maxRestarts", most);
	if (has_fail_rule(job))
		add_jobset_rule(rules, "fail", "FailJobSet",
				"PodFailurePolicy");
	if (job->training_input.scheduling.max_running_time_s)
		add_jobset_rule(rules, "deadline", "FailJobSet",
				"DeadlineExceeded");
	if (how == KUBE_RESTART_POOL)
		add_jobset_rule(rules, "pool", "RestartJob", NULL);
	if (how == KUBE_RESTART_IN_PLACE)
		json_put_text(policy, "restartStrategy", "InPlaceRestart");
	if (json_array_size(rules))
		json_put(policy, "rules", rules);
	else
		json_decref(rules);
	json_put(spec, "failurePolicy", policy);
}
