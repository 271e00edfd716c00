/* SPDX-License-Identifier: Apache-2.0 */
#include "core/enter/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/container/container.h"
#include "core/enter/enter.h"
#include "core/process/process.h"

/* A runtime whose client was killed may start the command all the same. */
#define LATE_TRIES 10
#define LATE_PAUSE_MS 500
/* The exit status of a runtime's client that did not start the command. */
#define CLIENT_FAILED 125

/* ---- by the runtime's own exec ----------------------------------------- */

/* Waits for the end of its parent, or for that of the step that it is in. */
static void guard(pid_t parent, const char *mark, const sigset_t *term)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), fd, got, i;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	setsid();
	for (fd = 0; null >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	fd_close_from(STDERR_FILENO + 1);
	if (getppid() == parent)
		sigwait(term, &got);
	for (i = 0; i < LATE_TRIES; i++) {
		process_end_marked(mark);
		time_pause(LATE_PAUSE_MS);
	}
	_exit(0);
}

static pid_t start_client(char *const *words, const struct environment *env,
			  const sigset_t *mask)
{
	pid_t parent = getpid(), child = fork();

	if (child != 0)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(128 + SIGKILL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	process_restore_core();
	execvpe(words[0], words, env->items);
	fprintf(stderr, "jobrun: error: cannot run '%s': %s\n", words[0],
		strerror(errno));
	_exit(127);
}

/* Returns the client's status as waitpid() does. */
static int await(pid_t client)
{
	int status = 1 << 8;

	while (waitpid(client, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static int run_client(char *const *words, const struct environment *env,
		      int *status, struct error *err)
{
	char *mark =
		mem_printf(ENTER_MARK "=%s", environment_get(env, ENTER_MARK));
	pid_t self = getpid(), watch, client;
	sigset_t term, before;

	/* A terminal tells both; the client decides. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, &before);
	watch = fork();
	if (watch == 0)
		guard(self, mark, &term);
	client = watch > 0 ? start_client(words, env, &before) : -1;
	if (client < 0)
		error_errno(err, "cannot start '%s'", words[0]);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (client > 0)
		*status = await(client);
	/* What a command has left running goes on, as without a container. */
	if (watch > 0 && (client < 0 || WIFEXITED(*status))) {
		kill(watch, SIGKILL);
		await(watch);
	}
	free(mark);
	return client < 0 ? -1 : 0;
}

/* ---- by its namespaces ------------------------------------------------- */

/* The user namespace comes first: it gives the right to join the others. */
static const struct space {
	const char *name;
	int type;
} spaces[] = {
	{ "user", CLONE_NEWUSER }, { "ipc", CLONE_NEWIPC },
	{ "uts", CLONE_NEWUTS },   { "net", CLONE_NEWNET },
	{ "pid", CLONE_NEWPID },   { "mnt", CLONE_NEWNS },
};

/* Opens something of a process, if it is not the same as ours; -1: it is. */
static int open_other(pid_t pid, const char *name)
{
	char path[64], own[64];
	struct stat here, there;

	snprintf(path, sizeof(path), "/proc/%ld/ns/%s", (long)pid, name);
	snprintf(own, sizeof(own), "/proc/self/ns/%s", name);
	if (stat(own, &here) < 0 || stat(path, &there) < 0 ||
	    (here.st_dev == there.st_dev && here.st_ino == there.st_ino))
		return -1;
	return open(path, O_RDONLY | O_CLOEXEC);
}

static int open_folder(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%ld/%s", (long)pid, name);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* The oldest process of the task that is in a container. */
struct inside_search {
	const char *item;
	pid_t pid; /* 0: none */
	unsigned long long begun;
};

static void look_at(void *arg, pid_t pid, const char *item)
{
	struct inside_search *search = arg;
	unsigned long long begun = process_begun(pid);
	int other;

	if (strcmp(item, search->item) != 0 || !begun ||
	    (search->pid && begun >= search->begun))
		return;
	other = open_other(pid, "mnt");
	if (other < 0)
		return;
	close(other);
	search->pid = pid;
	search->begun = begun;
}

/* What is opened of a process before its namespaces are joined. */
struct other {
	int spaces[COUNT(spaces)]; /* -1: the same as ours */
	int self, root, folder;
};

/* Takes the user of the process, as its user namespace numbers users. */
static int take_user(const struct other *other)
{
	struct stat st;

	if (fstat(other->self, &st) < 0)
		return -1;
	if (st.st_uid == geteuid())
		return 0;
	return setgroups(1, &st.st_gid) < 0 || setgid(st.st_gid) < 0 ||
			       setuid(st.st_uid) < 0
		       ? -1
		       : 0;
}

/* Returns 1 if this process may not, and is still where it was. */
static int switch_to(const struct other *other, struct error *err)
{
	int joined = 0;
	size_t i;

	for (i = 0; i < COUNT(spaces); i++) {
		if (other->spaces[i] < 0)
			continue;
		if (setns(other->spaces[i], spaces[i].type) < 0) {
			error_errno(err,
				    "cannot join the container of the task, "
				    "its %s namespace",
				    spaces[i].name);
			return joined ? -1 : 1;
		}
		joined++;
	}
	if (fchdir(other->root) < 0 || chroot(".") < 0 ||
	    fchdir(other->folder) < 0 || take_user(other) < 0)
		return error_errno(err, "cannot join the container of the "
					"task");
	return 0;
}

/* In a namespace of processes only children are. */
static void fork_into(void)
{
	pid_t child = fork();

	if (child > 0)
		_exit(process_exit_code(await(child)));
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static int run_joined(const struct environment *env, char *const *argv,
		      bool is_apart, struct error *err)
{
	char *program = process_find(argv[0], ".", env->items, err);

	if (!program)
		return -1;
	if (is_apart)
		fork_into();
	process_restore_core();
	signal(SIGPIPE, SIG_DFL);
	execve(program, argv, env->items);
	error_errno(err, "cannot run '%s'", argv[0]);
	free(program);
	return -1;
}

/* Returns only on failure: -1, or 1 if the container has to be entered in
 * another way. */
static int join(const char *variable, char *const *argv, struct error *err)
{
	struct inside_search search = { .item = variable };
	struct environment env = { 0 };
	struct other other;
	bool is_apart = false;
	int ret = -1;
	size_t i;

	process_each_marked(variable, look_at, &search);
	if (!search.pid)
		return error_set(err, ERROR_TRY_AGAIN,
				 "the container of the task does not run yet"),
		       1;
	for (i = 0; i < COUNT(spaces); i++) {
		other.spaces[i] = open_other(search.pid, spaces[i].name);
		is_apart |=
			other.spaces[i] >= 0 && spaces[i].type == CLONE_NEWPID;
	}
	other.self = open_folder(search.pid, "");
	other.root = open_folder(search.pid, "root");
	other.folder = open_folder(search.pid, "cwd");
	if (enter_environment(search.pid, &env, err) == 0)
		ret = switch_to(&other, err);
	if (ret == 0)
		ret = run_joined(&env, argv, is_apart, err);
	environment_done(&env);
	return ret;
}

/* ---- which of them ----------------------------------------------------- */

int inside_exec(pid_t pid, const struct environment *env, char *const *argv,
		struct error *err)
{
	const char *box = environment_get(env, CONTAINER_VARIABLE), *name;
	const char *runtime, *variable;
	struct arena *mem;
	char *const *words;
	int ret = -1, status = 0;

	name = box ? strchr(box, ',') : NULL;
	if (!name)
		return error_set(err, ERROR_FAILED,
				 "process %ld of the task does not say which "
				 "container is its own: an earlier jobrun has "
				 "started it",
				 (long)pid);
	mem = arena_new();
	runtime = arena_strndup(mem, box, (size_t)(name++ - box));
	variable = arena_printf(mem, CONTAINER_VARIABLE "=%s", box);
	/* Runtimes and their containers are where the task finds them. */
	environ = env->items;
	ret = join(variable, argv, err);
	if (ret < 0)
		goto out;
	if (container_enter(runtime, name,
			    arena_printf(mem, ENTER_MARK "=%s",
					 environment_get(env, ENTER_MARK)),
			    argv, mem, &words, err) < 0 ||
	    !words) {
		ret = -1;
		goto out;
	}
	ret = run_client(words, env, &status, err);
	if (ret == 0 && WIFEXITED(status) &&
	    WEXITSTATUS(status) == CLIENT_FAILED &&
	    !container_is_there(runtime, name))
		ret = error_set(err, ERROR_TRY_AGAIN,
				"the container of the task does not run yet");
	if (ret == 0)
		_exit(process_exit_code(status));
out:
	arena_free(mem);
	return ret;
}
