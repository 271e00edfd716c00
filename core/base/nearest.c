/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/nearest.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WORD_MAX 64
#define PARTS_MAX 8
#define PART_SIZE 24
#define PREFIX_MIN 3

/* Optimal string alignment over three rows. */
unsigned text_distance(const char *a, const char *b, unsigned limit)
{
	unsigned rows[3][WORD_MAX + 1];
	size_t n = strlen(a), m = strlen(b);
	size_t i, j;

	if (n > WORD_MAX || m > WORD_MAX)
		return limit + 1;
	for (j = 0; j <= m; j++)
		rows[0][j] = (unsigned)j;
	for (i = 1; i <= n; i++) {
		unsigned *row = rows[i % 3];
		unsigned *up = rows[(i + 2) % 3];
		unsigned *up2 = rows[(i + 1) % 3];

		row[0] = (unsigned)i;
		for (j = 1; j <= m; j++) {
			unsigned best = up[j - 1] + (a[i - 1] != b[j - 1]);

			if (up[j] + 1 < best)
				best = up[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1] && up2[j - 2] + 1 < best)
				best = up2[j - 2] + 1;
			row[j] = best;
		}
	}
	return rows[n % 3][m] > limit ? limit + 1 : rows[n % 3][m];
}

static void fold(const char *word, char out[WORD_MAX + 1])
{
	size_t n = 0;

	for (; *word && n < WORD_MAX; word++)
		if (*word != '_' && *word != '-')
			out[n++] = (char)tolower((unsigned char)*word);
	out[n] = '\0';
}

static const char *spelt_alike(const char *word, const char *const *names,
			       size_t count)
{
	char folded[WORD_MAX + 1], name[WORD_MAX + 1];
	const char *best = NULL;
	unsigned least, d;
	size_t i;

	if (strlen(word) > WORD_MAX)
		return NULL;
	fold(word, folded);
	/* Up to a third of wrong letters is a plausible typo, more is another
	 * word. */
	least = (unsigned)strlen(folded) / 3 + 1;
	for (i = 0; i < count; i++) {
		fold(names[i], name);
		d = text_distance(folded, name, least);
		if (d < least) {
			least = d;
			best = names[i];
		}
	}
	return best;
}

static int compare_parts(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Splits a name into words, sorted alphabetically. */
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

/* How many more words the other name has, if it contains all words of this one;
 * else -1. */
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

/* The name that contains all words and the fewest others: K80 is part of
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

/* The only name that begins with the word: INTEGER for int. */
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
	const char *best = spelt_alike(word, names, count);

	return best ? best : nearest_part(word, names, count);
}

const char *nearest_part(const char *word, const char *const *names,
			 size_t count)
{
	char mine[PARTS_MAX][PART_SIZE], other[PARTS_MAX][PART_SIZE];
	size_t i, n = split(word, mine);
	const char *best;

	for (i = 0; n && i < count; i++)
		if (split(names[i], other) == n &&
		    !memcmp(mine, other, sizeof(mine)))
			return names[i];
	best = n ? fuller_name(mine, n, names, count) : NULL;
	return best ? best : longer_name(word, names, count);
}
