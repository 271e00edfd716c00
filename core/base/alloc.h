/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory.  Small allocations do not fail here: a process that runs out of
 * memory says so and exits.  Every caller survives that by design, as any
 * process may be killed at any instant.  Sizes that come from outside are
 * limited before anything is allocated.
 */
#ifndef JOBRUN_ALLOC_H
#define JOBRUN_ALLOC_H

#include <stdarg.h>
#include <stddef.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Reports that memory is out and ends the process; for libraries that return
 * such an error. */
void mem_out(void) __attribute__((noreturn));

/* Return new memory, or end the process. */
void *mem_alloc(size_t size); /* zeroed */
void *mem_grow(void *old, size_t count, size_t size);
char *mem_strdup(const char *text);
char *mem_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* An arena: many allocations that are freed together.  Not thread-safe. */
struct arena;

struct arena *arena_new(void);
void arena_free(struct arena *mem);
void *arena_alloc(struct arena *mem, size_t size); /* zeroed, aligned */
char *arena_strdup(struct arena *mem, const char *text);
char *arena_strndup(struct arena *mem, const char *text, size_t len);
char *arena_printf(struct arena *mem, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
