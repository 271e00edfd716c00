/* SPDX-License-Identifier: Apache-2.0 */
#include "core/apply/applyset.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/beneath.h"
#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/job/origin.h"

#define NAME_FILE_MAX 4096

int applyset_check(const char *name, struct error *err)
{
	const char *p;

	for (p = name; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("._-/", *p))
			break;
	if (name[0] && !*p && strlen(name) <= APPLYSET_MAX)
		return 0;
	return error_set(err, ERROR_USAGE,
			 "'%.*s' can't be the name of a set: use up to %d "
			 "letters, digits, '.', '_', '-' and '/'",
			 APPLYSET_MAX, name, APPLYSET_MAX);
}

/* Reads the name of the set; returns 1 if there is no such file. */
static int read_name(const char *directory, char **out, struct error *err)
{
	char *path = path_join(directory, APPLYSET_FILE);
	char *text = NULL, *real = NULL;
	struct stat st = { 0 };
	size_t len;
	int ret = 1;

	if (lstat(path, &st) < 0 && errno == ENOENT)
		goto out;
	ret = -1;
	/* Through a link the error message could show a line of any file. */
	if (S_ISLNK(st.st_mode)) {
		error_set(err, ERROR_INVALID,
			  "'%s' is a link: put the name of the set into the "
			  "file itself",
			  path);
		goto out;
	}
	real = realpath(directory, NULL);
	text = beneath_read(real, path, NAME_FILE_MAX, &len, err);
	if (!text)
		goto out;
	while (len && isspace((unsigned char)text[len - 1]))
		text[--len] = '\0';
	ret = applyset_check(text, err);
	if (ret < 0) {
		error_prefix(err, "'%s'", path);
		err->code = ERROR_INVALID;
	} else {
		*out = mem_strdup(text);
	}
out:
	free(real);
	free(text);
	free(path);
	return ret;
}

char *applyset_of(const char *directory, struct error *err)
{
	char *name = NULL;
	char *real, *own;
	int found = read_name(directory, &name, err);

	if (found <= 0)
		return name;
	real = realpath(directory, NULL);
	if (!real) {
		error_errno(err, "cannot open '%s'", directory);
		return NULL;
	}
	name = origin_by_remote(real);
	if (!name) {
		own = origin_identify(real);
		if (own)
			name = mem_printf("dir:%s", own);
		else
			error_errno(err, "cannot look at '%s'", directory);
		free(own);
	}
	free(real);
	return name;
}
