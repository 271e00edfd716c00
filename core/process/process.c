/* SPDX-License-Identifier: Apache-2.0 */
#include "core/process/process.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/start.h"
#include "core/base/text.h"
#include "core/base/units.h"

#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"
#define ENVIRON_MAX (4 << 20)
#define MARKED_TRIES 100
#define STAT_MAX 1024
/* Fields of proc(5)'s stat, counted from 1. */
#define STAT_STATE 3
#define STAT_BEGUN 22
/* MAX_ARG_STRLEN of execve(2), 32 pages of 4 KiB: with the zero at its end. */
#define LONGEST_WORD (128 << 10)
/* musl does not define it. */
#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE (1U << 1)
#endif
#define STACK_SIZE ((size_t)32 << 10)

/* The original limit of this process; nobody else sets RLIM_INFINITY - 1. */
#define CORE_UNCHANGED (RLIM_INFINITY - 1)
static struct rlimit own_core = { .rlim_max = CORE_UNCHANGED };

void process_without_core(void)
{
	struct rlimit none;

	if (own_core.rlim_max == CORE_UNCHANGED &&
	    getrlimit(RLIMIT_CORE, &own_core) < 0)
		return;
	/* With a limit of 1, Linux starts no collector either; see core(5). */
	none = own_core;
	none.rlim_cur = none.rlim_max ? 1 : 0;
	setrlimit(RLIMIT_CORE, &none);
}

void process_restore_core(void)
{
	if (own_core.rlim_max != CORE_UNCHANGED)
		setrlimit(RLIMIT_CORE, &own_core);
}

static const char *search_path(char *const *envp)
{
	for (; *envp; envp++)
		if (text_starts(*envp, "PATH="))
			return *envp + strlen("PATH=");
	return DEFAULT_PATH;
}

/* Returns 0 if the file can be run, else an errno. */
static int runnable(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return errno;
	if (S_ISDIR(st.st_mode))
		return EISDIR;
	return access(path, X_OK) < 0 ? errno : 0;
}

char *process_find(const char *name, const char *directory, char *const *envp,
		   struct error *err)
{
	const char *p = search_path(envp);
	char *denied = NULL;
	char *full;
	int why;

	if (!*name) {
		error_set(err, ERROR_FAILED, "the command is an empty string");
		return NULL;
	}
	if (strchr(name, '/')) {
		full = path_join(directory, name);
		why = runnable(full);
		if (!why)
			return full;
		errno = why;
		if (why == EACCES && access(full, F_OK) == 0)
			error_set(err, ERROR_FAILED,
				  "'%s' is not executable (chmod +x it, or "
				  "name its interpreter first)",
				  full);
		else
			error_set(err, ERROR_FAILED, "'%s': %s", full,
				  strerror(why));
		free(full);
		return NULL;
	}
	for (;;) {
		size_t len = strcspn(p, ":");
		char *folder =
			len ? mem_printf("%.*s", (int)len, p) : mem_strdup(".");
		char *in_path = path_join(folder, name);

		full = path_join(directory, in_path);
		free(in_path);
		free(folder);
		why = runnable(full);
		if (!why) {
			free(denied);
			return full;
		}
		/* A folder of PATH that we may not enter counts as empty. */
		if (why == EACCES && !denied && access(full, F_OK) == 0)
			denied = full;
		else
			free(full);
		p += len;
		if (!*p)
			break;
		p++;
	}
	if (denied)
		error_set(err, ERROR_FAILED, "'%s' is not executable", denied);
	else
		error_set(err, ERROR_FAILED, "command '%s' not found in PATH",
			  name);
	free(denied);
	return NULL;
}

struct starting {
	const struct process_start *what;
	pid_t parent;
	int why; /* the child's errno; 0: no failure */
};

