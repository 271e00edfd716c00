/* SPDX-License-Identifier: Apache-2.0 */
#include "core/device/choice.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 160
#define IGNORE "jobrun.local: {devices: ignore} runs it without any"

/* Writes the words of "RTX PRO 6000 Blackwell" as
 * "_rtx_pro_6000_blackwell_". */
static void words_of(const char *text, char out[WORDS_MAX])
{
	size_t n = 0;

	out[n++] = '_';
	for (; *text && n < WORDS_MAX - 2; text++) {
		if (isalnum((unsigned char)*text))
			out[n++] = (char)tolower((unsigned char)*text);
		else if (out[n - 1] != '_')
			out[n++] = '_';
	}
	if (out[n - 1] != '_')
		out[n++] = '_';
	out[n] = '\0';
}

/* Finds the size of the memory in such words, as in "80gb_"; NULL if there is
 * none. */
static const char *find_memory(const char *words)
{
	const char *end = strstr(words, "gb_"), *at = end;

	while (at && at > words && isdigit((unsigned char)at[-1]))
		at--;
	return at == end ? NULL : at;
}

static bool is_of_type(const char *model, const struct device_wish *wish)
{
	char words[WORDS_MAX], wanted[WORDS_MAX];
	const char *one, *two;
	char *part;
	bool out;

	if (!model || !wish->type)
		return true;
	words_of(model, words);
	part = mem_printf("_%s_", wish->model);
	out = strstr(words, part);
	free(part);
	words_of(wish->type, wanted);
	one = find_memory(words);
	two = find_memory(wanted);
	return out && (!one || !two || !strcmp(one, two) ||
		       strtol(one, NULL, 10) == strtol(two, NULL, 10));
}

static bool is_alike(const struct device *one, const struct device *two)
{
	return one->slice == two->slice && !strcmp(one->vendor, two->vendor);
}

/* Takes the devices that are like the i-th, either of the right type or of any
 * type. */
static void take_alike(const struct devices *all, size_t i,
		       const struct device_wish *wish, bool fits,
		       struct device_choice *out)
{
	size_t j;

	out->count = 0;
	out->fits = fits;
	for (j = 0; j < all->count; j++) {
		const struct device *one = &all->items[j];

		if (!one->trouble && is_alike(one, &all->items[i]) &&
		    (!fits || is_of_type(one->model, wish)))
			out->items[out->count++] = one;
	}
}

void device_choose(const struct devices *all, const struct device_wish *wish,
		   struct device_choice *out)
{
	struct device_choice one = { 0 };
	int fits;
	size_t i;

	*out = one;
	for (fits = 1; fits >= 0; fits--) {
		for (i = 0; i < all->count; i++) {
			take_alike(all, i, wish, fits, &one);
			if (one.count > out->count)
				*out = one;
			if (out->count >= wish->need)
				return;
		}
	}
}

const char *device_fault(const struct devices *all,
			 const struct device_wish *wish,
			 const struct device_choice *choice, const char *list,
			 struct arena *mem)
{
	if (!all->count)
		return wish->strict
			       ? arena_printf(mem,
					      "it asks for %zu GPUs, but this "
					      "machine has none: " IGNORE,
					      wish->need)
			       : NULL;
	if (choice->count < wish->need)
		return arena_printf(
			mem,
			"it asks for %zu GPUs in all, and this machine has %zu "
			"alike that are well ('%s' lists them): " IGNORE,
			wish->need, choice->count, list);
	if (wish->strict && !choice->fits)
		return arena_printf(mem,
				    "it asks for %s, but this machine has %s "
				    "(jobrun.local.devices is strict)",
				    wish->type, choice->items[0]->model);
	return NULL;
}

const char *device_id(const struct device *one, struct arena *mem)
{
	/* A whole device is passed by its number, as frameworks expect. */
	return one->slice && one->uuid ? one->uuid
				       : arena_printf(mem, "%d", one->index);
}

const char *device_label(const char *id, struct arena *mem)
{
	return strspn(id, "0123456789") == strlen(id)
		       ? arena_printf(mem, "GPU %s", id)
		       : id;
}
