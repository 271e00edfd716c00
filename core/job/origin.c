/* SPDX-License-Identifier: Apache-2.0 */
#include "core/job/origin.h"

#include <ctype.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/digest.h"
#include "core/base/file.h"
#include "core/base/repository.h"
#include "core/base/text.h"

#define GIT_FILE_MAX (1024 * 1024)
#define LABEL_DIGITS 12

char *origin_identify(const char *path)
{
	unsigned mask = STATX_INO | STATX_BTIME;
	struct statx at = { 0 };

	/* Not every C library has this call. */
	if (syscall(SYS_statx, AT_FDCWD, path, 0, mask, &at) < 0)
		return NULL;
	return mem_printf("%s#%llu.%lld.%u", path,
			  (unsigned long long)at.stx_ino,
			  (long long)at.stx_btime.tv_sec, at.stx_btime.tv_nsec);
}

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

char *origin_remote(const char *url)
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

/* The value of a line "url = VALUE": borrowed from it, or NULL. */
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

/* The URL of the remote `origin`.  Returns new, or NULL. */
static char *url_of_origin(const char *git)
{
	static const char section[] = "[remote \"origin\"]";
	size_t len;
	char *text = repository_read(git, "config", GIT_FILE_MAX, &len);
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
	return url;
}

/* The identity of a remote that is a directory, relative to the work tree. */
static char *identify_remote(const char *top, const char *url)
{
	char *path =
		path_join(top, text_starts(url, "file://") ? url + 7 : url);
	char *real = realpath(path, NULL);
	char *out = real ? origin_identify(real) : NULL;

	free(real);
	free(path);
	return out;
}

char *origin_by_remote(const char *folder)
{
	char *top = mem_strdup(folder);
	struct repository repository = { 0 };
	char *url = NULL, *remote = NULL, *out = NULL;
	const char *below;
	char *slash;

	/* Accepts a home directory as well: its sets have always been named
	 * like this. */
	while (!repository_at(top, &repository) && top[1]) {
		slash = strrchr(top, '/');
		slash[slash == top] = '\0';
	}
	if (repository.common)
		url = url_of_origin(repository.common);
	if (url) {
		remote = origin_remote(url);
		if (!remote)
			remote = identify_remote(top, url);
	}
	if (remote) {
		below = folder + strlen(top);
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

/* ---- a repository without a remote --------------------------------------- */

/* The first commit of a repository, from its reflog: "NONE COMMIT NAME <MAIL>
 * TIME ZONE\tcommit (initial): ..."  Returns new, or NULL. */
static char *first_commit(const char *common)
{
	static const char none[] = "0000000000000000000000000000000000000000";
	size_t len, n;
	char *text = repository_read(common, "logs/HEAD", GIT_FILE_MAX, &len);
	char *out = NULL, *commit;

	if (text && text_starts(text, none)) {
		commit = text + strspn(text, "0");
		commit += *commit == ' ';
		n = strspn(commit, "0123456789abcdef");
		if (n >= sizeof(none) - 1 && commit[n] == ' ' &&
		    memmem(commit, strcspn(commit, "\n"), "(initial)", 9))
			out = mem_printf("%.*s", (int)n, commit);
	}
	free(text);
	return out;
}

static char *by_first_commit(const char *folder)
{
	struct repository repository;
	char *commit, *out = NULL;
	const char *below;

	if (!repository_find(folder, &repository))
		return NULL;
	commit = first_commit(repository.common);
	below = folder + strlen(repository.top);
	if (commit)
		out = mem_printf("git:%s//%s", commit, below + (*below == '/'));
	free(commit);
	repository_done(&repository);
	return out;
}

/* ---- all of it ------------------------------------------------------------ */

/* Rarely needed: replaces the end of a long text by a digest. */
static char *shorten(char *text)
{
	struct digest digest;
	char *out;

	if (!text || strlen(text) < ORIGIN_MAX)
		return text;
	digest_bytes(text, strlen(text), &digest);
	out = mem_printf("%.*s#%.16s", ORIGIN_MAX - 20, text, digest.hex);
	free(text);
	return out;
}

char *origin_of(const char *folder)
{
	char *real = realpath(folder, NULL);
	struct repository repository;
	char *out = NULL;

	if (!real)
		return NULL;
	if (repository_find(real, &repository)) {
		repository_done(&repository);
		out = origin_by_remote(real);
		if (!out)
			out = by_first_commit(real);
	}
	if (!out)
		out = mem_printf("dir:%s", real);
	free(real);
	return shorten(out);
}

char *origin_folder_name(const char *folder)
{
	char *real = realpath(folder, NULL);
	struct repository repository;
	char *remote = NULL, *out;
	size_t len;

	if (real && repository_find(real, &repository)) {
		remote = origin_by_remote(real);
		repository_done(&repository);
	}
	/* "git:github.com/ORG/REPO//": the file is at the top. */
	len = remote ? strlen(remote) : 0;
	if (len > 2 && !strcmp(remote + len - 2, "//")) {
		remote[strcspn(remote, "#")] = '\0';
		len = strlen(remote);
		while (len && remote[len - 1] == '/')
			remote[--len] = '\0';
		out = mem_strdup(path_base(remote));
	} else {
		out = mem_strdup(real ? path_base(real) : "");
	}
	free(remote);
	free(real);
	return out;
}

void origin_label(const char *origin, char out[ORIGIN_LABEL_MAX])
{
	size_t n = 0, len = strlen(origin);
	size_t room = ORIGIN_LABEL_MAX - 2 - LABEL_DIGITS;
	struct digest digest = { .hex = "" };
	/* keep its end, which tells more */
	size_t i = len > room ? len - room : 0;

	for (; origin[i]; i++) {
		char c = (char)tolower((unsigned char)origin[i]);

		out[n++] = isalnum((unsigned char)c) ? c : '_';
	}
	digest_bytes(origin, len, &digest);
	snprintf(out + n, ORIGIN_LABEL_MAX - n, "-%.*s", LABEL_DIGITS,
		 digest.hex);
}

/* `label` may be the label of `origin`. */
static bool is_label_of(const char *label, const char *origin)
{
	char own[ORIGIN_LABEL_MAX];

	origin_label(origin, own);
	return !strcmp(label, own);
}

bool origin_is_same(const char *a, const char *b)
{
	if (!a || !*a || !b || !*b)
		return true;
	return !strcmp(a, b) || is_label_of(a, b) || is_label_of(b, a);
}
