/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens large libraries when they are first used.  Linking libcrypto,
 * libarchive and libcurl costs eight milliseconds at every start (relocation of
 * some forty shared objects), more than `validate` takes altogether.  The
 * functions keep the types of the library's own headers:
 *
 *	static struct {
 *		__typeof__(&EVP_sha256) sha256;
 *	} api;
 *	static const struct library_symbol symbols[] = {
 *		{ "EVP_sha256", &api.sha256 },
 *		{ NULL, NULL },
 *	};
 *	if (library_open("libcrypto.so.3", symbols, err) < 0) ...
 */
#ifndef JOBRUN_LIBRARY_H
#define JOBRUN_LIBRARY_H

#include <stdbool.h>

#include "core/base/error.h"

/* The symbols that a static program has linked in instead, up to the row with
 * no name.  packaging/static writes the table; other programs have none. */
struct library_linked {
	const char *name;
	const void *symbol;
};
extern const struct library_linked library_linked[] __attribute__((weak));

/* Whether this program has its libraries linked in, and can open none. */
bool library_is_static(void);

struct library_symbol {
	const char *name;
	void *to; /* a pointer to a function pointer */
};

/*
 * Opens a library for the life of the process and fills in the symbols, up to
 * the row with no name; or takes those that are linked in.  Thread-safe, and may
 * be called again.
 */
int library_open(const char *name, const struct library_symbol *symbols,
		 struct error *err);

#endif
