/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What 'jobrun launch --install DIR' puts there as DIR/jobrun: it starts the
 * jobrun of DIR/jobrun-lib with the loader and the libraries that stand beside
 * that one.  An image may have no shell, another libc or none, so this program
 * is static, and does nothing else.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "core/base/start.h"

/* As env(1) ends when it cannot run a program. */
#define STATUS_CANNOT_RUN 126

/* The loader's own arguments. */
#define BEFORE 6

static int fail(const char *what, const char *why)
{
	fprintf(stderr, "jobrun: error: cannot start '%s': %s\n", what, why);
	return STATUS_CANNOT_RUN;
}

/* DIR, wherever that is by now; links to this program are followed. */
static int find_folder(char out[PATH_MAX])
{
	ssize_t len = readlink("/proc/self/exe", out, PATH_MAX - 1);
	const char *called = (const char *)getauxval(AT_EXECFN);
	char *slash;

	if (len > 0)
		out[len] = '\0';
	else if (!called || snprintf(out, PATH_MAX, "%s", called) >= PATH_MAX)
		return -1;
	slash = strrchr(out, '/');
	if (!slash)
		return -1;
	*slash = '\0';
	return 0;
}

/* See start.h.  The array is ours to change. */
static int keep_preload(char **envp)
{
	static const char name[] = START_PRELOAD_LOADER "=";
	size_t len = sizeof(name) - 1;

	for (; *envp; envp++) {
		char *kept;

		if (strncmp(*envp, name, len) != 0)
			continue;
		if (asprintf(&kept, START_PRELOAD_KEPT "=%s", *envp + len) < 0)
			return -1;
		*envp = kept;
	}
	return 0;
}

int main(int argc, char **argv, char **envp)
{
	char folder[PATH_MAX], libraries[PATH_MAX + sizeof(START_LIBRARIES)];
	char loader[sizeof(libraries) + sizeof(START_LOADER)];
	char program[sizeof(libraries) + sizeof(START_PROGRAM)];
	char **args;

	if (argc < 1 || find_folder(folder) < 0)
		return fail(START_PROGRAM, "it is not known where it is");
	snprintf(libraries, sizeof(libraries), "%s/" START_LIBRARIES, folder);
	snprintf(loader, sizeof(loader), "%s/" START_LOADER, libraries);
	snprintf(program, sizeof(program), "%s/" START_PROGRAM, libraries);
	args = calloc((size_t)argc + BEFORE, sizeof(*args));
	if (!args || keep_preload(envp) < 0)
		return fail(program, strerror(errno));
	/* No variable may do what these do: what jobrun starts would have it.
	 * What it is called is this program, which others can call, too. */
	args[0] = loader;
	args[1] = (char *)"--argv0";
	args[2] = argv[0];
	args[3] = (char *)"--library-path";
	args[4] = libraries;
	args[5] = program;
	memcpy(args + BEFORE, argv + 1, (size_t)argc * sizeof(*args));
	execve(loader, args, envp);
	return fail(loader, strerror(errno));
}
