/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/ui/pruning.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/apply/applyset.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "providers/registry.h"

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Requires directories: a file is only a part of a set, so the other jobs would
 * seem gone. */
static int check_paths(const struct inputs *inputs, struct error *err)
{
	struct stat st;
	size_t i;

	for (i = 0; i < inputs->count; i++) {
		/* Git keeps no empty directories, but a missing one may also be
		 * a typo. */
		if (stat(inputs->paths[i], &st) < 0)
			return error_set(err, ERROR_USAGE,
					 "--prune: no directory '%s'; to "
					 "delete all its jobs, create it empty",
					 inputs->paths[i]);
		if (!S_ISDIR(st.st_mode))
			return error_set(err, ERROR_USAGE,
					 "--prune takes directories, but '%s' "
					 "is a file: it deletes what is gone "
					 "from a directory",
					 inputs->paths[i]);
	}
	if (inputs->count > 1 && !inputs->applyset)
		return error_set(err, ERROR_USAGE,
				 "--prune of several directories needs a name "
				 "for the set: --applyset NAME");
	return 0;
}

int pruning_open(struct pruning *pruning, const struct inputs *inputs,
		 struct error *err)
{
	*pruning = (struct pruning){ .inputs = inputs };
	if (inputs->applyset && applyset_check(inputs->applyset, err) < 0)
		return error_prefix(err, "--applyset");
	if (inputs->prune && inputs->targets.count)
		return error_set(err, ERROR_USAGE,
				 "--prune and --target exclude each other: "
				 "--prune covers whole directories");
	if (inputs->prune && check_paths(inputs, err) < 0)
		return -1;
	if (inputs->applyset)
		pruning->set = mem_strdup(inputs->applyset);
	else if (inputs->count == 1 && is_directory(inputs->paths[0]))
		pruning->set = applyset_of(inputs->paths[0], err);
	else
		return 0;
	return pruning->set ? 0 : -1;
}

void pruning_done(struct pruning *pruning)
{
	prune_done(&pruning->found);
	free(pruning->set);
}

int pruning_load(struct pruning *pruning, const struct app *app,
		 const struct schema_options *schema, struct jobs *out)
{
	const struct inputs *inputs = pruning->inputs;
	int status;
	size_t i;

	if (!inputs->prune)
		status = load_jobs(app, schema, inputs->paths, inputs->count,
				   out);
	else
		status = load_jobs_or_none(app, schema, inputs->paths,
					   inputs->count, out);
	for (i = 0; !status && i < out->count; i++) {
		out->items[i]->set = pruning->set;
		job_find_origin(out->items[i]);
	}
	if (!status && !out->count)
		app_say(app, "no job left there");
	return status;
}

/* ---- finding --------------------------------------------------------- */

static void *context(void *arg, const struct provider *provider,
		     struct error *err)
{
	return session_context(arg, provider, err);
}

static bool is_loaded(const struct jobs *jobs, const char *path)
{
	size_t i;

	for (i = 0; i < jobs->count; i++)
		if (!strcmp(jobs->items[i]->file, path))
			return true;
	return false;
}

/* Fails if the file still exists: one that lost its `trainingInput` is skipped
 * as no job file, but its run must not be deleted for that. */
static int check_file(const struct pruning *pruning, const struct gone *gone,
		      const struct jobs *jobs, struct error *err)
{
	const struct inputs *inputs = pruning->inputs;
	struct stat st;
	size_t i;
	int ret = 0;

	for (i = 0; gone->file && i < inputs->count && ret == 0; i++) {
		char *path = path_join(inputs->paths[i], gone->file);

		if (stat(path, &st) == 0 && !is_loaded(jobs, path))
			ret = error_set(err, ERROR_INVALID,
					"job '%s' came from '%s', which still "
					"exists but holds no job any more; "
					"nothing pruned: fix the file, or "
					"remove it",
					gone->job_id, path);
		free(path);
	}
	return ret;
}

/* Finds the common directory of the files that are gone, if there is one. */
static void find_origins(struct pruning *pruning)
{
	struct prune *found = &pruning->found;
	char *top = pruning->inputs->count == 1
			    ? origin_of(pruning->inputs->paths[0])
			    : NULL;
	size_t i;

	for (i = 0; top && i < found->count; i++) {
		struct gone *gone = &found->items[i];
		const char *slash =
			gone->file ? strrchr(gone->file, '/') : NULL;

		if (slash)
			gone->origin = arena_printf(
				found->mem, "%s%s%.*s", top,
				text_ends(top, "/") ? "" : "/",
				(int)(slash - gone->file), gone->file);
		else if (gone->file)
			gone->origin = arena_strdup(found->mem, top);
	}
	free(top);
}

