/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/google/base/permission.h"

#include <ctype.h>
#include <string.h>

#include "core/base/alloc.h"

/* The services whose permissions are called after their collections; the TPU
 * service's are in lower case. */
static const struct {
	enum google_service service;
	const char *prefix;
	bool lower;
} services[] = {
	{ SERVICE_AIPLATFORM, "aiplatform", false },
	{ SERVICE_ML, "ml", false },
	{ SERVICE_TPU, "tpu", true },
	{ SERVICE_COMPUTE, "compute", false },
	{ SERVICE_RESOURCEMANAGER, "resourcemanager", false },
};

static const struct {
	const char *method;
	const char *of_one, *of_all;
} verbs[] = {
	{ "GET", "get", "list" },
	{ "POST", "update", "create" },
	{ "PATCH", "update", "update" },
	{ "DELETE", "delete", "delete" },
};

static const char *verb_of(const char *method, bool of_one)
{
	size_t i;

	for (i = 0; i < COUNT(verbs); i++)
		if (!strcmp(verbs[i].method, method))
			return of_one ? verbs[i].of_one : verbs[i].of_all;
	return NULL;
}

/* Whether names follow the part: "projects/NAME/jobs/NAME". */
static bool is_collection(const char *part, size_t len)
{
	return len > 1 && islower((unsigned char)part[0]) &&
	       part[len - 1] == 's';
}

/* Finds the last collection of the path, and whether one of its members is
 * meant. */
static const char *find_collection(const char *path, size_t *len, bool *of_one)
{
	const char *out = NULL, *part = path;

	while (*part) {
		size_t n = strcspn(part, "/:");

		if (out && part == out + *len + 1 && part[-1] == '/') {
			*of_one = true;
		} else if (is_collection(part, n)) {
			out = part;
			*len = n;
			*of_one = false;
		}
		if (!part[n] || part[n] == ':')
			break;
		part += n + 1;
	}
	return out;
}

bool permission_add(enum google_service service, const char *method,
		    const char *path, struct buf *out)
{
	const char *colon = strrchr(path, ':');
	const char *collection, *verb;
	bool of_one = false;
	size_t len = 0, i = 0, j;

	while (i < COUNT(services) && services[i].service != service)
		i++;
	collection = find_collection(path, &len, &of_one);
	verb = colon ? colon + 1 : verb_of(method, of_one);
	if (i == COUNT(services) || !collection || !verb)
		return false;
	buf_printf(out, "%s.", services[i].prefix);
	for (j = 0; j < len; j++)
		buf_putc(out,
			 (char)(services[i].lower
					? tolower((unsigned char)collection[j])
					: collection[j]));
	buf_printf(out, ".%s", verb);
	return true;
}
