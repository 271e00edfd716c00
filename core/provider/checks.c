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
	checks_add(all, group, name, CHECK_BAD, NULL)->advice =
		arena_strdup(all->mem, err->text);
	if (!all->worst)
		all->worst = err->code;
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
