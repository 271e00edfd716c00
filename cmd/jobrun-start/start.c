/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program that 'jobrun launch --install DIR' writes to DIR/jobrun: it
 * starts the jobrun in DIR/jobrun-lib with the loader and the libraries there.
 * An image may have no shell, and another libc or none, so this program is
 * static and does nothing else.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "core/base/start.h"

/* The status of env(1) when it cannot run a program. */
#define STATUS_CANNOT_RUN 126

/* The number of the loader's own arguments. */
#define BEFORE 6

static int fail(const char *what, const char *why)
{
	fprintf(stderr, "jobrun: error: cannot start '%s': %s\n", what, why);
	return STATUS_CANNOT_RUN;
}

/* Finds DIR, wherever it is now; links to this program are followed. */
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

/* Hides LD_PRELOAD from the loader: see start.h.  The array is ours to
 * change. */
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
	/* Options are used instead of variables, which jobrun's children would
	 * inherit.  argv[0] stays the name of this program, which others can
	 * call, too. */
	args[0] = loader;
	args[1] = (char *)"--argv0";
	args[2] = argv[0];
	args[3] = (char *)"--library-path";
	args[4] = libraries;
	args[5] = program;
	memcpy(args + BEFORE, argv + 1, (size_t)argc * sizeof(*args));
	execve(loader, args, envp);
	/* A static jobrun has no loader beside it. */
	if (errno == ENOENT) {
		args[BEFORE - 1] = argv[0];
		execve(program, args + BEFORE - 1, envp);
	}
	return fail(loader, strerror(errno));
}
