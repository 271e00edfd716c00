/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the pod of a task, and the words that get a command into it. */
#include "providers/kubernetes/kube_enter.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/json.h"
#include "core/process/process.h"
#include "core/remote/remote_run.h"
#include "providers/kubernetes/kube_look.h"
#include "providers/kubernetes/manifest/launcher.h"
#include "providers/kubernetes/whereabouts.h"

/* The words of `jobrun enter-pod` before those of the command. */
#define POD_WORDS 8
/* All words of `jobrun forward-pod`, and the NULL behind them. */
#define PORT_WORDS 6

/* Whether jobrun is in the container of the program. */
static bool has_launcher(const json_t *object, const struct kube_job *pools,
			 size_t task)
{
	const json_t *spec = json_object_get(object, "spec"), *mount;
	const json_t *jobs = json_object_get(spec, "replicatedJobs");
	size_t i, pool = 0;

	while (pool + 1 < pools->pool_count &&
	       task >= pools->pools[pool + 1].first)
		pool++;
	if (jobs)
		spec = json_object_get(
			json_object_get(json_array_get(jobs, pool), "template"),
			"spec");
	spec = json_object_get(json_object_get(spec, "template"), "spec");
	spec = json_array_get(json_object_get(spec, "containers"), 0);
	json_array_foreach(json_object_get(spec, "volumeMounts"), i,
			   mount) if (!strcmp(json_get_text(mount, "name", ""),
					      LAUNCHER_VOLUME)) return true;
	return false;
}

/* Finds the position of the task's pod among all of them. */
static int find_ordinal(const struct kube_look *look,
			const struct task_record *task, size_t *out,
			struct error *err)
{
	if (!task->trial)
		return spec_find_task(&look->spec, task->type, task->index, out,
				      err);
	*out = (size_t)task->trial - 1;
	return 0;
}

static int find_pod(struct kube_look *look, const struct task_record *task,
		    const char **pod, bool *launcher, struct error *err)
{
	size_t ordinal;
	int ret = object_get(&look->at, look->record.type, look->record.name,
			     &look->object, err);

	if (ret == 1)
		return error_set(err, ERROR_FAILED, "%s '%s' is gone",
				 look->record.type->kind, look->record.name);
	if (ret < 0 || spec_read(look->folder, look->mem, &look->spec, err) < 0)
		return -1;
	pods_pools(look->object, &look->job);
	if (pods_read(&look->at, look->record.name, &look->job, &look->pods,
		      err) < 0 ||
	    find_ordinal(look, task, &ordinal, err) < 0)
		return -1;
	if (ordinal >= look->pods.count || !look->pods.tasks[ordinal].pod ||
	    look->pods.tasks[ordinal].state != RUN_RUNNING)
		return error_set(err, ERROR_TRY_AGAIN,
				 "no pod of %s %d runs at the moment",
				 task->type, task->index);
	*pod = look->pods.tasks[ordinal].pod;
	*launcher = has_launcher(look->object, &look->job, ordinal);
	return 0;
}

/* The place with nothing left open, so that it leads to the same one. */
static const char *whole_place(const struct kube_look *look)
{
	const char *place = kube_place_in_context(
		look->record.place, apiserver_identity(look->at.api)->context,
		look->mem);

	return arena_printf(look->mem, "%s%s", look->at.name_space,
			    strchr(place, '@'));
}

static char *const *find_words(const struct kube_look *look, const char *pod,
			       bool launcher, const struct enter_wish *wish,
			       struct arena *mem)
{
	char self[PATH_MAX];
	const char **argv;
	size_t count = 0, n = 0;

	while (wish->argv[count])
		count++;
	argv = arena_alloc(mem, (POD_WORDS + count + 1) * sizeof(*argv));
	process_self(self, sizeof(self));
	argv[n++] = arena_strdup(mem, self);
	argv[n++] = "enter-pod";
	if (wish->terminal)
		argv[n++] = "--terminal";
	if (launcher)
		argv[n++] = "--launcher";
	argv[n++] = arena_strdup(mem, whole_place(look));
	argv[n++] = arena_strdup(mem, pod);
	argv[n++] = "--";
	memcpy(argv + n, wish->argv, (count + 1) * sizeof(*argv));
	return (char *const *)argv;
}

static char *const *port_words(const struct kube_look *look, const char *pod,
			       long port, struct arena *mem)
{
	const char **argv = arena_alloc(mem, PORT_WORDS * sizeof(*argv));
	char self[PATH_MAX];

	process_self(self, sizeof(self));
	argv[0] = arena_strdup(mem, self);
	argv[1] = "forward-pod";
	argv[2] = arena_strdup(mem, whole_place(look));
	argv[3] = arena_strdup(mem, pod);
	argv[4] = arena_printf(mem, "%ld", port);
	argv[5] = NULL;
	return (char *const *)argv;
}

int kube_enter(void *ctx, const struct enter_wish *wish, struct arena *mem,
	       struct enter_way *out, struct error *err)
{
	struct kube *kube = ctx;
	struct kube_look look = { .kube = kube, .mem = arena_new() };
	json_t *properties = remote_run_properties(wish->run);
	bool launcher = false;
	const char *pod = NULL;
	int ret;

	record_take(&look.record, wish->run, properties, look.mem);
	look.folder = store_run_folder(kube->env.store, wish->run->job_id,
				       wish->run->attempt);
	ret = whereabouts_find(kube, &look.record, &look.at, NULL, err);
	if (ret == 0)
		ret = find_pod(&look, wish->task, &pod, &launcher, err);
	if (ret == 0)
		out->argv = wish->port ? port_words(&look, pod, wish->port, mem)
				       : find_words(&look, pod, launcher, wish,
						    mem);
	json_decref(properties);
	json_decref(look.object);
	pods_done(&look.pods);
	free(look.folder);
	arena_free(look.mem);
	return ret;
}
