/* SPDX-License-Identifier: Apache-2.0 */
#include "core/plan/targets.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/nearest.h"

struct targets {
	const char **names;
	size_t count;
	bool *found;       /* whether each target was found */
	struct arena *mem; /* owns names and ids */
	const char **ids;  /* of all actions, to suggest a similar one */
	size_t id_count, id_room;
};

struct targets *targets_new(const char *const *names, size_t count)
{
	struct targets *targets = mem_alloc(sizeof(*targets));
	size_t i;

	targets->mem = arena_new();
	targets->names =
		arena_alloc(targets->mem, count * sizeof(*targets->names));
	for (i = 0; i < count; i++)
		targets->names[i] = arena_strdup(targets->mem, names[i]);
	targets->count = count;
	targets->found = mem_alloc(count * sizeof(*targets->found));
	return targets;
}

void targets_free(struct targets *targets)
{
	if (!targets)
		return;
	free(targets->ids);
	free(targets->found);
	arena_free(targets->mem);
	free(targets);
}

size_t targets_count(const struct targets *targets)
{
	return targets->count;
}

const char *targets_at(const struct targets *targets, size_t i)
{
	return targets->names[i];
}

/* Gives "KIND/NAME" for "JOBID/KIND/NAME". */
static const char *short_id(const char *id)
{
	const char *slash = strchr(id, '/');

	return slash ? slash + 1 : id;
}

static bool is_target(struct targets *targets, const char *id)
{
	bool is = false;
	size_t i;

	for (i = 0; i < targets->count; i++) {
		if (strcmp(targets->names[i], id) != 0 &&
		    strcmp(targets->names[i], short_id(id)) != 0)
			continue;
		targets->found[i] = true;
		is = true;
	}
	return is;
}

static void remember(struct targets *targets, const char *id)
{
	if (targets->id_count == targets->id_room) {
		targets->id_room = targets->id_room ? 2 * targets->id_room : 64;
		targets->ids = mem_grow(targets->ids, targets->id_room,
					sizeof(*targets->ids));
	}
	targets->ids[targets->id_count++] = arena_strdup(targets->mem, id);
}

void targets_keep(struct targets *targets, struct plan_job *job, size_t first)
{
	bool *wanted = mem_alloc(job->action_count * sizeof(*wanted));
	size_t i, j, n = 0;

	for (i = 0; i < job->action_count; i++) {
		remember(targets, job->actions[i]->id);
		wanted[i] = is_target(targets, job->actions[i]->id);
	}
	/* The needs of an action come before it in the list. */
	for (i = job->action_count; i-- > 0;)
		for (j = 0; wanted[i] && j < job->actions[i]->need_count; j++)
			wanted[job->actions[i]->needs[j]->index - first] = true;
	for (i = 0; i < job->action_count; i++) {
		/* The actions belong to this plan, which nobody else has
		 * yet. */
		struct action *action = (struct action *)job->actions[i];

		if (!wanted[i])
			continue;
		action->index = first + n;
		job->actions[n++] = action;
	}
	job->action_count = n;
	free(wanted);
}

static const char *nearest(const struct targets *targets, const char *name)
{
	const char **names;
	const char *found;
	size_t i;

	found = nearest_name(name, targets->ids, targets->id_count);
	if (found)
		return found;
	names = mem_alloc((targets->id_count + 1) * sizeof(*names));
	for (i = 0; i < targets->id_count; i++)
		names[i] = short_id(targets->ids[i]);
	found = nearest_name(name, names, targets->id_count);
	free(names);
	return found;
}

int targets_check(const struct targets *targets, struct error *err)
{
	const char *near;
	size_t i;

	for (i = 0; i < targets->count && targets->found[i]; i++)
		;
	if (i == targets->count)
		return 0;
	near = nearest(targets, targets->names[i]);
	return error_set(err, ERROR_USAGE, "--target: no action '%s'%s%s%s",
			 targets->names[i], near ? "; did you mean '" : "",
			 near ? near
			      : " ('jobrun plan --format json' has "
				"their ids)",
			 near ? "'?" : "");
}
