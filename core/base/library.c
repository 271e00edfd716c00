/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int library_open(const char *name, const struct library_symbol *symbols,
		 struct error *err)
{
	void *library;
	int ret = -1;
	size_t i;

	pthread_mutex_lock(&lock);
	/* A second dlopen of the same name only counts a reference.  Lazily:
	 * libcurl needs thirty libraries, and most of what these call of each
	 * other is never called here. */
	library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
	if (!library) {
		error_set(err, ERROR_FAILED, "cannot open %s (%s)", name,
			  dlerror());
		goto out;
	}
	for (i = 0; symbols[i].name; i++) {
		void *symbol = dlsym(library, symbols[i].name);

		if (!symbol) {
			error_set(err, ERROR_FAILED, "%s has no '%s'", name,
				  symbols[i].name);
			goto out;
		}
		/* ISO C has no cast from object to function pointer.  Another
		 * thread may be calling through one that is there already. */
		if (memcmp(symbols[i].to, &symbol, sizeof(symbol)) != 0)
			memcpy(symbols[i].to, &symbol, sizeof(symbol));
	}
	ret = 0;
out:
	pthread_mutex_unlock(&lock);
	return ret;
}
