/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/nearest.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "core/message.h"

#define PARTS_MAX 8
#define PART_SIZE 24

static int compare_parts(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* The words of a name in their alphabetical order. */
static size_t split(const char *name, char parts[PARTS_MAX][PART_SIZE])
{
	size_t n = 0, len;

	memset(parts, 0, PARTS_MAX * PART_SIZE);
	while (*name && n < PARTS_MAX) {
		for (len = 0; isalnum((unsigned char)*name); name++)
			if (len < PART_SIZE - 1)
				parts[n][len++] =
					(char)tolower((unsigned char)*name);
		n += len > 0;
		while (*name && !isalnum((unsigned char)*name))
			name++;
	}
	qsort(parts, n, PART_SIZE, compare_parts);
	return n;
}

const char *nearest_name(const char *word, const char *const *names,
			 size_t count)
{
	char mine[PARTS_MAX][PART_SIZE], other[PARTS_MAX][PART_SIZE];
	const char *best = text_nearest(word, names, count);
	size_t i, n;

	if (best)
		return best;
	n = split(word, mine);
	for (i = 0; n && i < count; i++)
		if (split(names[i], other) == n &&
		    !memcmp(mine, other, sizeof(mine)))
			return names[i];
	return NULL;
}

static size_t owners(const struct message *from, const char *name,
		     const char *prefix, char (*out)[OWNER_SIZE], size_t n,
		     size_t max)
{
	const struct field *field;
	char path[OWNER_SIZE];
	int len;

	for (field = from->fields; field->name && n < max; field++) {
		if (!field->message || (field->flags & FIELD_OUTPUT))
			continue;
		len = snprintf(path, sizeof(path), "%s%s%s", prefix,
			       *prefix ? "." : "", field->name);
		if (len < 0 || (size_t)len >= sizeof(path))
			continue;
		if (message_field(field->message, name))
			memcpy(out[n++], path, sizeof(path));
		n = owners(field->message, name, path, out, n, max);
	}
	return n;
}

size_t message_owners(const struct message *from, const char *name,
		      char (*out)[OWNER_SIZE], size_t max)
{
	return owners(from, name, "", out, 0, max);
}
