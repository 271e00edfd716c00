/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/text.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *crypto_grow(void *old, size_t size, const char *file, int line)
{
	(void)file;
	(void)line;
	if (size)
		return mem_grow(old, size, 1);
	free(old);
	return NULL;
}

static void *crypto_new(size_t size, const char *file, int line)
{
	return crypto_grow(NULL, size ? size : 1, file, line);
}

static void crypto_free(void *old, const char *file, int line)
{
	crypto_grow(old, 0, file, line);
}

/* Without memory libcrypto crashes, or reports another error.  Libraries that
 * use libcrypto load it, too; once it has an allocator it keeps that. */
static void give_memory(void *symbol)
{
	int (*set)(void *(*)(size_t, const char *, int),
		   void *(*)(void *, size_t, const char *, int),
		   void (*)(void *, const char *, int));

	if (!symbol)
		return;
	memcpy(&set, &symbol, sizeof(symbol));
	set(crypto_new, crypto_grow, crypto_free);
}

/* ---- linked in ---- */

bool library_is_static(void)
{
	return library_linked;
}

/* NULL: a static program has no such symbol. */
static void *find_linked(const char *name)
{
	const struct library_linked *row = library_linked;

	while (row->name && strcmp(row->name, name) != 0)
		row++;
	return (void *)(uintptr_t)row->symbol;
}

/* Whether a static program has a library, by the name of its file: one that is
 * not linked in is of a driver of this machine. */
static bool is_linked(const char *file)
{
	static const char *const libraries[] = { "libcrypto.", "libarchive.",
						 "libcurl." };
	size_t i;

	for (i = 0; i < COUNT(libraries); i++)
		if (text_starts(file, libraries[i]))
			return true;
	return false;
}

/* ---- both ---- */

/* Returns what find_symbol() takes, or NULL with `err` set. */
static void *open_library(const char *name, struct error *err)
{
	void *library;

	if (library_is_static()) {
		if (is_linked(name))
			return (void *)(uintptr_t)library_linked;
		error_set(err, ERROR_FAILED,
			  "cannot open %s (this jobrun is static)", name);
		return NULL;
	}
	/* A second dlopen() of the same name only counts a reference.
	 * RTLD_LAZY, because libcurl needs thirty libraries, and most calls
	 * between them never happen here. */
	library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
	if (!library)
		error_set(err, ERROR_FAILED, "cannot open %s (%s)", name,
			  dlerror());
	return library;
}

static void *find_symbol(void *library, const char *name)
{
	return library_is_static() ? find_linked(name) : dlsym(library, name);
}

int library_open(const char *name, const struct library_symbol *symbols,
		 struct error *err)
{
	void *library;
	int ret = -1;
	size_t i;

	pthread_mutex_lock(&lock);
	library = open_library(name, err);
	if (!library)
		goto out;
	give_memory(find_symbol(library, "CRYPTO_set_mem_functions"));
	for (i = 0; symbols[i].name; i++) {
		void *symbol = find_symbol(library, symbols[i].name);

		if (!symbol) {
			error_set(err, ERROR_FAILED, "%s has no '%s'", name,
				  symbols[i].name);
			goto out;
		}
		/* ISO C has no cast from object to function pointer.  If a
		 * pointer is already set, another thread may be calling through
		 * it. */
		if (memcmp(symbols[i].to, &symbol, sizeof(symbol)) != 0)
			memcpy(symbols[i].to, &symbol, sizeof(symbol));
	}
	ret = 0;
out:
	pthread_mutex_unlock(&lock);
	return ret;
}
