/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target over the files of a folder, without libFuzzer, so that
 * inputs once found are tested with any compiler. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/file.h"

#define INPUT_MAX (64 << 20)
/* A target that takes this long hangs, even on a busy machine. */
#define FINISHES_IN_S 60

/* Mutants made of the files, if the target mutates by itself. */
#define MUTANTS 300
#define MUTANT_MAX (1 << 16)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t __attribute__((weak))
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

struct input {
	char *data;
	size_t len;
};

struct inputs {
	struct input *items;
	size_t count;
};

static void add_folder(struct inputs *all, const char *folder)
{
	struct dirent *entry;
	struct error err;
	DIR *dir = opendir(folder);

	if (!dir) {
		perror(folder);
		exit(64);
	}
	while ((entry = readdir(dir))) {
		char *path = path_join(folder, entry->d_name);
		struct input one = { 0 };

		if (entry->d_name[0] != '.')
			one.data = file_read(path, INPUT_MAX, &one.len, &err);
		free(path);
		if (!one.data)
			continue;
		all->items = mem_grow(all->items, all->count + 1, sizeof(one));
		all->items[all->count++] = one;
	}
	closedir(dir);
}

static unsigned long number(const char *name, unsigned long otherwise)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 10) : otherwise;
}

/* Keeps a mutant that crashes or hangs, for examination. */
static void keep(const uint8_t *data, size_t len)
{
	const char *path = getenv("FUZZ_LAST");
	FILE *file = path ? fopen(path, "w") : NULL;

	if (!file)
		return;
	fwrite(data, 1, len, file);
	fclose(file);
}

/* Runs mutants: FUZZ_MUTANTS gives their number, FUZZ_SEED the first one. */
static unsigned long mutate(const struct inputs *all)
{
	unsigned long i, first = number("FUZZ_SEED", 1);
	unsigned long count = number("FUZZ_MUTANTS", MUTANTS);
	uint8_t *data = mem_alloc(MUTANT_MAX);

	for (i = 0; i < count; i++) {
		unsigned seed = (unsigned)(first + i);
		const struct input *from =
			&all->items[seed * 2654435761u % all->count];
		size_t len = from->len < MUTANT_MAX ? from->len : MUTANT_MAX;
		unsigned more = seed % 3;

		memcpy(data, from->data, len);
		do
			len = LLVMFuzzerCustomMutator(data, len, MUTANT_MAX,
						      seed ^ more << 28);
		while (more--);
		keep(data, len);
		alarm(FINISHES_IN_S);
		LLVMFuzzerTestOneInput(data, len);
		alarm(0);
	}
	free(data);
	return count;
}

int main(int argc, char **argv)
{
	struct inputs all = { 0 };
	unsigned long mutants = 0;
	size_t i;
	int n;

	for (n = 1; n < argc; n++)
		add_folder(&all, argv[n]);
	if (!all.count) {
		fprintf(stderr, "usage: %s FOLDER...\n", argv[0]);
		return 64;
	}
	for (i = 0; i < all.count; i++) {
		alarm(FINISHES_IN_S);
		LLVMFuzzerTestOneInput((const uint8_t *)all.items[i].data,
				       all.items[i].len);
		alarm(0);
	}
	if (LLVMFuzzerCustomMutator)
		mutants = mutate(&all);
	printf("%s: %zu inputs and %lu mutants passed\n", argv[0], all.count,
	       mutants);
	for (i = 0; i < all.count; i++)
		free(all.items[i].data);
	free(all.items);
	return 0;
}
