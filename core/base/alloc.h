/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory.  Small allocations do not fail here: a process that is out of memory
 * says so and ends, which every caller survives by design (any process may be
 * killed at any instant).  Sizes that others decide are bounded before anything
 * is allocated.
 */
#ifndef JOBRUN_ALLOC_H
#define JOBRUN_ALLOC_H

#include <stdarg.h>
#include <stddef.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Says that memory is out, and ends the process: for what libraries report. */
void mem_out(void) __attribute__((noreturn));

/* Return new memory, or end the process. */
void *mem_alloc(size_t size); /* zeroed */
void *mem_grow(void *old, size_t count, size_t size);
char *mem_strdup(const char *text);
char *mem_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* An arena: many allocations, one life.  Not for use by two threads. */
struct arena;

struct arena *arena_new(void);
void arena_free(struct arena *mem);
void *arena_alloc(struct arena *mem, size_t size); /* zeroed, aligned */
char *arena_strdup(struct arena *mem, const char *text);
char *arena_strndup(struct arena *mem, const char *text, size_t len);
char *arena_printf(struct arena *mem, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
