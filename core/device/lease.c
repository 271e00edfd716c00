/* SPDX-License-Identifier: Apache-2.0 */
#include "core/device/lease.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"

#define SHARED "/run/lock/jobrun"
#define FOLDER_VARIABLE "JOBRUN_LOCK_DIR"
#define LEASES "devices"
#define FOR_ALL (S_ISVTX | 0777)
#define OPEN_TRIES 10

int lease_open_folder(const char *path, struct error *err)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? error_errno(err, "cannot open '%s'", path) : fd;
}

static int check_shared(const char *path, struct error *err)
{
	int fd = lease_open_folder(path, err), ret = 0;

	if (fd < 0)
		return -1;
	if (faccessat(fd, ".", W_OK | X_OK, AT_EACCESS) < 0)
		ret = error_errno(err, "cannot write to '%s'", path);
	close(fd);
	return ret;
}

/* Every user can create files in it, and remove only their own. */
static int make_shared(const char *path, struct error *err)
{
	mode_t old = umask(0);
	bool made = mkdir(path, FOR_ALL) == 0;
	int why = errno;

	umask(old);
	errno = why;
	if (!made && errno != EEXIST)
		return error_errno(err, "cannot create '%s'", path);
	return check_shared(path, err);
}

static bool in_container(void)
{
	return access("/.dockerenv", F_OK) == 0 ||
	       access("/run/.containerenv", F_OK) == 0;
}

/* Whether a folder is a mount point, maybe of the machine's folder. */
static bool is_mount(const char *path)
{
	char *above = path_join(path, "..");
	struct stat one, two;
	bool out = stat(path, &one) == 0 && stat(above, &two) == 0 &&
		   one.st_dev != two.st_dev;

	free(above);
	return out;
}

const char *lease_folder_shared(void)
{
	const char *said = getenv(FOLDER_VARIABLE);

	return said && *said == '/' ? said : SHARED;
}

/* A store may be shared by machines whose GPUs have the same names. */
static const char *own_folder(const char *fallback, struct arena *mem)
{
	char host[256] = "";

	if (gethostname(host, sizeof(host) - 1) < 0)
		host[0] = '\0';
	return arena_printf(mem, "%s/lock-%s", fallback, host);
}

static const char *note_own(const struct error *why, struct arena *mem)
{
	return arena_printf(mem,
			    "%s: only your own runs share this machine's GPUs "
			    "out among themselves",
			    why->text);
}

static const char *note_container(void)
{
	return in_container() && !is_mount(SHARED)
		       ? "this container shares no " SHARED
			 " with its machine: only runs in it share its GPUs "
			 "out among themselves"
		       : NULL;
}

int lease_folder(const char *fallback, struct arena *mem, const char **folder,
		 const char **note, struct error *err)
{
	const char *said = getenv(FOLDER_VARIABLE);
	bool given = said && *said == '/';
	struct error why;

	*note = NULL;
	*folder = given ? arena_strdup(mem, said) : SHARED;
	if (make_shared(*folder, given ? err : &why) == 0) {
		if (!given)
			*note = note_container();
		return 0;
	}
	if (given)
		return -1;
	*folder = own_folder(fallback, mem);
	*note = note_own(&why, mem);
	return folder_make(*folder, err);
}

const char *lease_folder_seen(const char *fallback, struct arena *mem,
			      const char **note)
{
	const char *shared = lease_folder_shared();
	bool given = strcmp(shared, SHARED) != 0;
	struct error why;
	const char *own;

	*note = NULL;
	if (check_shared(shared, &why) == 0 || given) {
		if (!given)
			*note = note_container();
		return shared;
	}
	own = own_folder(fallback, mem);
	if (access(own, F_OK) < 0)
		return shared;
	*note = note_own(&why, mem);
	return own;
}

/* With O_CREAT the kernel refuses another user's file in such a folder
 * (fs.protected_regular). */
static int open_or_make(int folder, struct error *err)
{
	int i, fd;

	for (i = 0; i < OPEN_TRIES; i++) {
		fd = openat(folder, LEASES, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
		if (fd >= 0 || errno != ENOENT)
			break;
		fd = openat(folder, LEASES,
			    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    0666);
		if (fd >= 0)
			fchmod(fd, 0666);
		if (fd >= 0 || errno != EEXIST)
			break;
	}
	return fd < 0 ? error_errno(err, "cannot open '%s'", LEASES) : fd;
}

int lease_open(const char *path, struct error *err)
{
	int folder = lease_open_folder(path, err), fd = -1;
	struct stat st;

	if (folder < 0)
		return -1;
	fd = open_or_make(folder, err);
	close(folder);
	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		return error_set(err, ERROR_FAILED,
				 "'%s/%s' is not a regular file", path, LEASES);
	}
	if (fd < 0)
		error_prefix(err, "'%s'", path);
	return fd;
}

const char *lease_name(const struct device *device, struct arena *mem)
{
	if (device->slice && device->uuid)
		return device->uuid;
	if (device->bus)
		return device->bus;
	if (device->uuid)
		return device->uuid;
	return arena_printf(mem, "%s-%d", device->vendor, device->index);
}

/* The byte of a device: the FNV-1a hash of its name, limited to the range of an
 * offset. */
static struct flock byte_of(const char *name, short type)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
	return (struct flock){ .l_type = type,
			       .l_whence = SEEK_SET,
			       .l_start = (off_t)(hash >> 2),
			       .l_len = 1 };
}

bool lease_take(int fd, const char *name)
{
	struct flock byte = byte_of(name, F_WRLCK);

	return fcntl(fd, F_OFD_SETLK, &byte) == 0;
}

void lease_drop_all(int fd)
{
	struct flock all = { .l_type = F_UNLCK, .l_whence = SEEK_SET };

	fcntl(fd, F_OFD_SETLK, &all);
}

bool lease_is_taken(int fd, const char *name)
{
	struct flock byte = byte_of(name, F_WRLCK);

	return fcntl(fd, F_OFD_GETLK, &byte) < 0 || byte.l_type != F_UNLCK;
}
