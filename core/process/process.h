/* SPDX-License-Identifier: Apache-2.0 */
/* Starting processes that die with their parent, and ending whole trees. */
#ifndef JOBRUN_PROCESS_H
#define JOBRUN_PROCESS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "core/base/error.h"

/* How long killed processes may take to be gone. */
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
	/* Not NULL: it is as this process is, with these signals blocked.  It
	 * keeps what is open here, what signals do, folder, limits and (but for
	 * `own_group`) process group; `out` and `err` may be 0: ours. */
	const sigset_t *alike;
	bool own_group;
};

/*
 * Looks a program up as execvp would, with PATH from `envp` and relative
 * names from `directory`.  Returns new, or NULL with the reason: not found
 * (and where it was looked for), or not executable.
 */
char *process_find(const char *name, const char *directory, char *const *envp,
		   struct error *err);

/*
 * Low descriptors make it fast where many are open: what lies above the three
 * is not copied.
 *
 * Starts a process in a group of its own that is killed when the calling
 * thread dies.  Returns its pid, or -1; a failing exec is reported here.
 */
pid_t process_start(const struct process_start *what, struct error *err);

/*
 * This process leaves no core file, nor does a collector of cores get one: its
 * memory may hold secrets.  What process_start() starts has the limit that
 * this process came with, unless it is `alike`, and so has what comes after
 * process_restore_core().
 */
void process_without_core(void);
void process_restore_core(void);

/*
 * The program that this process runs, even if its file was replaced by a newer
 * one: its name ends in " (deleted)" then, and /proc/self/exe still leads to
 * it.  By name where that holds, as that link leads elsewhere under valgrind.
 * For an installed jobrun: its starter (install.h).
 */
void process_self(char *out, size_t size);

/*
 * The end of a child, for which it has until a moment of time_monotonic_ms():
 * then its group is killed.  Returns false if that was so.
 */
bool process_end(pid_t pid, int64_t until_ms, int *status);

/* "exited with 3", "was killed by SIGKILL": of a status as waitpid() gives. */
void process_status_format(int status, char *out, size_t size);

/* The state of any process, as /proc has it ('T': stopped), and its parent; a
 * NUL if there is none. */
char process_state(pid_t pid, pid_t *parent);

/*
 * Kills every child of this process, and those that it adopts as their parents
 * die (it must be a subreaper), until none is left; gives up (false) after
 * PROCESS_END_MS.
 */
bool process_end_children(void);
/* The same for all but one. */
bool process_end_children_but(pid_t but);
/* Does what can be done at once and reaps none, for all but one (0: none).
 * Says whether there was any. */
bool process_kill_children(pid_t but);

/*
 * Kills every process of this user but the caller that has something in its
 * environment that starts like this ("NAME=/folder/").  process_kill_marked looks once and says whether it
 * has found any; process_end_marked does it until there is none.
 */
bool process_kill_marked(const char *start);
void process_end_marked(const char *start);

/* Every process of this user but the caller whose environment holds an item
 * that begins so. */
void process_each_marked(const char *start,
			 void (*each)(void *arg, pid_t pid, const char *item),
			 void *arg);

#endif
