/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/kin.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/nearest.h"

#define DIGITS "0123456789"
#define BREAKS "-_"
#define WORD_SIZE 32
#define OTHER_KIND (1L << 20) /* larger than any difference in size */

/* The next word of a name, cut to what fits; false at the end. */
static bool next_word(const char **at, char out[WORD_SIZE])
{
	size_t len;

	*at += strspn(*at, BREAKS);
	len = strcspn(*at, BREAKS);
	if (!len)
		return false;
	memset(out, 0, WORD_SIZE);
	memcpy(out, *at, len < WORD_SIZE ? len : WORD_SIZE - 1);
	*at += len;
	return true;
}

static bool has_digit(const char *word)
{
	return strpbrk(word, DIGITS);
}

/* The number of wrong letters in the words; UINT_MAX if it is another name. */
static unsigned slips(const char *word, const char *name)
{
	char mine[WORD_SIZE], its[WORD_SIZE];
	unsigned sum = 0, limit, d;

	while (next_word(&word, mine)) {
		if (!next_word(&name, its))
			return UINT_MAX;
		if (!strcmp(mine, its))
			continue;
		limit = (unsigned)strlen(mine) / 3;
		d = text_distance(mine, its, limit);
		if (has_digit(mine) || has_digit(its) || d > limit)
			return UINT_MAX;
		sum += d;
	}
	return next_word(&name, its) ? UINT_MAX : sum;
}

const char *kin_misspelt(const char *word, const char *const *names,
			 size_t count)
{
	unsigned d, least = UINT_MAX;
	const char *best = NULL;
	size_t i;

	for (i = 0; i < count; i++) {
		d = slips(word, names[i]);
		if (d < least) {
			least = d;
			best = names[i];
		}
	}
	return best;
}

/* Returns the break before the size, which begins with a digit and may have
 * words behind it, as "4g-metal"; else the last break. */
static const char *size_break(const char *name)
{
	const char *p, *last = name;

	for (p = name; *p; p++) {
		if (!strchr(BREAKS, *p))
			continue;
		last = p;
		if (p[1] && strchr(DIGITS, p[1]))
			break;
	}
	return last;
}

/* The difference in size; LONG_MAX if the families differ. */
static long distance(const char *word, const char *name)
{
	const char *mine = size_break(word), *its = size_break(name);
	size_t len = strcspn(word, BREAKS);
	long gap;

	if (len != strcspn(name, BREAKS) || strncmp(word, name, len) != 0 ||
	    mine == word || its == name)
		return LONG_MAX;
	gap = labs(strtol(mine + 1, NULL, 10) - strtol(its + 1, NULL, 10));
	if (gap >= OTHER_KIND)
		gap = OTHER_KIND - 1;
	if (mine - word != its - name ||
	    strncmp(word, name, (size_t)(mine - word)) != 0)
		gap += OTHER_KIND;
	return gap;
}

static bool has_word(const char *name, const char *word)
{
	char its[WORD_SIZE];

	while (next_word(&name, its))
		if (!strcasecmp(its, word))
			return true;
	return false;
}

bool kin_same_numbers(const char *word, const char *name)
{
	char mine[WORD_SIZE];

	while (next_word(&word, mine))
		if (has_digit(mine) && !has_word(name, mine))
			return false;
	return true;
}

const char *kin_of_size(const char *word, const char *const *names,
			size_t count)
{
	long d, least = LONG_MAX;
	const char *best = NULL;
	size_t i;

	for (i = 0; i < count; i++) {
		d = distance(word, names[i]);
		if (d < least) {
			least = d;
			best = names[i];
		}
	}
	return best;
}
