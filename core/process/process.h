/* SPDX-License-Identifier: Apache-2.0 */
/* Starts processes that die with their parent, and ends whole process trees. */
#ifndef JOBRUN_PROCESS_H
#define JOBRUN_PROCESS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "core/base/error.h"

/* How long killed processes may take to disappear. */
#define PROCESS_END_MS 10000

struct process_start {
	const char *path; /* of the program; see process_find() */
	char *const *argv;
	char *const *envp;
	const char *directory;
	const struct rlimit *no_files; /* its RLIMIT_NOFILE */
	int in;                        /* its standard input; 0: an empty one */
	int out;                       /* its standard output and error */
	int err;
	/* Not NULL: the child is like this process, with these signals blocked.
	 * It inherits open descriptors, signal dispositions, folder, limits and
	 * (except with `own_group`) the process group; `out` and `err` may be
	 * 0: ours. */
	const sigset_t *alike;
	bool own_group;
};

/*
 * Finds a program as execvp() does, with PATH from `envp` and relative names
 * from `directory`.  Returns new, or NULL with the reason: not found (and where
 * it was searched), or not executable.
 */
char *process_find(const char *name, const char *directory, char *const *envp,
		   struct error *err);

/*
 * With many descriptors open, low ones make this fast: descriptors above the
 * three are not copied.
 *
 * Starts a process in its own group that is killed when the calling thread
 * dies.  Returns its pid, or -1; a failing exec is reported here.
 */
pid_t process_start(const struct process_start *what, struct error *err);

/*
 * Prevents core files of this process, also through a core collector, as its
 * memory may hold secrets.  Processes from process_start() get the original
 * limit unless they are `alike`, and so do those started after
 * process_restore_core().
 */
void process_without_core(void);
void process_restore_core(void);

/*
 * The program that this process runs, even if a newer one has replaced its
 * file: then the name ends in " (deleted)", and /proc/self/exe still leads to
 * it.  Returns the real name if it is still valid, as that link leads elsewhere
 * under valgrind.  For an installed jobrun: its starter (install.h).
 */
void process_self(char *out, size_t size);

/*
 * Waits for the end of a child until a time of time_monotonic_ms(), then kills
 * its group.  Returns false if it had to be killed.
 */
bool process_end(pid_t pid, int64_t until_ms, int *status);

/* The status that a shell gives for one of waitpid(): 128 + the signal that has
 * killed it. */
int process_exit_code(int status);

/* "exited with 3", "was killed by SIGKILL": describes a status of waitpid(). */
void process_status_format(int status, char *out, size_t size);

/* The state of any process, as in /proc ('T': stopped), and its parent; a NUL
 * if the process does not exist. */
char process_state(pid_t pid, pid_t *parent);

/* When any process began, in clock ticks since this machine did; 0: it is
 * gone. */
unsigned long long process_begun(pid_t pid);

/* Calls `each` with every existing process id. */
void process_each(void (*each)(pid_t pid, void *arg), void *arg);

/*
 * Kills every child of this process, including those that it adopts as their
 * parents die (it must be a subreaper), until none is left; returns false after
 * PROCESS_END_MS.
 */
bool process_end_children(void);
/* The same for all children but one. */
bool process_end_children_but(pid_t but);
/* Kills what it can at once without reaping, except one child (0: none).
 * Returns whether there was any. */
bool process_kill_children(pid_t but);

/*
 * Kills every process of this user, except the caller, with an environment
 * variable that starts like this ("NAME=/folder/"). process_kill_marked() looks
 * once and returns whether it found any; process_end_marked() repeats that
 * until none is left.
 */
bool process_kill_marked(const char *start);
void process_end_marked(const char *start);

/* Calls back for every process of this user, except the caller, with an
 * environment variable that starts like this. */
void process_each_marked(const char *start,
			 void (*each)(void *arg, pid_t pid, const char *item),
			 void *arg);

#endif
