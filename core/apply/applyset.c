/* SPDX-License-Identifier: Apache-2.0 */
#include "core/apply/applyset.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/base/repository.h"
#include "core/base/text.h"

#define NAME_FILE_MAX 4096
#define GIT_FILE_MAX (1024 * 1024)

int applyset_check(const char *name, struct error *err)
{
	const char *p;

	for (p = name; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("._-/", *p))
			break;
	if (name[0] && !*p && strlen(name) <= APPLYSET_MAX)
		return 0;
	return error_set(err, ERROR_USAGE,
			 "'%.*s' can't be the name of a set: it takes up to %d "
			 "letters, digits, '.', '_', '-' and '/'",
			 APPLYSET_MAX, name, APPLYSET_MAX);
}

/* 1: there is no such file. */
static int read_name(const char *directory, char **out, struct error *err)
{
	char *path = path_join(directory, APPLYSET_FILE);
	char *text = NULL;
	size_t len;
	int ret = 1;

	if (access(path, F_OK) < 0 && errno == ENOENT)
		goto out;
	ret = -1;
	text = file_read(path, NAME_FILE_MAX, &len, err);
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
	free(text);
	free(path);
	return ret;
}

/* A path and what the file system knows it by: another directory that comes
 * to stand there later is another one.  Returns new. */
static char *identify(const char *path)
{
	unsigned mask = STATX_INO | STATX_BTIME;
	struct statx at = { 0 };

	if (statx(AT_FDCWD, path, 0, mask, &at) < 0)
		return NULL;
	return mem_printf("%s#%llu.%lld.%u", path,
			  (unsigned long long)at.stx_ino,
			  (long long)at.stx_btime.tv_sec, at.stx_btime.tv_nsec);
}

/* ---- Git ------------------------------------------------------------- */

static void cut_end(char *text)
{
	size_t n = strlen(text);

	while (n && text[n - 1] == '/')
		text[--n] = '\0';
	if (text_ends(text, ".git") && n > 4 && text[n - 5] != '/')
		text[n -= 4] = '\0';
	while (n && text[n - 1] == '/')
		text[--n] = '\0';
}

char *applyset_remote(const char *url)
{
	const char *scheme = strstr(url, "://");
	const char *host = scheme ? scheme + 3 : url;
	size_t before = strcspn(host, scheme ? "/" : ":/");
	size_t host_len = before, i;
	const char *at, *path;
	char *out;

	/* git-clone(1): "host:path" has no slash before the first colon. */
	if (text_starts(url, "file://") || !host[before] ||
	    (!scheme && host[before] != ':'))
		return NULL;
	path = host + before + 1;
	for (at = host; at < host + before; at++)
		if (*at == '@') { /* the user is not part of it */
			host_len -= (size_t)(at + 1 - host);
			host = at + 1;
			before = host_len;
		}
	if (memchr(host, ':', host_len))
		host_len = (size_t)((const char *)memchr(host, ':', host_len) -
				    host);
	while (*path == '/')
		path++;
	out = mem_printf("%.*s/%.*s", (int)host_len, host,
			 (int)strcspn(path, "?#"), path);
	for (i = 0; i < host_len; i++)
		out[i] = (char)tolower((unsigned char)out[i]);
	cut_end(out);
	return out;
}

/* "url = VALUE" of a line in the section: borrowed from it, or NULL. */
static char *url_of(char *line)
{
	char *value;
	size_t n;

	line += strspn(line, " \t");
	if (strncasecmp(line, "url", 3) != 0)
		return NULL;
	value = line + 3 + strspn(line + 3, " \t");
	if (*value++ != '=')
		return NULL;
	value += strspn(value, " \t");
	n = strlen(value);
	while (n && isspace((unsigned char)value[n - 1]))
		value[--n] = '\0';
	if (n > 1 && value[0] == '"' && value[n - 1] == '"') {
		value[n - 1] = '\0';
		value++;
	}
	return value;
}

/* The URL of `origin`.  Returns new, or NULL. */
static char *origin_of(const char *git)
{
	static const char section[] = "[remote \"origin\"]";
	char *path = path_join(git, "config");
	struct error ignored;
	size_t len;
	char *text = file_read(path, GIT_FILE_MAX, &len, &ignored);
	char *line, *rest = NULL, *url = NULL;
	bool inside = false;

	for (line = text ? strtok_r(text, "\n", &rest) : NULL; line && !url;
	     line = strtok_r(NULL, "\n", &rest)) {
		const char *start = line + strspn(line, " \t");

		if (start[0] == '[')
			inside = text_starts(start, section);
		else if (inside)
			url = url_of(line);
	}
	url = url && url[0] ? mem_strdup(url) : NULL;
	free(text);
	free(path);
	return url;
}

/* A remote that is a directory, as seen from the work tree. */
static char *identify_remote(const char *top, const char *url)
{
	char *path =
		path_join(top, text_starts(url, "file://") ? url + 7 : url);
	char *real = realpath(path, NULL);
	char *out = real ? identify(real) : NULL;

	free(real);
	free(path);
	return out;
}

/* `directory` is absolute.  Returns new, or NULL: it is in no work tree whose
 * remote is known. */
static char *git_name(const char *directory)
{
	char *top = mem_strdup(directory);
	struct repository repository = { 0 };
	char *url = NULL, *remote = NULL, *out = NULL;
	const char *below;
	char *slash;

	/* A home directory as well: its sets have always been named so. */
	while (!repository_at(top, &repository) && top[1]) {
		slash = strrchr(top, '/');
		slash[slash == top] = '\0';
	}
	if (repository.common)
		url = origin_of(repository.common);
	if (url) {
		remote = applyset_remote(url);
		if (!remote)
			remote = identify_remote(top, url);
	}
	if (remote) {
		below = directory + strlen(top);
		while (*below == '/')
			below++;
		out = mem_printf("git:%s//%s", remote, below);
	}
	free(remote);
	free(url);
	repository_done(&repository);
	free(top);
	return out;
}

/* ---- all of it ------------------------------------------------------- */

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
	name = git_name(real);
	if (!name) {
		own = identify(real);
		if (own)
			name = mem_printf("dir:%s", own);
		else
			error_errno(err, "cannot look at '%s'", directory);
		free(own);
	}
	free(real);
	return name;
}
