/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/environment.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"

void environment_done(struct environment *env)
{
	size_t i;

	for (i = 0; i < env->count; i++)
		free(env->items[i]);
	free(env->items);
	*env = (struct environment){ 0 };
}

static char **find(const struct environment *env, const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < env->count; i++)
		if (!strncmp(env->items[i], name, len) &&
		    env->items[i][len] == '=')
			return &env->items[i];
	return NULL;
}

static void put(struct environment *env, size_t name_len, char *item)
{
	char **old = find(env, item, name_len);

	if (old) {
		free(*old);
		*old = item;
		return;
	}
	env->items = mem_grow(env->items, env->count + 2, sizeof(*env->items));
	env->items[env->count++] = item;
	env->items[env->count] = NULL;
}

void environment_set(struct environment *env, const char *name,
		     const char *value)
{
	put(env, strlen(name), mem_printf("%s=%s", name, value));
}

void environment_printf(struct environment *env, const char *name,
			const char *format, ...)
{
	va_list args;
	char *value = NULL;

	va_start(args, format);
	if (vasprintf(&value, format, args) < 0)
		value = NULL;
	va_end(args);
	environment_set(env, name, value ? value : "");
	free(value);
}

const char *environment_get(const struct environment *env, const char *name)
{
	size_t len = strlen(name);
	char **item = find(env, name, len);

	return item ? *item + len + 1 : NULL;
}

void environment_inherit(struct environment *env, char *const *from)
{
	for (; *from; from++) {
		const char *equals = strchr(*from, '=');
		size_t len = equals ? (size_t)(equals - *from) : 0;

		if (len && !find(env, *from, len))
			put(env, len, mem_strdup(*from));
	}
}
