/* SPDX-License-Identifier: Apache-2.0 */
#include "core/run/install.h"

#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/base/library.h"
#include "core/run/process.h"

#define FILE_MAX ((size_t)1 << 30)
#define MAPS_MAX (4u << 20)
#define PROGRAM_NAME "jobrun"
#define LIBRARIES "jobrun-lib"

/* --argv0: what the program is called is the script, which is what others can
 * call, too. */
#define SCRIPT                                                                 \
	"#!/bin/sh\n"                                                          \
	"# Written by 'jobrun launch --install'.\n"                            \
	"lib=${0%%/*}/" LIBRARIES "\n"                                         \
	"exec \"$lib/%s\" --argv0 \"$0\" --library-path \"$lib\" "             \
	"\"$lib/" PROGRAM_NAME "\" \"$@\"\n"

struct install {
	const char *folder; /* of the libraries */
	char *maps;         /* what the kernel says of our memory */
	char *loader;       /* its file */
	char *loader_name;  /* what it is installed as */
	struct error *err;
};

/* The file that is mapped at an address; returns new, NULL for none.  By the
 * names that the loader knows another file may be found: it is told the usual
 * place of a loader that stands elsewhere. */
static char *file_at(const struct install *install, uintptr_t address)
{
	const char *line = install->maps;

	for (; *line; line += strcspn(line, "\n") + 1) {
		unsigned long from, to;
		const char *path = strchr(line, '/');
		size_t len = strcspn(line, "\n");

		if (sscanf(line, "%lx-%lx ", &from, &to) == 2 &&
		    address >= from && address < to)
			return path && path < line + len
				       ? mem_printf("%.*s",
						    (int)(line + len - path),
						    path)
				       : NULL;
		if (!line[len])
			break;
	}
	return NULL;
}

static int put(const char *folder, const char *name, const char *data,
	       size_t len, struct error *err)
{
	char *to = path_join(folder, name);
	int ret = file_write(to, data, len, err);

	if (ret == 0 && chmod(to, 0755) < 0)
		ret = error_errno(err, "cannot change the mode of '%s'", to);
	free(to);
	return ret;
}

static int copy(const struct install *install, const char *from,
		const char *name)
{
	size_t len;
	char *data = file_read(from, FILE_MAX, &len, install->err);
	int ret =
		data ? put(install->folder, name, data, len, install->err) : -1;

	free(data);
	return ret;
}

/* The program's own object comes first, and has no name. */
static int take_object(struct dl_phdr_info *object, size_t size, void *arg)
{
	struct install *install = arg;
	const char *name = *object->dlpi_name ? path_base(object->dlpi_name)
					      : PROGRAM_NAME;
	char *file = NULL;
	int ret = 0;

	(void)size;
	for (size_t i = 0; !file && i < object->dlpi_phnum; i++)
		if (object->dlpi_phdr[i].p_type == PT_LOAD)
			file = file_at(install,
				       object->dlpi_addr +
					       object->dlpi_phdr[i].p_vaddr);
	/* What the kernel maps for everyone has none. */
	if (file)
		ret = copy(install, file, name);
	if (file && !strcmp(file, install->loader)) {
		free(install->loader_name);
		install->loader_name = mem_strdup(name);
	}
	free(file);
	return ret;
}

/* Those of other packages are mapped with their own: all that is needed later
 * is there now. */
static int open_libraries(struct error *err)
{
	static const char *const names[] = { "libcrypto.so.3",
					     "libarchive.so.13",
					     "libcurl.so.4" };
	static const struct library_symbol none[] = { { NULL, NULL } };

	for (size_t i = 0; i < COUNT(names); i++)
		if (library_open(names[i], none, err) < 0)
			return error_prefix(err, "it is to be complete");
	return 0;
}

/* A loader that was called by name, with the program as its argument, is what
 * the kernel has started. */
static int find_loader(struct install *install)
{
	uintptr_t at = getauxval(AT_BASE);
	char self[PATH_MAX];

	process_self(self, sizeof(self));
	install->loader = at ? file_at(install, at) : mem_strdup(self);
	return install->loader ? 0
			       : error_set(install->err, ERROR_FAILED,
					   "cannot find this program's loader");
}

static int write_script(const struct install *install, const char *folder)
{
	char *text = mem_printf(SCRIPT, install->loader_name);
	int ret = put(folder, PROGRAM_NAME, text, strlen(text), install->err);

	free(text);
	return ret;
}

int program_install(const char *folder, struct error *err)
{
	char *libraries = path_join(folder, LIBRARIES);
	struct install install = { .folder = libraries, .err = err };
	size_t len;
	int ret = open_libraries(err);

	if (ret == 0)
		ret = folder_make_mode(libraries, 0755, err);
	if (ret == 0)
		install.maps =
			file_read("/proc/self/maps", MAPS_MAX, &len, err);
	if (!install.maps || find_loader(&install) < 0)
		ret = -1;
	if (ret == 0)
		ret = dl_iterate_phdr(take_object, &install);
	if (ret == 0 && !install.loader_name)
		ret = error_set(err, ERROR_FAILED,
				"this program has no loader of its own");
	/* Last: what has it is whole. */
	if (ret == 0)
		ret = write_script(&install, folder);
	free(install.loader_name);
	free(install.loader);
	free(install.maps);
	free(libraries);
	return ret < 0 ? error_prefix(err, "install in '%s'", folder) : 0;
}
