/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/kubernetes/manifest/in_place.h"

#include <limits.h>

#include "core/base/json.h"
#include "providers/kubernetes/manifest/kube_trials.h"
#include "providers/kubernetes/manifest/policy.h"

#define AGENT "in-place-restart-agent"
/* Where the agent says that all pods are ready, and how long that may take. */
#define BARRIER_PATH "/barrier-is-down"
#define BARRIER_PORT 8081
#define BARRIER_S 600

bool in_place_is_wanted(const struct pod_maker *maker)
{
	return maker->block && maker->block->restart == KUBE_RESTART_IN_PLACE &&
	       policy_max_restarts(maker->job);
}

void in_place_check(const struct pod_maker *maker)
{
	const struct kubernetes_block *block = maker->block;

	if (!block || block->restart == KUBE_RESTART_ALL)
		return;
	if (!policy_max_restarts(maker->job))
		kube_leave_out(maker->out, false, "jobrun.kubernetes.restart",
			       "jobrun.restart asks for no restarts");
	else if (block->controller == CONTROLLER_JOB ||
		 trials_are_wanted(maker->job))
		kube_leave_out(maker->out, false, "jobrun.kubernetes.restart",
			       "a Job makes the pod that failed anew: only a "
			       "JobSet has other ways");
	else if (block->restart == KUBE_RESTART_IN_PLACE &&
		 !block->restart_agent)
		kube_leave_out(maker->out, true,
			       "jobrun.kubernetes.restartAgent",
			       "restart: in-place takes an agent in each pod: "
			       "name the image of JobSet's "
			       "in-place-restart-agent");
	else if (block->restart == KUBE_RESTART_IN_PLACE &&
		 !block->service_account)
		kube_leave_out(maker->out, true,
			       "jobrun.kubernetes.serviceAccount",
			       "the agent of restart: in-place asks the "
			       "cluster: name an account that may get, list "
			       "and watch JobSets and patch pods");
}

/* Returns the rules by which a container's end starts all containers of its pod
 * again: after the marked codes, or after all others. */
static json_t *restart_rules(const bool codes[POLICY_CODES])
{
	size_t count = 0, code;
	json_t *values = json_array();
	bool in;

	for (code = 0; code < POLICY_CODES; code++)
		count += codes[code];
	/* A list of all codes would be too long. */
	in = count <= POLICY_CODES / 2;
	for (code = 0; code < POLICY_CODES; code++)
		if (codes[code] == in)
			json_array_append_new(values,
					      json_integer((json_int_t)code));
	if (!count) {
		json_decref(values);
		return NULL;
	}
	return json_pack("[{s:s, s:{s:s, s:o}}]", "action",
			 "RestartAllContainers", "exitCodes", "operator",
			 in ? "In" : "NotIn", "values", values);
}

static json_t *field_variable(const char *name, const char *path)
{
	return json_pack("{s:s, s:{s:{s:s}}}", "name", name, "valueFrom",
			 "fieldRef", "fieldPath", path);
}

/* Returns a small request, and limit for quotas, as the agent only waits. */
static json_t *agent_resources(void)
{
	return json_pack("{s:{s:s,s:s}, s:{s:s,s:s}}", "requests", "cpu", "10m",
			 "memory", "64Mi", "limits", "cpu", "100m", "memory",
			 "64Mi");
}

static json_t *agent(const struct pod_maker *maker)
{
	bool codes[POLICY_CODES];
	json_t *out = json_object(), *env = json_array();
	size_t i;

	for (i = 0; i < POLICY_CODES; i++)
		codes[i] = i > 0;
	json_array_append_new(
		env, field_variable("JOBSET_NAME",
				    "metadata.annotations['jobset.sigs.k8s.io/"
				    "jobset-name']"));
	json_array_append_new(env, field_variable("POD_NAME", "metadata.name"));
	json_put_text(out, "name", AGENT);
	json_put_text(out, "image", maker->block->restart_agent);
	json_put_text(out, "restartPolicy", "Always");
	json_put(out, "restartPolicyRules", restart_rules(codes));
	json_put(out, "startupProbe",
		 json_pack("{s:{s:s, s:i}, s:i, s:i}", "httpGet", "path",
			   BARRIER_PATH, "port", BARRIER_PORT,
			   "failureThreshold", BARRIER_S, "periodSeconds", 1));
	json_put(out, "env", env);
	json_put(out, "resources", agent_resources());
	return out;
}

void in_place_add(const struct pod_maker *maker, json_t *job_spec)
{
	json_t *template = json_object_get(job_spec, "template");
	json_t *pod = json_object_get(template, "spec");
	json_t *first = json_object_get(pod, "initContainers");
	json_t *container =
		json_array_get(json_object_get(pod, "containers"), 0);
	bool codes[POLICY_CODES];
	json_t *rules;

	policy_restarting(maker->job, codes);
	rules = restart_rules(codes);
	/* A pod that fails nevertheless is made anew by itself. */
	json_put_int(job_spec, "backoffLimit", INT_MAX);
	json_put_text(job_spec, "podReplacementPolicy", "Failed");
	json_put_text(container, "restartPolicy", "Never");
	if (rules)
		json_put(container, "restartPolicyRules", rules);
	if (!first)
		json_put(pod, "initContainers", first = json_array());
	json_array_append_new(first, agent(maker));
}
