/* SPDX-License-Identifier: Apache-2.0 */
#include "core/spec/install.h"

#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/base/library.h"
#include "core/base/start.h"
#include "core/net/certificates.h"
#include "core/spec/install_start.h"

#define FILE_MAX ((size_t)1 << 30)
#define MAPS_MAX (4u << 20)

struct install {
	const char *folder; /* where the libraries are */
	char *maps;         /* /proc/self/maps */
	char *loader;       /* path of the loader */
	bool has_loader;
	struct error *err;
};

/* Returns the path of the file mapped at an address as a new string, or NULL.
 * The loader's own names may denote other files: they give its usual place even
 * if it was started from elsewhere. */
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
	       size_t len, mode_t mode, struct error *err)
{
	char *to = path_join(folder, name);
	int ret = file_write(to, data, len, err);

	if (ret == 0 && chmod(to, mode) < 0)
		ret = error_errno(err, "cannot change the mode of '%s'", to);
	free(to);
	return ret;
}

static int copy(const struct install *install, const char *from,
		const char *name, mode_t mode)
{
	size_t len;
	char *data = file_read(from, FILE_MAX, &len, install->err);
	int ret =
		data ? put(install->folder, name, data, len, mode, install->err)
		     : -1;

	free(data);
	return ret;
}

/* Copies one loaded object.  The program comes first and has no name. */
static int take_object(struct dl_phdr_info *object, size_t size, void *arg)
{
	struct install *install = arg;
	const char *name = *object->dlpi_name ? path_base(object->dlpi_name)
					      : START_PROGRAM;
	char *file = NULL;
	int ret = 0;

	(void)size;
	for (size_t i = 0; !file && i < object->dlpi_phnum; i++)
		if (object->dlpi_phdr[i].p_type == PT_LOAD)
			file = file_at(install,
				       object->dlpi_addr +
					       object->dlpi_phdr[i].p_vaddr);
	/* Only the vDSO, which the kernel maps into every process, has no
	 * file. */
	if (file && !strcmp(file, install->loader)) {
		name = START_LOADER;
		install->has_loader = true;
	}
	if (file)
		ret = copy(install, file, name, 0755);
	free(file);
	return ret;
}

/* Loads the libraries that are needed later, so that they and their own
 * dependencies are mapped. */
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

/* Finds the loader.  If it was called by name, with the program as its
 * argument, it is the executable that the kernel started. */
static int find_loader(struct install *install)
{
	uintptr_t at = getauxval(AT_BASE);
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self));

	if (at)
		install->loader = file_at(install, at);
	else if (len > 0)
		install->loader = mem_printf("%.*s", (int)len, self);
	return install->loader ? 0
			       : error_set(install->err, ERROR_FAILED,
					   "cannot find this program's loader");
}

/* Copies the certificates.  Without any, those in the image of the container
 * must do. */
static int take_certificates(const struct install *install)
{
	char *file = NULL;
	int ret = certificates_find(&file, install->err);

	if (file)
		ret = copy(install, file, START_CERTIFICATES, 0644);
	free(file);
	return ret;
}

static int put_start(const char *folder, struct error *err)
{
	size_t size;
	const char *program = install_start_program(&size);

	return put(folder, START_PROGRAM, program, size, 0755, err);
}

/* A static program needs nothing beside it, and no loader that another jobrun
 * has left there. */
static int take_static(const struct install *install)
{
	char *loader = path_join(install->folder, START_LOADER);

	unlink(loader);
	free(loader);
	return copy(install, "/proc/self/exe", START_PROGRAM, 0755);
}

/* Copies this program with its loader and its libraries. */
static int take_objects(struct install *install)
{
	size_t len;
	int ret;

	if (open_libraries(install->err) < 0)
		return -1;
	install->maps =
		file_read("/proc/self/maps", MAPS_MAX, &len, install->err);
	if (!install->maps || find_loader(install) < 0)
		return -1;
	ret = dl_iterate_phdr(take_object, install);
	if (ret == 0 && !install->has_loader)
		ret = error_set(install->err, ERROR_FAILED,
				"this program has no loader of its own");
	return ret;
}

int program_install(const char *folder, struct error *err)
{
	char *libraries = path_join(folder, START_LIBRARIES);
	struct install install = { .folder = libraries, .err = err };
	int ret = folder_make_mode(libraries, 0755, err);

	if (ret == 0)
		ret = library_is_static() ? take_static(&install)
					  : take_objects(&install);
	if (ret == 0)
		ret = take_certificates(&install);
	/* This comes last, so a folder that has it is complete. */
	if (ret == 0)
		ret = put_start(folder, err);
	free(install.loader);
	free(install.maps);
	free(libraries);
	return ret < 0 ? error_prefix(err, "install in '%s'", folder) : 0;
}
