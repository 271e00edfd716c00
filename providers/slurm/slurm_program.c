/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/slurm/slurm_program.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define ALIGNED(n) (((n) + 3) & ~(size_t)3)

struct found_program {
	const unsigned char *id;
	size_t len;
};

static bool find_id(const char *notes, size_t size, struct found_program *out)
{
	size_t at = 0;

	while (at + sizeof(ElfW(Nhdr)) <= size) {
		const ElfW(Nhdr) *note = (const void *)(notes + at);
		const char *name = (const char *)(note + 1);
		size_t step = sizeof(*note) + ALIGNED(note->n_namesz) +
			      ALIGNED(note->n_descsz);

		if (at + step > size)
			return false;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
		    !memcmp(name, "GNU", 4)) {
			out->id = (const unsigned char *)name +
				  ALIGNED(note->n_namesz);
			out->len = note->n_descsz;
			return true;
		}
		at += step;
	}
	return false;
}

/* Looks at the program itself, which comes first. */
static int look_at_first(struct dl_phdr_info *info, size_t size, void *arg)
{
	size_t i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type == PT_NOTE &&
		    find_id((const char *)(info->dlpi_addr + part->p_vaddr),
			    part->p_memsz, arg))
			break;
	}
	return 1;
}

void program_id(char *out, unsigned long size)
{
	struct found_program found = { 0 };
	size_t i;

	dl_iterate_phdr(look_at_first, &found);
	if (!found.len) {
		snprintf(out, size, "%s", JOBRUN_VERSION);
		return;
	}
	for (i = 0; i < found.len && 2 * i + 2 < size; i++)
		snprintf(out + 2 * i, size - 2 * i, "%02x", found.id[i]);
}
