/* SPDX-License-Identifier: Apache-2.0 */
#include "core/spec/install_start.h"

#include <stdint.h>

/* The Makefile builds the program, and gives its path here. */
__asm__(".section .rodata\n"
	".balign 16\n"
	"start_file:\n"
	".incbin \"" START_FILE "\"\n"
	"start_file_end:\n"
	".previous\n");
extern const char start_file[] __attribute__((visibility("hidden")));
extern const char start_file_end[] __attribute__((visibility("hidden")));

const char *install_start_program(size_t *size)
{
	/* The two are symbols of the assembler, not the ends of one array. */
	*size = (size_t)((uintptr_t)start_file_end - (uintptr_t)start_file);
	return start_file;
}
