/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded into a program (LD_PRELOAD), makes one call of the system fail:
 *
 *	FAULT_CALL	malloc, write, fsync, rename, open or fork
 *	FAULT_NTH	which one fails, from 1; 0: none.  With open all that
 *			follow fail too: descriptors do not come back
 *	FAULT_ROLE	only in jobrun processes of this subcommand; their
 *			tasks and other programs are left alone
 *	FAULT_COUNT	a file, which gets a byte for each call when the
 *			process exits, and "!" when one has failed
 *
 * Each process counts for itself; a child by fork goes on counting.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static const char *call;
static long nth, count;
static bool here;

/* By system calls: what is interposed here would count itself. */
static void report(const char *text)
{
	const char *path = getenv("FAULT_COUNT");
	long fd = path ? syscall(SYS_openat, AT_FDCWD, path,
				 O_WRONLY | O_CREAT | O_APPEND, 0600)
		       : -1;

	if (fd < 0)
		return;
	syscall(SYS_write, fd, text, strlen(text));
	syscall(SYS_close, fd);
}

static bool fails(const char *name, int why)
{
	long at;

	if (!here || strcmp(name, call) != 0)
		return false;
	at = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
	if (!nth || at < nth || (at > nth && why != EMFILE))
		return false;
	if (at == nth)
		report("!\n");
	errno = why;
	return true;
}

__attribute__((constructor)) static void begin(void)
{
	const char *role = getenv("FAULT_ROLE"), *number = getenv("FAULT_NTH");
	char text[4096] = "";
	long fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/cmdline", O_RDONLY);
	long n = syscall(SYS_read, fd, text, sizeof(text) - 1);
	const char *second = text + strlen(text) + 1;

	syscall(SYS_close, fd);
	call = getenv("FAULT_CALL");
	if (!role || !number || !call || n <= 0 || !strstr(text, "jobrun") ||
	    strcmp(second, role) != 0)
		return;
	nth = strtol(number, NULL, 10);
	here = true;
}

__attribute__((destructor)) static void end(void)
{
	char text[32];

	if (!here || nth)
		return;
	snprintf(text, sizeof(text), "%ld\n", count);
	report(text);
}

/* ---- the calls ---------------------------------------------------------- */

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *old, size_t size);

void *malloc(size_t size)
{
	return fails("malloc", ENOMEM) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return fails("malloc", ENOMEM) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
	return fails("malloc", ENOMEM) ? NULL : __libc_realloc(old, size);
}

void *reallocarray(void *old, size_t n, size_t size)
{
	size_t all;

	if (__builtin_mul_overflow(n, size, &all)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(old, all);
}

/* A disk that is full does not show in what is no file. */
static bool is_full(int fd)
{
	struct stat st;

	return here && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       fails("write", ENOSPC);
}

ssize_t write(int fd, const void *data, size_t len)
{
	return is_full(fd) ? -1 : syscall(SYS_write, fd, data, len);
}

ssize_t pwrite(int fd, const void *data, size_t len, off_t at)
{
	return is_full(fd) ? -1 : syscall(SYS_pwrite64, fd, data, len, at);
}

ssize_t pwrite64(int fd, const void *data, size_t len, off64_t at)
{
	return pwrite(fd, data, len, at);
}

ssize_t writev(int fd, const struct iovec *pieces, int n)
{
	return is_full(fd) ? -1 : syscall(SYS_writev, fd, pieces, n);
}

ssize_t splice(int in, off64_t *in_at, int out, off64_t *out_at, size_t len,
	       unsigned flags)
{
	return is_full(out) ? -1
			    : syscall(SYS_splice, in, in_at, out, out_at, len,
				      flags);
}

int ftruncate(int fd, off_t size)
{
	return is_full(fd) ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

int ftruncate64(int fd, off64_t size)
{
	return ftruncate(fd, size);
}

int posix_fallocate(int fd, off_t at, off_t len)
{
	if (is_full(fd))
		return ENOSPC;
	return syscall(SYS_fallocate, fd, 0, at, len) < 0 ? errno : 0;
}

int fsync(int fd)
{
	return fails("fsync", EIO) ? -1 : (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
	return fails("fsync", EIO) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

int renameat2(int from, const char *old, int to, const char *new,
	      unsigned flags)
{
	return fails("rename", EIO)
		       ? -1
		       : (int)syscall(SYS_renameat2, from, old, to, new, flags);
}

int renameat(int from, const char *old, int to, const char *new)
{
	return renameat2(from, old, to, new, 0);
}

int rename(const char *old, const char *new)
{
	return renameat2(AT_FDCWD, old, AT_FDCWD, new, 0);
}

int linkat(int from, const char *old, int to, const char *new, int flags)
{
	return fails("rename", EIO)
		       ? -1
		       : (int)syscall(SYS_linkat, from, old, to, new, flags);
}

int link(const char *old, const char *new)
{
	return linkat(AT_FDCWD, old, AT_FDCWD, new, 0);
}

static int open_at(int folder, const char *path, int flags, va_list args)
{
	mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;

	return fails("open", EMFILE)
		       ? -1
		       : (int)syscall(SYS_openat, folder, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
	va_list args;
	int fd;

	va_start(args, flags);
	fd = open_at(folder, path, flags, args);
	va_end(args);
	return fd;
}

int open(const char *path, int flags, ...)
{
	va_list args;
	int fd;

	va_start(args, flags);
	fd = open_at(AT_FDCWD, path, flags, args);
	va_end(args);
	return fd;
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));
int openat64(int folder, const char *path, int flags, ...)
	__attribute__((alias("openat")));

pid_t fork(void)
{
	static pid_t (*real)(void);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "fork");
	return fails("fork", EAGAIN) ? -1 : real();
}

int clone(int (*run)(void *), void *stack, int flags, void *arg, ...)
{
	static int (*real)(int (*)(void *), void *, int, void *, ...);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "clone");
	return fails("fork", EAGAIN) ? -1 : real(run, stack, flags, arg);
}

int posix_spawn(pid_t *pid, const char *path,
		const posix_spawn_file_actions_t *files,
		const posix_spawnattr_t *attr, char *const argv[],
		char *const envp[])
{
	static int (*real)(
		pid_t *, const char *, const posix_spawn_file_actions_t *,
		const posix_spawnattr_t *, char *const[], char *const[]);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "posix_spawn");
	return fails("fork", EAGAIN) ? EAGAIN
				     : real(pid, path, files, attr, argv, envp);
}