/* This and become() run in the child: only async-signal-safe calls. */
static void die_with(pid_t parent)
{
	/* If the parent is already gone, that signal never comes. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		_exit(127);
}

static int become_alike(struct starting *starting)
{
	const struct process_start *what = starting->what;

	die_with(starting->parent);
	if (what->own_group)
		setpgid(0, 0);
	if (unshare(CLONE_FILES) == 0 &&
	    (!what->out || dup2(what->out, STDOUT_FILENO) >= 0) &&
	    (!what->err || dup2(what->err, STDERR_FILENO) >= 0)) {
		sigprocmask(SIG_SETMASK, what->alike, NULL);
		execve(what->path, what->argv, what->envp);
	}
	starting->why = errno;
	_exit(126);
}

/*
 * Runs in the child, which shares our memory and, until it unshares them, our
 * descriptors: a process that supervises a thousand others has thousands, and
 * copying and closing them each time would take longer than everything else.
 */
static int become(void *arg)
{
	struct starting *starting = arg;
	const struct process_start *what = starting->what;
	struct sigaction action = { .sa_handler = SIG_DFL };
	unsigned last = STDERR_FILENO;
	sigset_t none;
	int in, number;

	if (what->alike)
		return become_alike(starting);
	last = (unsigned)what->in > last ? (unsigned)what->in : last;
	last = (unsigned)what->out > last ? (unsigned)what->out : last;
	last = (unsigned)what->err > last ? (unsigned)what->err : last;
	if (syscall(SYS_close_range, last + 1, ~0U, CLOSE_RANGE_UNSHARE) < 0 &&
	    unshare(CLONE_FILES) < 0)
		goto fail;
	setpgid(0, 0);
	die_with(starting->parent);
	for (number = 1; number < NSIG; number++)
		sigaction(number, &action, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	in = what->in ? what->in : open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (in < 0 || dup2(in, STDIN_FILENO) < 0 ||
	    dup2(what->out, STDOUT_FILENO) < 0 ||
	    dup2(what->err, STDERR_FILENO) < 0)
		goto fail;
	if (chdir(what->directory) < 0)
		goto fail;
	/* Set last: descriptors open here may already be above the limit. */
	setrlimit(RLIMIT_NOFILE, what->no_files);
	process_restore_core();
	execve(what->path, what->argv, what->envp);
fail:
	starting->why = errno;
	_exit(126);
}

static int interpreter_missing(const char *path, struct error *err)
{
	char text[256];
	ssize_t len = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		len = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	text[len > 0 ? len : 0] = '\0';
	if (!text_starts(text, "#!"))
		return error_set(err, ERROR_FAILED,
				 "cannot start '%s': its loader is missing",
				 path);
	text[strcspn(text, "\n")] = '\0';
	return error_set(err, ERROR_FAILED,
			 "cannot start '%s': its interpreter '%s' is missing",
			 path, text + 2 + strspn(text + 2, " \t"));
}

/* Of `words`, the one that is longer than a string may be; -1: none. */
static ssize_t too_long(char *const *words)
{
	size_t i;

	for (i = 0; words[i]; i++)
		if (strlen(words[i]) >= LONGEST_WORD)
			return (ssize_t)i;
	return -1;
}

/* A variable is called by its name alone: its value may be a secret. */
static int list_too_long(const struct process_start *what, struct error *err)
{
	ssize_t at = too_long(what->argv);
	const char *text;

	if (at >= 0)
		return error_set(err, ERROR_FAILED,
				 "cannot start '%s': argument %zd has %zu "
				 "bytes, and a program takes %d: put it into "
				 "a file",
				 what->path, at, strlen(what->argv[at]),
				 LONGEST_WORD - 1);
	at = too_long(what->envp);
	if (at < 0)
		return error_set(err, ERROR_FAILED,
				 "cannot start '%s': its arguments and "
				 "variables are longer than this system "
				 "takes: put them into a file",
				 what->path);
	text = what->envp[at];
	return error_set(err, ERROR_FAILED,
			 "cannot start '%s': variable '%.*s' has %zu bytes, "
			 "and a program takes %d: put it into a file",
			 what->path, (int)strcspn(text, "="), text,
			 strlen(text), LONGEST_WORD - 1);
}

static int start_failed(const struct process_start *what, int why,
			struct error *err)
{
	if (why == E2BIG)
		return list_too_long(what, err);
	/* A script without "#!", or a program for another machine. */
	if (why == ENOEXEC)
		return error_set(err, ERROR_FAILED,
				 "'%s' is not a program: name its interpreter "
				 "first",
				 what->path);
	/* The kernel also reports this for a missing interpreter. */
	if (why == ENOENT && access(what->path, F_OK) == 0)
		return interpreter_missing(what->path, err);
	if (!what->alike && access(what->directory, X_OK) < 0)
		return error_errno(err, "cannot start in '%s'",
				   what->directory);
	errno = why;
	return error_errno(err, "cannot start '%s'", what->path);
}

pid_t process_start(const struct process_start *what, struct error *err)
{
	struct starting starting = { .what = what, .parent = getpid() };
	char *stack = mem_alloc(STACK_SIZE);
	/* Like vfork(), returns when the child has called execve(). */
	int flags = CLONE_VM | CLONE_VFORK | SIGCHLD;
	pid_t pid = clone(become, stack + STACK_SIZE, flags | CLONE_FILES,
			  &starting);

	/* An emulator of another architecture shares no descriptors. */
	if (pid < 0 && errno == EINVAL)
		pid = clone(become, stack + STACK_SIZE, flags, &starting);
	if (pid < 0)
		error_errno(err, "cannot start '%s'", what->path);
	free(stack);
	if (pid >= 0 && starting.why) {
		waitpid(pid, NULL, 0);
		pid = start_failed(what, starting.why, err);
	}
	return pid;
}

/* To the kernel, an installed jobrun is the loader that was started with it. */
static const char own_loader[] = "/" START_LIBRARIES "/" START_LOADER;

void process_self(char *out, size_t size)
{
	ssize_t len = readlink("/proc/self/exe", out, size - 1);

	out[len > 0 ? len : 0] = '\0';
	if (access(out, X_OK) < 0)
		snprintf(out, size, "/proc/self/exe");
	else if (text_ends(out, own_loader))
		snprintf(out + strlen(out) - strlen(own_loader),
			 sizeof("/" START_PROGRAM), "/" START_PROGRAM);
}

bool process_end(pid_t pid, int64_t until_ms, int *status)
{
	struct timespec pause = { .tv_nsec = 100000 };
	bool in_time = true;
	pid_t ret;

	while ((ret = waitpid(pid, status, WNOHANG)) == 0 && in_time) {
		in_time = time_monotonic_ms() < until_ms;
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < 20000000)
			pause.tv_nsec *= 2;
	}
	if (ret != 0)
		return true;
	kill(-pid, SIGKILL);
	while (waitpid(pid, status, 0) < 0 && errno == EINTR)
		;
	return false;
}

int process_exit_code(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status)
				   : WEXITSTATUS(status);
}

