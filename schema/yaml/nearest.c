/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/yaml/nearest.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/text.h"
#include "core/job/message.h"

#define PARTS_MAX 8
#define PART_SIZE 24
#define PREFIX_MIN 3

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

/* How many words of the other name are not of this one, whose words are all
 * in it; or -1. */
static int words_more(char mine[PARTS_MAX][PART_SIZE], size_t n,
		      const char *name)
{
	char other[PARTS_MAX][PART_SIZE];
	size_t i, j = 0, m = split(name, other);

	for (i = 0; i < n; i++, j++) {
		while (j < m && strcmp(mine[i], other[j]) != 0)
			j++;
		if (j == m)
			return -1;
	}
	return (int)(m - n);
}

/* The name that says the same with fewest words more: K80 is part of
 * NVIDIA_TESLA_K80 only. */
static const char *fuller_name(char mine[PARTS_MAX][PART_SIZE], size_t n,
			       const char *const *names, size_t count)
{
	const char *best = NULL;
	int more, least = PARTS_MAX + 1;
	size_t i;

	for (i = 0; i < count; i++) {
		more = words_more(mine, n, names[i]);
		if (more < 0 || more > least)
			continue;
		best = more < least ? names[i] : NULL;
		least = more;
	}
	return best;
}

/* The only name that begins so: INTEGER for int. */
static const char *longer_name(const char *word, const char *const *names,
			       size_t count)
{
	size_t i, len = strlen(word);
	const char *best = NULL;

	for (i = 0; len >= PREFIX_MIN && i < count; i++) {
		if (strncasecmp(word, names[i], len) != 0)
			continue;
		if (best)
			return NULL;
		best = names[i];
	}
	return best;
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
	best = n ? fuller_name(mine, n, names, count) : NULL;
	return best ? best : longer_name(word, names, count);
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