int pruning_find(struct pruning *pruning, struct session *session,
		 const struct jobs *jobs, struct error *err)
{
	size_t i;

	pruning->session = session;
	pruning->scope = (struct prune_scope){
		.store = session->env.store,
		.boundary = session->env.boundary,
		.set = pruning->set,
		.jobs = jobs->items,
		.job_count = jobs->count,
		.take_over = pruning->inputs->take_over,
		.providers = providers,
		.context = context,
		.arg = session,
	};
	if (!pruning->inputs->prune)
		return 0;
	if (prune_find(&pruning->scope, &pruning->found, err) < 0)
		return -1;
	find_origins(pruning);
	for (i = 0; i < pruning->found.count; i++)
		if (check_file(pruning, &pruning->found.items[i], jobs, err) <
		    0)
			return -1;
	return 0;
}

int pruning_lock(struct pruning *pruning, const struct jobs *jobs,
		 long timeout_s, struct error *err)
{
	const struct prune *gone = &pruning->found;
	const char **ids =
		mem_alloc((jobs->count + gone->count + 1) * sizeof(*ids));
	size_t i, n = 0;
	int ret;

	for (i = 0; i < jobs->count; i++)
		ids[n++] = jobs->items[i]->job_id;
	for (i = 0; i < gone->count; i++)
		ids[n++] = gone->items[i].job_id;
	ret = session_lock(pruning->session, ids, n, timeout_s, err);
	free(ids);
	return ret;
}

int pruning_plan(struct pruning *pruning, struct error *err)
{
	struct prune *found = &pruning->found;
	size_t i;

	if (!found->count)
		return 0;
	if (prune_plan(found, &pruning->scope, pruning->session->plan, err) < 0)
		return -1;
	for (i = 0; i < found->count; i++)
		if (found->items[i].also_in)
			app_say(pruning->session->app,
				"%s: kept, because the set '%s' has it too "
				"('jobrun delete %s' deletes it)",
				found->items[i].job_id, found->items[i].also_in,
				found->items[i].job_id);
	return 0;
}

/* ---- remembering ----------------------------------------------------- */

/* Returns the file's path in its directory; NULL if it is below none of the
 * paths. */
static const char *file_of(const struct inputs *inputs, const struct job *job)
{
	size_t i, n;

	for (i = 0; i < inputs->count; i++) {
		n = strlen(inputs->paths[i]);
		if (strncmp(job->file, inputs->paths[i], n) != 0)
			continue;
		if (n && inputs->paths[i][n - 1] == '/')
			return job->file + n;
		if (job->file[n] == '/')
			return job->file + n + 1;
	}
	return NULL;
}

int pruning_remember(struct pruning *pruning, const struct jobs *jobs,
		     struct error *err)
{
	struct task_file_path *members;
	struct arena *mem;
	size_t i;
	int ret;

	if (!pruning->set || !jobs->count)
		return 0;
	mem = arena_new();
	members = arena_alloc(mem, jobs->count * sizeof(*members));
	for (i = 0; i < jobs->count; i++) {
		const struct job *job = jobs->items[i];
		const struct provider *provider =
			provider_find(job->jobrun.provider);

		members[i] = (struct task_file_path){
			.set = pruning->set,
			.job_id = job->job_id,
			.provider = provider->name,
			.file = file_of(pruning->inputs, job),
			.place = provider->place ? provider->place(job, mem)
						 : NULL,
		};
	}
	ret = store_member_put(pruning->session->env.store, members,
			       jobs->count, err);
	arena_free(mem);
	return ret;
}

int pruning_forget(struct pruning *pruning,
		   bool (*is_done)(void *arg, const struct job *job), void *arg,
		   struct error *err)
{
	struct prune *found = &pruning->found;
	int ret = 0;
	size_t i;

	for (i = 0; i < found->count && ret == 0; i++) {
		const struct gone *gone = &found->items[i];

		if (gone->also_in || remains_are_none(&gone->remains) ||
		    is_done(arg, gone->remains.job))
			ret = prune_forget(gone, &pruning->scope, err);
	}
	return ret;
}
