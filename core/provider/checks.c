/* SPDX-License-Identifier: Apache-2.0 */
#include "core/provider/checks.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"

struct doctor_check *checks_add(struct checks *all, const char *group,
				const char *name, enum check_state state,
				const char *value)
{
	size_t at = all->count++;

	all->items = mem_grow(all->items, all->count, sizeof(*all->items));
	while (at && strcmp(all->items[at - 1].group, group) != 0)
		at--;
	if (!at)
		at = all->count - 1;
	memmove(&all->items[at + 1], &all->items[at],
		(all->count - 1 - at) * sizeof(*all->items));
	all->items[at] = (struct doctor_check){
		.group = group,
		.name = name,
		.state = state,
		.value = value,
	};
	return &all->items[at];
}

void checks_fail(struct checks *all, const char *group, const char *name,
		 const struct error *err)
{
	checks_bad(all, group, name, err->code,
		   arena_strdup(all->mem, err->text));
}

void checks_bad(struct checks *all, const char *group, const char *name,
		enum error_code code, const char *advice)
{
	checks_add(all, group, name, CHECK_BAD, NULL)->advice = advice;
	if (!all->worst)
		all->worst = code;
}

void checks_program(struct checks *all, const char *name, const char *advice)
{
	char *path = file_find_program(getenv("PATH"), name);
	struct doctor_check *check = checks_add(
		all, "programs", name, path ? CHECK_OK : CHECK_MISSING,
		path ? arena_strdup(all->mem, path) : NULL);

	if (!path)
		check->advice = advice;
	free(path);
}

static const char *copy(struct arena *mem, const char *text)
{
	return text ? arena_strdup(mem, text) : NULL;
}

void checks_copy(const struct checks *from, const char *group,
		 struct checks *all)
{
	size_t i;

	for (i = 0; i < from->count; i++) {
		const struct doctor_check *one = &from->items[i];
		struct doctor_check *added = checks_add(
			all, copy(all->mem, group ? group : one->group),
			copy(all->mem, one->name), one->state,
			copy(all->mem, one->value));

		added->source = copy(all->mem, one->source);
		added->advice = copy(all->mem, one->advice);
	}
	if (!all->worst)
		all->worst = from->worst;
}
