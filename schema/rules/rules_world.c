/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/rules/rules_world.h"

#include <stdio.h>

#include "core/base/kin.h"
#include "core/base/nearest.h"
#include "core/base/text.h"
#include "schema/rules/hints.h"
#include "schema/rules/rules_check.h"
#include "schema/yaml/looks.h"

#define NAMES_MAX 1024
#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

/* ---- forms ------------------------------------------------------------- */

bool looks_like_region(const char *name, size_t len)
{
	size_t n, word;

	for (n = 0; (word = strspn(name + n, LOWER)) && name[n + word] == '-';)
		n += word + 1;
	return n && word && strspn(name + n + word, DIGITS) &&
	       n + word + strspn(name + n + word, DIGITS) == len;
}

size_t looks_like_zone(const char *name)
{
	const char *suffix = strrchr(name, '-');
	size_t len = suffix ? (size_t)(suffix - name) : 0;

	if (!len || !looks_like_region(name, len))
		return 0;
	suffix++;
	if (text_starts(suffix, "ai") && strspn(suffix + 2, DIGITS))
		suffix += 2 + strspn(suffix + 2, DIGITS);
	return strspn(suffix, LOWER) == 1 && !suffix[1] ? len : 0;
}

/* Whether a name looks like "NVIDIA_H200_141GB". */
static bool looks_like_accelerator(const char *type)
{
	return strspn(type, UPPER) && strchr(type, '_') &&
	       !strstr(type, "__") && !text_ends(type, "_") &&
	       !type[strspn(type, UPPER DIGITS "_")];
}

/* ---- related names ----------------------------------------------------- */

static size_t machine_names(const struct catalogue *all,
			    const char *names[NAMES_MAX])
{
	size_t i, j, n = 0;

	for (i = 0; i < all->family_count; i++)
		for (j = 0; j < all->families[i].machine_count; j++)
			if (n < NAMES_MAX)
				names[n++] = all->families[i].machines[j].name;
	return n;
}

const char *misspelt_machine(const struct catalogue *all, const char *type)
{
	const char *names[NAMES_MAX];
	size_t n = machine_names(all, names);
	const char *near = kin_misspelt(type, names, n);

	if (near || looks_like_compute(type))
		return near;
	return nearest_name(type, names, n);
}

const char *machine_of_size(const struct catalogue *all, const char *type)
{
	const char *names[NAMES_MAX];

	return kin_of_size(type, names, machine_names(all, names));
}

static const char *near_accelerator(const struct catalogue *all,
				    const char *type)
{
	const char *names[NAMES_MAX], *near;
	size_t i, n = 0;

	for (i = 0; i < all->accelerator_count && n < NAMES_MAX; i++)
		names[n++] = all->accelerators[i].type;
	for (i = 0; i < all->tpu_count && n < NAMES_MAX; i++)
		names[n++] = all->tpus[i].type;
	near = kin_misspelt(type, names, n);
	if (near)
		return near;
	near = looks_like_accelerator(type) ? nearest_part(type, names, n)
					    : nearest_name(type, names, n);
	return near && kin_same_numbers(type, near) ? near : NULL;
}

/* ---- accelerators ------------------------------------------------------ */

static bool is_known(const struct catalogue *all, const char *type)
{
	return catalogue_accelerator(all, type) || catalogue_tpu(all, type);
}

static void hint_accelerator(const struct check *check, const struct node *at,
			     const char *type)
{
	const char *meant = hint_value("acceleratorConfig.type", type);
	char foreign[LOOKS_SIZE];

	if (!meant)
		meant = near_accelerator(check->catalogue, type);
	if (!meant && looks_like_accelerator(type) && is_tpu(type))
		meant = "a catalogue of your own can have it: see "
			"jobrun-explain(1)";
	if (looks_foreign(type, foreign))
		problem_hint(check->found, "%s", foreign);
	else if (hint_looks(check->found, at))
		return;
	else if (meant && strchr(meant, ' '))
		problem_hint(check->found, "%s", meant);
	else if (meant)
		problem_hint(check->found, "did you mean %s?", meant);
}

/* Without its row nobody knows on how many hosts a TPU's tasks run. */
static void unknown_tpu(const struct check *check, const struct node *at,
			const char *path, const char *type)
{
	const char *date = check->catalogue->date;
	char shown[SHORT_SIZE];

	broken(check, at, path,
	       "\"type\" \"%s\" is not a known TPU: the catalogue of %s "
	       "does not say how many hosts it has",
	       text_short(type, shown), date ? date : "an unknown date");
}

void check_accelerator_known(const struct check *check)
{
	char path[96], shown[SHORT_SIZE];
	const struct node *at;
	const char *type;
	int i;

	for (i = 0; i < ROLE_COUNT; i++) {
		const struct accelerator_config *config =
			&role_config(check->in, i)->accelerator_config;

		type = config->type;
		at = type ? value_of(config, "type") : NULL;
		if (!at || is_known(check->catalogue, type))
			continue;
		snprintf(path, sizeof(path),
			 "trainingInput.%s.acceleratorConfig.type",
			 roles[i].config);
		if (looks_like_accelerator(type) && i == ROLE_WORKER &&
		    is_tpu(type) && !is_closed(check))
			unknown_tpu(check, at, path, type);
		else if (looks_like_accelerator(type))
			unknown(check, at, path, type, "accelerator");
		else
			broken(check, at, path,
			       "\"type\" \"%s\" is not the name of an "
			       "accelerator: use capitals, for instance "
			       "NVIDIA_TESLA_T4",
			       text_short(type, shown));
		hint_accelerator(check, at, type);
	}
}
