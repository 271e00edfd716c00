/* SPDX-License-Identifier: Apache-2.0 */
#include "core/data/sample_key.h"

#include <string.h>
#include <strings.h>

#include "core/base/alloc.h"
#include "core/base/file.h"

bool sample_path_is_meta(const char *path)
{
	size_t len = strcspn(path, "/");

	return len >= 4 && !strncmp(path, "__", 2) &&
	       !strncmp(path + len - 2, "__", 2);
}

bool sample_path_is_reserved(const char *path)
{
	static const char *const names[] = { "__key__", "__url__",
					     "__local_path__" };
	const char *base = path_base(path);
	const char *dot = base + strcspn(base, ".");
	size_t i;

	for (i = 0; *dot && i < COUNT(names); i++)
		if (!strcasecmp(dot + 1, names[i]))
			return true;
	return false;
}

size_t sample_key_len(const char *path)
{
	const char *base = path_base(path);
	size_t len = strcspn(base, ".");

	if (!len || !base[len] || sample_path_is_meta(path) ||
	    sample_path_is_reserved(path))
		return 0;
	return (size_t)(base - path) + len;
}
