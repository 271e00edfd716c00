/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pod of an Indexed Job or of a JobSet.  Kubernetes itself only says which
 * one it is, JOB_COMPLETION_INDEX; what else is needed the manifest gives:
 *
 *	NNODES			completions of the Job
 *	JOBSET_NAME		annotation jobset.sigs.k8s.io/jobset-name
 *	REPLICATED_JOB_NAME	… /replicatedjob-name
 *	JOB_INDEX		… /job-index, 0 if it is not set
 *	REPLICATED_JOB_REPLICAS	… /replicatedjob-replicas, 1 if it is not set
 *	JOBSET_SUBDOMAIN	spec.network.subdomain, if there is one
 *	JOBRUN_TASKS		"node/master/1,node/worker/2,ps/ps/1": which
 *				tasks the pods are, in the order of the run.
 *				Each item is a replicated Job (of an Indexed
 *				Job any name), a type, and how many; the next
 *				one of the same Job goes on with its index.
 *				Manifests that jobrun makes have it.
 *
 * For TPUs, GKE sets TPU_WORKER_ID, TPU_WORKER_HOSTNAMES and others.
 *
 * (kubernetes.io/docs/tasks/job, "Job with Pod-to-Pod Communication"; the
 * examples of sigs.k8s.io/jobset; cloud.google.com/kubernetes-engine, "Deploy
 * TPU workloads".)
 */
#include <stdio.h>
#include <string.h>

#include "core/base/text.h"
#include "core/base/units.h"
#include "core/topology/topology_read.h"
#include "providers/kubernetes/kube_internal.h"

static bool detects(const struct surroundings *at)
{
	return surroundings_get(at, "JOB_COMPLETION_INDEX") ||
	       (surroundings_get(at, "KUBERNETES_SERVICE_HOST") &&
		surroundings_get(at, "TPU_WORKER_HOSTNAMES"));
}

/* Reads a variable that may be missing. */
static int optional(const struct surroundings *at, const char *name, long min,
		    long fallback, long *out, struct error *err)
{
	*out = fallback;
	if (!surroundings_get(at, name))
		return 0;
	return surroundings_number(at, name, min, TOPOLOGY_TASK_MAX, out, err);
}

static int count_pods(const struct surroundings *at, long *out,
		      struct error *err)
{
	if (!surroundings_get(at, "NNODES"))
		return error_set(err, ERROR_INVALID,
				 "NNODES is not set: set it in the manifest to "
				 "the number of the Job's completions");
	return surroundings_number(at, "NNODES", 1, TOPOLOGY_TASK_MAX, out,
				   err);
}

static int check_index(long index, long count, struct error *err)
{
	if (index < count)
		return 0;
	return error_set(err, ERROR_INVALID,
			 "JOB_COMPLETION_INDEX is %ld, and NNODES only %ld",
			 index, count);
}

/* Reads "a,b,c", GKE's list of the hosts of a slice. */
static int read_slice(const struct surroundings *at, struct arena *mem,
		      struct topology *out, size_t *self, struct error *err)
{
	const char *p = surroundings_get(at, "TPU_WORKER_HOSTNAMES");
	const char **hosts;
	const char *q;
	size_t n = 1;
	long index;

	for (q = p; *q; q++)
		n += *q == ',';
	if (n > TOPOLOGY_TASK_MAX)
		return error_set(err, ERROR_INVALID,
				 "TPU_WORKER_HOSTNAMES has more than %d hosts",
				 TOPOLOGY_TASK_MAX);
	hosts = arena_alloc(mem, n * sizeof(*hosts));
	for (n = 0;; p = q + 1) {
		q = p + strcspn(p, ",");
		if (q == p)
			return error_set(err, ERROR_INVALID,
					 "TPU_WORKER_HOSTNAMES has an empty "
					 "name in it");
		hosts[n++] = arena_strndup(mem, p, (size_t)(q - p));
		if (!*q)
			break;
	}
	if (surroundings_number(at, "TPU_WORKER_ID", 0, (long)n - 1, &index,
				err) < 0)
		return -1;
	topology_from_hosts(hosts, n, mem, out);
	*self = (size_t)index;
	return 0;
}

static int read_jobset(const struct surroundings *at, long replicas,
		       struct arena *mem, struct topology *out, size_t *self,
		       struct error *err)
{
	const char *set = surroundings_get(at, "JOBSET_NAME");
	const char *job = surroundings_get(at, "REPLICATED_JOB_NAME");
	const char *domain = surroundings_get(at, "JOBSET_SUBDOMAIN");
	long pods, replica, index, i;
	const char **hosts;

	if (!job)
		return error_set(err, ERROR_INVALID,
				 "REPLICATED_JOB_NAME is not set, and "
				 "JOBSET_NAME is");
	if (count_pods(at, &pods, err) < 0 ||
	    surroundings_number(at, "JOB_COMPLETION_INDEX", 0,
				TOPOLOGY_TASK_MAX, &index, err) < 0 ||
	    check_index(index, pods, err) < 0 ||
	    optional(at, "JOB_INDEX", 0, 0, &replica, err) < 0)
		return -1;
	if (replica >= replicas)
		return error_set(err, ERROR_INVALID,
				 "JOB_INDEX is %ld, and "
				 "REPLICATED_JOB_REPLICAS only %ld",
				 replica, replicas);
	if (replicas > TOPOLOGY_TASK_MAX / pods)
		return error_set(err, ERROR_INVALID, "more than %d pods",
				 TOPOLOGY_TASK_MAX);
	hosts = arena_alloc(mem, (size_t)(replicas * pods) * sizeof(*hosts));
	for (i = 0; i < replicas * pods; i++)
		hosts[i] =
			arena_printf(mem, "%s-%s-%ld-%ld.%s", set, job,
				     i / pods, i % pods, domain ? domain : set);
	topology_from_hosts(hosts, (size_t)(replicas * pods), mem, out);
	*self = (size_t)(replica * pods + index);
	out->job_id = set;
	return 0;
}

/* Reads an Indexed Job, whose pods are called JOB-INDEX, in one domain. */
static int read_indexed(const struct surroundings *at, struct arena *mem,
			struct topology *out, size_t *self, struct error *err)
{
	size_t label = strcspn(at->host, ".");
	const char **hosts;
	const char *job;
	char suffix[32];
	long pods, index, i;

	if (count_pods(at, &pods, err) < 0 ||
	    surroundings_number(at, "JOB_COMPLETION_INDEX", 0,
				TOPOLOGY_TASK_MAX, &index, err) < 0 ||
	    check_index(index, pods, err) < 0)
		return -1;
	snprintf(suffix, sizeof(suffix), "-%ld", index);
	job = arena_strndup(mem, at->host, label);
	if (!text_ends(job, suffix) || strlen(job) == strlen(suffix))
		return error_set(err, ERROR_INVALID,
				 "the pod is called '%s', which is not the "
				 "Job's name and '%s'",
				 at->host, suffix);
	job = arena_strndup(mem, job, strlen(job) - strlen(suffix));
	hosts = arena_alloc(mem, (size_t)pods * sizeof(*hosts));
	for (i = 0; i < pods; i++)
		hosts[i] =
			arena_printf(mem, "%s-%ld%s", job, i, at->host + label);
	topology_from_hosts(hosts, (size_t)pods, mem, out);
	*self = (size_t)index;
	out->job_id = job;
	return 0;
}

/* An item of JOBRUN_TASKS. */
struct task_item {
	const char *job; /* name of the replicated Job */
	enum task_type type;
	long count;
	long first; /* index of its first pod */
};

/* Parses an item such as "node/worker/2". */
static int parse_item(const char *text, size_t len, struct arena *mem,
		      struct task_item *out, struct error *err)
{
	const char *item = arena_strndup(mem, text, len);
	const char *type = strchr(item, '/');
	const char *count = type ? strchr(type + 1, '/') : NULL;
	struct error why;

	if (!count || type == item ||
	    task_type_parse(
		    arena_strndup(mem, type + 1, (size_t)(count - type - 1)),
		    &out->type) < 0 ||
	    number_parse(count + 1, 1, TOPOLOGY_TASK_MAX, &out->count, &why) <
		    0)
		return error_set(err, ERROR_INVALID,
				 "JOBRUN_TASKS: '%s' is not JOB/TYPE/COUNT",
				 item);
	out->job = arena_strndup(mem, item, (size_t)(type - item));
	return 0;
}

static int parse_items(const char *text, struct arena *mem,
		       struct task_item **out, size_t *count, size_t *total,
		       struct error *err)
{
	struct task_item *items;
	size_t n = 1, i, j;
	const char *p;

	for (p = text; *p; p++)
		n += *p == ',';
	items = arena_alloc(mem, n * sizeof(*items));
	*total = 0;
	for (i = 0, p = text; i < n; i++, p += strcspn(p, ",") + 1) {
		if (parse_item(p, strcspn(p, ","), mem, &items[i], err) < 0)
			return -1;
		*total += (size_t)items[i].count;
		if (*total > TOPOLOGY_TASK_MAX)
			return error_set(err, ERROR_INVALID,
					 "JOBRUN_TASKS is about more than %d "
					 "tasks",
					 TOPOLOGY_TASK_MAX);
		for (j = 0; j < i; j++)
			if (!strcmp(items[j].job, items[i].job))
				items[i].first =
					items[j].first + items[j].count;
	}
	*out = items;
	*count = n;
	return 0;
}

/* Returns the parts of the pods' names around their index: "SET-JOB-0-" and
 * ".DOMAIN", or for an Indexed Job the parts of this pod's own name. */
static int pod_names(const struct surroundings *at, const char *job, long index,
		     struct arena *mem, const char **before, const char **after,
		     struct error *err)
{
	const char *set = surroundings_get(at, "JOBSET_NAME");
	const char *domain = surroundings_get(at, "JOBSET_SUBDOMAIN");
	size_t label = strcspn(at->host, ".");
	const char *suffix = arena_printf(mem, "-%ld", index);
	const char *host = arena_strndup(mem, at->host, label);

	if (set) {
		*before = arena_printf(mem, "%s-%s-0-", set, job);
		*after = arena_printf(mem, ".%s", domain ? domain : set);
		return 0;
	}
	if (!text_ends(host, suffix) || strlen(host) == strlen(suffix))
		return error_set(err, ERROR_INVALID,
				 "the pod is called '%s', which is not the "
				 "Job's name and '%s'",
				 at->host, suffix);
	*before = arena_printf(mem, "%.*s-",
			       (int)(strlen(host) - strlen(suffix)), host);
	*after = at->host + label;
	return 0;
}

/* Reads all tasks of the run with the types given in JOBRUN_TASKS. */
static int read_tasks(const struct surroundings *at, struct arena *mem,
		      struct topology *out, size_t *self, struct error *err)
{
	const char *job = surroundings_get(at, "REPLICATED_JOB_NAME");
	const char *before = "", *after = "", **hosts;
	int indexes[TASK_TYPE_COUNT] = { 0 };
	size_t count = 0, total = 0, found, i, n = 0;
	struct task_item *items = NULL;
	long index, j;

	if (surroundings_number(at, "JOB_COMPLETION_INDEX", 0,
				TOPOLOGY_TASK_MAX, &index, err) < 0 ||
	    parse_items(surroundings_get(at, "JOBRUN_TASKS"), mem, &items,
			&count, &total, err) < 0)
		return -1;
	found = total;
	hosts = arena_alloc(mem, total * sizeof(*hosts));
	for (i = 0; i < count; i++) {
		if (pod_names(at, items[i].job, index, mem, &before, &after,
			      err) < 0)
			return -1;
		for (j = items[i].first; j < items[i].first + items[i].count;
		     j++, n++) {
			hosts[n] =
				arena_printf(mem, "%s%ld%s", before, j, after);
			if (j == index && (!job || !strcmp(job, items[i].job)))
				found = n;
		}
	}
	if (found == total)
		return error_set(err, ERROR_INVALID,
				 "JOBRUN_TASKS has no task of index %ld%s%s",
				 index, job ? " in " : "", job ? job : "");
	topology_from_hosts(hosts, total, mem, out);
	for (i = 0, n = 0; i < count; i++)
		for (j = 0; j < items[i].count; j++, n++) {
			out->tasks[n].type = items[i].type;
			out->tasks[n].index = indexes[items[i].type]++;
		}
	topology_rank(out);
	out->names_pools = false;
	*self = found;
	return 0;
}

static void set_tpu(const struct surroundings *at, struct arena *mem,
		    struct topology *out)
{
	const char *slice = surroundings_get(at, "TPU_ACCELERATOR_TYPE");
	struct tpu_place *hosts = arena_alloc(mem, out->count * sizeof(*hosts));
	size_t i;

	topology_set_slice(out, at->catalogue, slice ? slice : "", mem);
	out->tpu_kind = TPU_VM;
	for (i = 0; i < out->count; i++)
		hosts[i].ip = out->tasks[i].host;
	out->tpu_hosts = hosts;
	out->tpu_host_count = out->count;
}

static int read(const struct surroundings *at, struct arena *mem,
		struct topology *out, size_t *self, struct error *err)
{
	const char *name = surroundings_get(at, "CLOUD_ML_JOB_ID");
	bool has_tpu = surroundings_get(at, "TPU_WORKER_HOSTNAMES");
	struct topology all = { .names_pools = true, .job_id = "job" };
	size_t index = 0;
	long replicas;
	int ret;

	if (optional(at, "REPLICATED_JOB_REPLICAS", 1, 1, &replicas, err) < 0)
		return -1;
	if (has_tpu && replicas == 1)
		ret = read_slice(at, mem, &all, &index, err);
	else if (surroundings_get(at, "JOBRUN_TASKS"))
		ret = read_tasks(at, mem, &all, &index, err);
	else if (surroundings_get(at, "JOBSET_NAME"))
		ret = read_jobset(at, replicas, mem, &all, &index, err);
	else
		ret = read_indexed(at, mem, &all, &index, err);
	if (ret < 0)
		return -1;
	if (has_tpu)
		set_tpu(at, mem, &all);
	if (name)
		all.job_id = name;
	*out = all;
	*self = index;
	return 0;
}

const struct topology_reader reader_kubernetes = {
	.name = "kubernetes",
	.summary = "a pod of an Indexed Job or a JobSet, on GKE with TPUs too",
	.order = READER_SCHEDULER,
	.qualifies_host = true,
	.detects = detects,
	.read = read,
};
