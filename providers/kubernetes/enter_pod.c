/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hidden commands of kube_enter.h.  A cluster ends no command when the
 * connection to it does: a child of this process, the guard, waits for its
 * end and then kills what is left in the container, by a mark in the
 * environment of all that was started.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/enter/enter.h"
#include "providers/kubernetes/kube_enter.h"
#include "providers/kubernetes/kube_internal.h"
#include "providers/kubernetes/kubernetes.h"
#include "providers/kubernetes/manifest/launcher.h"
#include "providers/kubernetes/pod_exec.h"

/* The words in the container before those of the command. */
#define CONTAINER_WORDS 4
/* How often the guard tries to reach the cluster, and how long it waits. */
#define GUARD_TRIES 6
#define GUARD_PAUSE_MS 5000

/* Kills all with the mark $0; twice, as one may start another meanwhile. */
#define KILL                                                                   \
	"for i in 1 2; do for d in /proc/[0-9]*; do "                          \
	"tr '\\000' '\\n' <\"$d/environ\" | grep -qxF \"" ENTER_MARK           \
	"=$0\" && "                                                            \
	"kill -9 \"${d#/proc/}\"; done; done 2>/dev/null; :"

struct enter_pod_opts {
	bool terminal;
	bool launcher;
};

static const struct opt options[] = {
	{ 0, "terminal", OPT_FLAG, offsetof(struct enter_pod_opts, terminal),
	  NULL, "give the command a terminal" },
	{ 0, "launcher", OPT_FLAG, offsetof(struct enter_pod_opts, launcher),
	  NULL, "jobrun is in the container" },
	{ 0 },
};

/* A way into one pod. */
struct pod_way {
	const struct provider_env *env;
	const char *place;
	const char *pod;
	char mark[64];
};

/* Runs one command there; the cluster is contacted anew, as a child of fork()
 * must not use a connection of its parent. */
static int run_in_pod(const struct pod_way *e, struct pod_exec_wish *wish,
		      bool *ended, struct error *err)
{
	void *kube = provider_kubernetes.open(e->env, err);
	struct kube_at at;
	int ret;

	*ended = true;
	if (!kube)
		return -1;
	wish->pod = e->pod;
	ret = kube_find(kube, e->place, &at, err);
	if (ret == 0)
		ret = pod_exec(&at, wish, ended, err);
	provider_kubernetes.close(kube);
	return ret;
}

/* ---- the guard --------------------------------------------------------- */

static void kill_rest(struct pod_way *e)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)KILL, e->mark,
			 NULL };
	struct pod_exec_wish wish = {
		.argv = argv, .in = -1, .out = STDOUT_FILENO, .errors = -1
	};
	struct error err;
	bool ended;
	int i;

	for (i = 0; i < GUARD_TRIES; i++) {
		/* Without the pod, the container is gone, too. */
		if (run_in_pod(e, &wish, &ended, &err) >= 0 ||
		    err.code != ERROR_UNREACHABLE)
			return;
		time_pause(GUARD_PAUSE_MS);
	}
}

/* Waits for the end of its parent, which says so if nothing is left. */
static void guard(struct pod_way *e, int parent)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), fd;
	char word;

	setsid();
	signal(SIGINT, SIG_IGN);
	for (fd = 0; null >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	if (read(parent, &word, 1) == 0)
		kill_rest(e);
	_exit(0);
}

/* Returns the descriptor that tells the guard, or -1. */
static int start_guard(struct pod_way *e, struct error *err)
{
	int ends[2];
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_errno(err, "cannot start a process");
	child = fork();
	if (child == 0) {
		close(ends[1]);
		guard(e, ends[0]);
	}
	close(ends[0]);
	if (child > 0)
		return ends[1];
	error_errno(err, "cannot start a process");
	close(ends[1]);
	return -1;
}

/* ---- enter-pod --------------------------------------------------------- */

/* Returns our input, or -1 if there is nothing to read, ever: an older server
 * could not be told that. */
static int find_input(void)
{
	struct stat st;

	if (fstat(STDIN_FILENO, &st) < 0 ||
	    (S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3)))
		return -1;
	return STDIN_FILENO;
}

/* The words for the container: the command as it is has the environment of the
 * pod, and with jobrun there, that of the program. */
static char **words_for(const struct pod_way *e, bool launcher,
			char *const *words, struct arena *mem)
{
	size_t count = 0, n = 0;
	char **argv;

	while (words[count])
		count++;
	argv = arena_alloc(mem, (CONTAINER_WORDS + count + 1) * sizeof(*argv));
	if (launcher) {
		argv[n++] = (char *)LAUNCHER_PROGRAM;
		argv[n++] = (char *)"enter-container";
		argv[n++] = arena_strdup(mem, e->mark);
		argv[n++] = (char *)"--";
	} else {
		argv[n++] = (char *)"env";
		argv[n++] = arena_printf(mem, ENTER_MARK "=%s", e->mark);
	}
	memcpy(argv + n, words, (count + 1) * sizeof(*argv));
	return argv;
}

static int run_pod(const void *given, char *const *args,
		   const struct provider_env *env, struct buf *out,
		   struct error *err)
{
	const struct enter_pod_opts *opts = given;
	struct pod_way e = { .env = env, .place = args[0], .pod = args[1] };
	struct arena *mem = arena_new();
	struct pod_exec_wish wish = { .terminal = opts->terminal,
				      .in = find_input(),
				      .out = STDOUT_FILENO,
				      .errors = STDERR_FILENO };
	bool ended = true;
	int ret = -1, told;

	(void)out;
	snprintf(e.mark, sizeof(e.mark), "%ld-%lld", (long)getpid(),
		 (long long)time_now_ms());
	wish.argv = words_for(&e, opts->launcher, args + 2, mem);
	signal(SIGPIPE, SIG_IGN);
	told = start_guard(&e, err);
	if (told >= 0) {
		ret = run_in_pod(&e, &wish, &ended, err);
		if (ended && write(told, "", 1) < 0)
			ended = false; /* the guard is gone, or acts */
		close(told);
	}
	arena_free(mem);
	return ret;
}

static const struct provider_command enter_pod = {
	.name = "enter-pod",
	.args = "[--terminal] [--launcher] PLACE POD -- COMMAND [ARGUMENT]...",
	.summary = "run a command in a pod; called by 'exec'",
	.options = options,
	.opts_size = sizeof(struct enter_pod_opts),
	.arg_count = 3,
	.has_more = true,
	.remote = true,
	.run = run_pod,
};

/* ---- enter-container --------------------------------------------------- */

static int run_container(const void *given, char *const *args,
			 const struct provider_env *env, struct buf *out,
			 struct error *err)
{
	struct enter_target target;

	(void)given;
	(void)env;
	(void)out;
	setenv(ENTER_MARK, args[0], 1);
	if (enter_find(&target, err) < 0)
		return -1;
	return enter_exec(&target, args + 1, err);
}

static const struct provider_command enter_container = {
	.name = "enter-container",
	.args = "MARK -- COMMAND [ARGUMENT]...",
	.summary = "run a command beside a task; called in its container",
	.arg_count = 2,
	.has_more = true,
	.run = run_container,
};

const struct provider_command *const kubernetes_commands[] = {
	&enter_pod,
	&enter_container,
	&kubernetes_forward_pod,
	NULL,
};
