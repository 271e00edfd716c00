/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/google/base/gcloud.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/file.h"

#define FILE_SIZE_MAX 65536

char *gcloud_path(const char *name)
{
	const char *folder = getenv("CLOUDSDK_CONFIG");
	const char *home = getenv("HOME");

	if (folder && *folder)
		return path_join(folder, name);
	return home && *home ? mem_printf("%s/.config/gcloud/%s", home, name)
			     : NULL;
}

/* Removes white space at both ends, in place. */
static char *trim(char *text)
{
	size_t len;

	text += strspn(text, " \t\r\n");
	len = strlen(text);
	while (len && strchr(" \t\r\n", text[len - 1]))
		text[--len] = '\0';
	return text;
}

/* Returns the contents of the file in `mem`; NULL if there is none, and then
 * nothing is set. */
static char *read_quietly(const char *name, struct arena *mem)
{
	char *path = gcloud_path(name), *text = NULL, *out = NULL;
	struct error err;
	size_t len;

	if (path)
		text = file_read(path, FILE_SIZE_MAX, &len, &err);
	if (text)
		out = arena_strdup(mem, text);
	free(text);
	free(path);
	return out;
}

static const char *active_configuration(struct arena *mem)
{
	const char *name = getenv("CLOUDSDK_ACTIVE_CONFIG_NAME");
	char *text;

	if (name && *name)
		return name;
	text = read_quietly("active_config", mem);
	text = text ? trim(text) : NULL;
	return text && *text ? text : "default";
}

/* Finds a value in the syntax of Python's configparser, as far as gcloud uses
 * it: sections, "key = value", comments on lines of their own. */
static const char *find_value(char *text, const char *section, const char *key)
{
	bool inside = false;
	char *line, *rest = NULL;

	for (line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		char *equals;
		size_t len;

		line = trim(line);
		len = strlen(line);
		if (line[0] == '#' || line[0] == ';')
			continue;
		if (line[0] == '[' && line[len - 1] == ']') {
			inside = strlen(section) == len - 2 &&
				 !strncmp(line + 1, section, len - 2);
			continue;
		}
		equals = line + strcspn(line, "=:");
		if (!inside || !*equals)
			continue;
		*equals = '\0';
		if (!strcasecmp(trim(line), key))
			return trim(equals + 1);
	}
	return NULL;
}

const char *gcloud_property(const char *section, const char *key,
			    struct arena *mem, const char **source)
{
	char *variable = arena_printf(mem, "CLOUDSDK_%s_%s", section, key);
	const char *value, *configuration;
	char *text, *file, *p;

	for (p = variable; *p; p++)
		*p = (char)toupper((unsigned char)*p);
	value = getenv(variable);
	if (value && *value) {
		if (source)
			*source = variable;
		return arena_strdup(mem, value);
	}
	configuration = active_configuration(mem);
	if (!strcmp(configuration, "NONE") || strchr(configuration, '/'))
		return NULL;
	file = arena_printf(mem, "configurations/config_%s", configuration);
	text = read_quietly(file, mem);
	value = text ? find_value(text, section, key) : NULL;
	if (!value || !*value)
		return NULL;
	if (source)
		*source = arena_printf(mem, "gcloud's configuration '%s'",
				       configuration);
	return value;
}
