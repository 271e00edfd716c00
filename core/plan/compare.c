/* SPDX-License-Identifier: Apache-2.0 */
#include "core/plan/compare.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/json.h"
#include "core/provider/placeholder.h"
#include "core/job/secret.h"

/* ---- what was applied ------------------------------------------------ */

/* Reads the properties that were last applied.  `out` is new, or NULL if they
 * are not known. */
static int find_applied(struct compare *compare, const struct resource *want,
			json_t **out, struct error *err)
{
	struct applied_list *all = &compare->applied;
	struct error ignored;
	size_t i;

	*out = NULL;
	if (!compare->store || want->kind->flags & KIND_RUN)
		return 0;
	if (!compare->looked &&
	    store_applied_list(compare->store, compare->job->job->job_id,
			       compare->job->provider->name, compare->mem, all,
			       err) < 0)
		return -1;
	compare->looked = true;
	for (i = 0; i < all->count; i++) {
		const struct applied_record *one = &all->items[i];

		if (!strcmp(one->name, want->name) &&
		    !strcmp(one->kind, want->kind->name))
			*out = json_read(one->properties,
					 strlen(one->properties), "store",
					 &ignored);
	}
	return 0;
}

/* ---- what is wanted -------------------------------------------------- */

struct compare_filling {
	struct compare *compare;
	const struct action *action;
};

/* Finds an output of a resource that is kept; a replacement will have other
 * outputs. */
static int find_output(void *arg, const char *kind, const char *resource,
		       const char *name, json_t **out, struct error *err)
{
	const struct compare_filling *filling = arg;
	const struct resource *want = filling->action->want;
	size_t i;

	(void)err;
	for (i = 0; i < want->need_count; i++) {
		const struct resource *need = want->needs[i];
		const struct action *before =
			filling->compare->by_place[need->index];

		if (strcmp(need->kind->name, kind) != 0 ||
		    strcmp(need->name, resource) != 0)
			continue;
		if (!before->have || (before->type != ACTION_NOOP &&
				      before->type != ACTION_UPDATE))
			return 1;
		*out = json_incref(
			json_object_get(before->have->outputs, name));
		return *out ? 0 : 1;
	}
	return 1;
}

/* A secret that cannot be read here may be readable where the plan is
 * applied. */
static int find_secret(void *arg, const char *name, json_t **out,
		       struct error *err)
{
	const struct compare_filling *filling = arg;
	const struct job *job = filling->compare->job->job;
	struct error ignored;

	(void)err;
	if (filling->compare->closed_secrets && job_secret_is_file(job, name))
		return 1;
	*out = job_secret(job, name, &ignored);
	return *out ? 0 : 1;
}

/* Returns the desired properties as far as they are known; the value is new. */
static json_t *wanted(struct compare *compare, const struct action *action,
		      struct error *err)
{
	struct compare_filling filling = { compare, action };
	struct placeholder_source source = { .output = find_output,
					     .secret = find_secret,
					     .arg = &filling };

	return placeholder_fill(action->want->properties, &source, err);
}

/* ---- comparing ------------------------------------------------------- */

/* Gives `value` to the plan, which owns it from here on. */
static json_t *keep(struct compare *compare, json_t *value)
{
	json_array_append_new(compare->keep, value);
	return value;
}

static json_t *seal_and_keep(struct compare *compare,
			     const struct resource *want, const json_t *applied,
			     const json_t *value, struct error *err)
{
	json_t *out;

	if (!compare->seal->ready &&
	    seal_init(compare->seal, compare->store, false, err) < 0)
		return NULL;
	out = seal_properties(compare->seal, want, applied, value, err);
	return out ? keep(compare, out) : NULL;
}

/* Drops the changes whose desired value is a secret that cannot be read. */
static void drop_unread(struct action *action, struct diff *diff)
{
	size_t i, n = 0;

	for (i = 0; i < diff->count; i++) {
		const struct change *change = &diff->items[i];

		if (change->before &&
		    placeholder_type(change->after) == PLACEHOLDER_SECRET)
			action->unread_secret = true;
		else
			diff->items[n++] = *change;
	}
	diff->count = n;
}

static bool touches_any(const struct diff *diff, const char *path)
{
	size_t i;

	for (i = 0; i < diff->count; i++)
		if (diff_touches(diff->items[i].path, path))
			return true;
	return false;
}

/* Finds out whether the file or somebody else caused each difference. */
static void find_causes(struct action *action, const json_t *applied,
			const json_t *have, const json_t *want,
			struct arena *mem, struct diff *diff)
{
	struct diff outside, file;
	size_t i;

	diff_json(applied, have, mem, &outside);
	diff_json(applied, want, mem, &file);
	for (i = 0; i < diff->count; i++) {
		struct change *change = &diff->items[i];
		bool moved = touches_any(&outside, change->path);

		if (moved)
			action->drift = DRIFT_CHANGED;
		change->cause = !moved ? CHANGE_FILE
				: touches_any(&file, change->path)
					? CHANGE_BOTH
					: CHANGE_OUTSIDE;
	}
}

static void find_drift(struct compare *compare, struct action *action,
		       const json_t *applied, const json_t *have,
		       const json_t *want, struct diff *diff)
{
	/* Values sealed with a lost key cannot be compared. */
	bool readable = applied &&
			(!placeholder_any(applied) || compare->seal->lasting);

	action->drift = DRIFT_NONE;
	/* Nobody can change a run once it is started. */
	if (!compare->store || action->want->kind->flags & KIND_RUN)
		return;
	if (!action->have)
		action->drift = applied ? DRIFT_GONE : DRIFT_NONE;
	else if (!readable)
		action->drift = DRIFT_UNKNOWN;
	else if (diff->count)
		find_causes(action, applied, have, want, compare->mem, diff);
}

/* Makes the desired and the observed properties as plans may show them; both
 * are kept. */
static int make_sides(struct compare *compare, const struct action *action,
		      const json_t *applied, const json_t **want,
		      const json_t **have, struct error *err)
{
	const struct resource *it = action->want;
	json_t *filled = NULL;

	*want = it->properties;
	*have = action->have ? action->have->properties : NULL;
	if (placeholder_any(it->properties)) {
		filled = wanted(compare, action, err);
		if (!filled)
			return -1;
		*want = filled;
	}
	if (!seal_is_needed(it, applied)) {
		if (filled)
			keep(compare, filled);
		return 0;
	}
	*want = seal_and_keep(compare, it, applied, *want, err);
	json_decref(filled);
	if (*want && *have)
		*have = seal_and_keep(compare, it, applied, *have, err);
	return *want && (*have || !action->have) ? 0 : -1;
}

int compare_resource(struct compare *compare, struct action *action,
		     struct diff *out, struct error *err)
{
	const json_t *want, *have;
	json_t *applied;
	int ret = -1;

	if (find_applied(compare, action->want, &applied, err) < 0)
		return -1;
	if (make_sides(compare, action, applied, &want, &have, err) == 0) {
		diff_json(have, want, compare->mem, out);
		drop_unread(action, out);
		find_drift(compare, action, applied, have, want, out);
		ret = 0;
	}
	json_decref(applied);
	return ret;
}
