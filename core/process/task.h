/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A task as a child of this process: started with a pipe for each stream, its
 * output moved into a sink, signals sent to its whole group, its end reported.
 * The supervisor runs the tasks of a run on this machine with it, the agent
 * those on another host, and 'jobrun launch' the one it was started for.  It
 * is linked into the agent too, so it needs core/base and core/process only.
 *
 * Everything happens in the thread of the loop.  The process must be a
 * subreaper: what a task leaves behind falls to it, for process_end_children().
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

/* What all tasks of a process share.  Borrows what it points to, unless
 * task_parent_own() has made it. */
struct task_parent {
	struct loop *loop;
	struct reaper *reaper;         /* run it at SIGCHLD */
	const struct rlimit *no_files; /* RLIMIT_NOFILE of the tasks */
	int pipe_size; /* bytes; of pipes that were found full */
	int slots[3];  /* see task_parent_open() */

	/* Set by task_parent_own(). */
	int signals; /* a signalfd; 0: not its own */
	sigset_t before;
	void (*heard)(void *arg, int number, bool from_kernel);
	void *arg;
};

/*
 * For a process that is there for its tasks: a loop and a reaper, and its
 * signals through that loop.  SIGCHLD is among `signals`, and `heard` is called
 * after the reaper has done its work.  `from_kernel`: nobody has sent it to this
 * process alone; from a terminal it goes to the whole process group.  The
 * process becomes a subreaper.  Only task_parent_close() follows -1.
 */
int task_parent_own(struct task_parent *parent, const sigset_t *signals,
		    void (*heard)(void *arg, int number, bool from_kernel),
		    void *arg, struct error *err);
/* Hears what has come, outside of the loop. */
void task_parent_hear(struct task_parent *parent);

/*
 * Takes low descriptors, which the next task gets as its first three:
 * process_start() copies what lies below the highest of them, so open the
 * parent before the pipes of many tasks.  `count`: how many tasks share what
 * a user's pipes may hold; 0: nobody knows.
 */
void task_parent_open(struct task_parent *parent, size_t count);
/* Zeroed it does nothing. */
void task_parent_close(struct task_parent *parent);

struct task_hooks {
	/*
	 * Moves at most `limit` bytes out of the pipe to where the output of
	 * the stream belongs.  Returns as read() does, and never blocks.
	 */
	ssize_t (*take)(void *arg, int stream, int pipe, size_t limit);
	/* Once for each start, from reaper_run(), with a status as waitpid()
	 * gives it.  Its group is gone; its pipes may hold more. */
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
	pid_t to;  /* whom kill() is to reach: it, or its group */
	struct loop_event *kill_timer;
	struct task_output outputs[TASK_STREAMS];
};

/* Borrows all.  Its address must not change. */
void task_init(struct task *task, struct task_parent *parent,
	       const struct task_hooks *hooks, void *arg);

/* argv[0] is looked up with PATH of `envp`; all is borrowed until the return.
 * -1: it does not run, and `ended` is not called. */
int task_start(struct task *task, char *const *argv, char *const *envp,
	       const char *directory, struct error *err);

/* Takes a child that was started otherwise, and has no pipes of ours; it may
 * be a member of this process's group. */
void task_adopt(struct task *task, pid_t pid, bool own_group);

/* Whether a signal is a request to end. */
bool task_is_asked_by(int number);
/* To the task and all of a group of its own, if it runs.  A request to end
 * reaches it if it is stopped, too. */
void task_signal(const struct task *task, int number);
/* The same, and SIGKILL `grace_ms` after the first such call. */
void task_end(struct task *task, int number, int64_t grace_ms);

/* Takes what its pipes hold at this moment. */
void task_take(struct task *task);
/* Takes all that is left and closes the pipes.  Whoever could write more must
 * be gone. */
void task_drain(struct task *task);

#endif
