/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A task as a child of this process: started with a pipe for each stream, its
 * output moved into a sink, signals sent to its whole group, its end reported.
 * The supervisor uses it for the tasks of a run on this machine, the agent for
 * those on another host, and 'jobrun launch' for the task it was started for.
 * It is linked into the agent too, so it needs core/base and core/process only.
 *
 * Everything happens in the loop's thread.  The process must be a subreaper: it
 * inherits the processes that a task leaves behind, for process_end_children().
 */
#ifndef JOBRUN_TASK_H
#define JOBRUN_TASK_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "core/base/error.h"
#include "core/base/loop.h"
#include "core/process/reaper.h"

#define TASK_STREAMS 2 /* standard output and error, in this order */

/* State shared by all tasks of a process.  Borrows what it points to, unless
 * task_parent_own() has made it. */
struct task_parent {
	struct loop *loop;
	struct reaper *reaper;         /* run it at SIGCHLD */
	const struct rlimit *no_files; /* RLIMIT_NOFILE of the tasks */
	int pipe_size;                 /* bytes; of pipes that were full */
	int slots[3];                  /* see task_parent_open() */

	/* Set by task_parent_own(). */
	int signals; /* a signalfd; 0: none of its own */
	sigset_t before;
	void (*heard)(void *arg, int number, bool from_kernel);
	void *arg;
};

/*
 * For a process that exists only for its tasks: makes a loop and a reaper, and
 * takes signals through that loop.  SIGCHLD is among `signals`; `heard` is
 * called after the reaper has run.  `from_kernel`: no process sent the signal
 * to this process alone; a signal from a terminal goes to the whole process
 * group.  The process becomes a subreaper.  After -1, only task_parent_close()
 * may follow.
 */
int task_parent_own(struct task_parent *parent, const sigset_t *signals,
		    void (*heard)(void *arg, int number, bool from_kernel),
		    void *arg, struct error *err);
/* Handles pending signals outside the loop. */
void task_parent_hear(struct task_parent *parent);

/*
 * Reserves low descriptors, which the next task gets as its first three:
 * process_start() copies those below the highest of them, so open the parent
 * before the pipes of many tasks.  `count`: how many tasks share the user's
 * limit on pipe memory; 0: unknown.
 */
void task_parent_open(struct task_parent *parent, size_t count);
/* Does nothing if zeroed. */
void task_parent_close(struct task_parent *parent);

struct task_hooks {
	/*
	 * Moves at most `limit` bytes from the pipe to the stream's
	 * destination.  Returns as read() does, and never blocks.
	 */
	ssize_t (*take)(void *arg, int stream, int pipe, size_t limit);
	/* Called once for each start, from reaper_run(), with a status of
	 * waitpid().  The task's group is gone; its pipes may hold more
	 * output. */
	void (*ended)(void *arg, int status);
};

struct task_output {
	struct task *task;
	struct loop_event *event;
	int fd; /* -1: closed */
	bool is_large;
};

struct task {
	struct task_parent *parent; /* borrowed */
	const struct task_hooks *hooks;
	void *arg;
	pid_t pid; /* 0: not running */
	pid_t to;  /* the target of kill(): the task or its group */
	struct loop_event *kill_timer;
	struct task_output outputs[TASK_STREAMS];
};

/* Borrows its arguments.  The task's address must not change. */
void task_init(struct task *task, struct task_parent *parent,
	       const struct task_hooks *hooks, void *arg);

/* Looks argv[0] up with PATH of `envp`; arguments are borrowed until it
 * returns.  -1: the task does not run, and `ended` is not called. */
int task_start(struct task *task, char *const *argv, char *const *envp,
	       const char *directory, struct error *err);

/* Adopts a child that was started in another way and has no pipes of ours; it
 * may be in this process's group. */
void task_adopt(struct task *task, pid_t pid, bool own_group);

/*
 * Sets all signals that can be passed on to a task.  Signals for our own faults
 * are not among them, as they would come again and again, nor are those that
 * stop a process, as they reach the whole process group and must stop us, too.
 */
void task_signals(sigset_t *set);
/* Whether the signal is a request to end. */
bool task_is_asked_by(int number);
/* Signals the task, if it runs, and all of its own group.  A request to end
 * also reaches a stopped task. */
void task_signal(const struct task *task, int number);
/* The same, and SIGKILL `grace_ms` after the first such call. */
void task_end(struct task *task, int number, int64_t grace_ms);

/* Takes what its pipes hold now. */
void task_take(struct task *task);
/* Takes everything left and closes the pipes.  All writers must be gone. */
void task_drain(struct task *task);

#endif
