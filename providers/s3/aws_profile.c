/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/s3/aws_profile.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/base/text.h"

#define FILE_MAX (1u << 20)

const char *aws_variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

const char *aws_profile_name(void)
{
	const char *name = aws_variable("AWS_PROFILE");

	if (!name)
		name = aws_variable("AWS_DEFAULT_PROFILE");
	return name ? name : "default";
}

/* Removes white space at both ends, in place. */
static char *trim(char *text)
{
	size_t len;

	text += strspn(text, " \t\r");
	len = strlen(text);
	while (len && isspace((unsigned char)text[len - 1]))
		text[--len] = '\0';
	return text;
}

/* Whether a line is the head of the profile's section: "[NAME]", or
 * "[profile NAME]". */
static bool is_head(char *line, const char *profile)
{
	char *end = strchr(line, ']');

	if (*line != '[' || !end)
		return false;
	*end = '\0';
	line = trim(line + 1);
	if (text_starts(line, "profile ") || text_starts(line, "profile\t"))
		line = trim(line + strlen("profile "));
	return !strcmp(line, profile);
}

/* Finds a setting of the profile in the text of a file, which it changes. */
static char *find(char *text, const char *profile, const char *setting)
{
	char *rest = NULL, *line, *equals;
	bool inside = false;

	for (line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		/* Lines that are indented belong to the setting above. */
		if (strchr("#; \t", *line))
			continue;
		equals = strchr(line, '=');
		if (*line == '[') {
			inside = is_head(line, profile);
		} else if (inside && equals) {
			*equals = '\0';
			if (!strcmp(trim(line), setting))
				return mem_strdup(trim(equals + 1));
		}
	}
	return NULL;
}

static char *look_in(const char *variable, const char *usual,
		     const char *setting)
{
	const char *named = aws_variable(variable);
	char *path = path_at_home(named ? named : usual);
	struct error ignored;
	char *text, *value = NULL;
	size_t len;

	if (!path && named)
		path = mem_strdup(named);
	text = path ? file_read(path, FILE_MAX, &len, &ignored) : NULL;
	if (text) {
		value = find(text, aws_profile_name(), setting);
		explicit_bzero(text, len);
	}
	free(text);
	free(path);
	if (value && !*value) {
		free(value);
		value = NULL;
	}
	return value;
}

char *aws_profile_get(const char *setting)
{
	char *value = look_in("AWS_SHARED_CREDENTIALS_FILE",
			      "~/.aws/credentials", setting);

	return value ? value
		     : look_in("AWS_CONFIG_FILE", "~/.aws/config", setting);
}

char *aws_region(void)
{
	const char *named = aws_variable("AWS_REGION");
	char *value;

	if (!named)
		named = aws_variable("AWS_DEFAULT_REGION");
	if (named)
		return mem_strdup(named);
	value = aws_profile_get("region");
	return value ? value : mem_strdup("us-east-1");
}

char *aws_endpoint(const char *service)
{
	char *name = mem_printf("AWS_ENDPOINT_URL_%s", service);
	const char *named = aws_variable(name);
	char *value;
	size_t len;

	free(name);
	if (!named)
		named = aws_variable("AWS_ENDPOINT_URL");
	value = named ? mem_strdup(named) : aws_profile_get("endpoint_url");
	len = value ? strlen(value) : 0;
	while (len && value[len - 1] == '/')
		value[--len] = '\0';
	return value;
}