void process_status_format(int status, char *out, size_t size)
{
	char name[32];

	if (!WIFSIGNALED(status)) {
		snprintf(out, size, "exited with %d", WEXITSTATUS(status));
		return;
	}
	signal_format(WTERMSIG(status), name, sizeof(name));
	snprintf(out, size, "was killed by %s", name);
}

void process_each(void (*each)(pid_t pid, void *arg), void *arg)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	if (!proc)
		return;
	while ((entry = readdir(proc)))
		if (isdigit((unsigned char)entry->d_name[0]))
			each((pid_t)atol(entry->d_name), arg);
	closedir(proc);
}

struct killing {
	pid_t parent;
	pid_t but;
	bool reap; /* reap those that have ended */
	bool found;
};

/* Reads /proc/PID/stat; returns what follows the name, or NULL. */
static const char *read_stat(pid_t pid, char text[STAT_MAX])
{
	char path[64], *end;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	n = read(fd, text, STAT_MAX - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	/* "pid (name, which may hold anything) state parent …" */
	end = strrchr(text, ')');
	return end && end[1] ? end + 2 : NULL;
}

char process_state(pid_t pid, pid_t *parent)
{
	char text[STAT_MAX];
	const char *fields = read_stat(pid, text);
	long number;
	char state;

	*parent = 0;
	if (!fields || sscanf(fields, "%c %ld", &state, &number) != 2)
		return '\0';
	*parent = (pid_t)number;
	return state;
}

unsigned long long process_begun(pid_t pid)
{
	char text[STAT_MAX];
	const char *at = read_stat(pid, text);
	int i;

	for (i = STAT_STATE; at && i < STAT_BEGUN; i++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	return at ? strtoull(at, NULL, 10) : 0;
}

static void kill_child(pid_t pid, void *arg)
{
	struct killing *killing = arg;
	pid_t parent;

	if (!process_state(pid, &parent) || parent != killing->parent ||
	    pid == killing->but)
		return;
	killing->found = true;
	kill(pid, SIGKILL);
	if (killing->reap)
		waitpid(pid, NULL, WNOHANG);
}

bool process_kill_children(pid_t but)
{
	struct killing killing = { .parent = getpid(), .but = but };

	process_each(kill_child, &killing);
	return killing.found;
}

bool process_end_children_but(pid_t but)
{
	struct killing killing = { .parent = getpid(),
				   .but = but,
				   .reap = true };
	int64_t until = time_monotonic_ms() + PROCESS_END_MS;
	struct timespec pause = { .tv_nsec = 1000000 };

	for (;;) {
		pid_t pid = but ? 0 : waitpid(-1, NULL, WNOHANG);

		if (pid > 0)
			continue;
		if (pid < 0 && errno == ECHILD)
			return true;
		if (time_monotonic_ms() > until)
			return false;
		/* Processes that died meanwhile left their children to us. */
		killing.found = false;
		process_each(kill_child, &killing);
		if (but && !killing.found)
			return true;
		nanosleep(&pause, NULL);
	}
}

bool process_end_children(void)
{
	return process_end_children_but(0);
}

struct process_mark {
	const char *start;
	void (*each)(void *arg, pid_t pid, const char *item);
	void *arg;
};

static void look_for_mark(pid_t pid, void *arg)
{
	struct process_mark *mark = arg;
	struct error ignored;
	char path[64];
	char *environ_text;
	size_t len, at;

	snprintf(path, sizeof(path), "/proc/%ld/environ", (long)pid);
	if (pid == getpid())
		return;
	environ_text = file_read(path, ENVIRON_MAX, &len, &ignored);
	if (!environ_text)
		return;
	for (at = 0; at < len; at += strlen(environ_text + at) + 1) {
		const char *item = environ_text + at;

		if (text_starts(item, mark->start)) {
			mark->each(mark->arg, pid, item);
			break;
		}
	}
	free(environ_text);
}

void process_each_marked(const char *start,
			 void (*each)(void *arg, pid_t pid, const char *item),
			 void *arg)
{
	struct process_mark mark = { .start = start, .each = each, .arg = arg };

	process_each(look_for_mark, &mark);
}

static void kill_it(void *arg, pid_t pid, const char *item)
{
	bool *found = arg;

	(void)item;
	kill(pid, SIGKILL);
	*found = true;
}

bool process_kill_marked(const char *start)
{
	bool found = false;
	struct process_mark mark = { .start = start,
				     .each = kill_it,
				     .arg = &found };

	process_each(look_for_mark, &mark);
	return found;
}

void process_end_marked(const char *start)
{
	struct timespec pause = { .tv_nsec = 1000000 };
	int i;

	for (i = 0; i < MARKED_TRIES && process_kill_marked(start); i++) {
		/* A process may have started another one unnoticed. */
		nanosleep(&pause, NULL);
	}
}
