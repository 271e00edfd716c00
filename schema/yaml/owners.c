/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/yaml/owners.h"

#include <stdio.h>
#include <string.h>

#include "core/job/message.h"

static size_t owners(const struct message *from, const char *name,
		     const char *prefix, char (*out)[OWNER_SIZE], size_t n,
		     size_t max)
{
	const struct field *field;
	char path[OWNER_SIZE];
	int len;

	for (field = from->fields; field->name && n < max; field++) {
		if (!field->message || (field->flags & FIELD_OUTPUT))
			continue;
		len = snprintf(path, sizeof(path), "%s%s%s", prefix,
			       *prefix ? "." : "", field->name);
		if (len < 0 || (size_t)len >= sizeof(path))
			continue;
		if (message_field(field->message, name))
			memcpy(out[n++], path, sizeof(path));
		n = owners(field->message, name, path, out, n, max);
	}
	return n;
}

size_t message_owners(const struct message *from, const char *name,
		      char (*out)[OWNER_SIZE], size_t max)
{
	return owners(from, name, "", out, 0, max);
}
