/* SPDX-License-Identifier: Apache-2.0 */
#include "core/log/metric_matcher.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/base/alloc.h"

#include "core/log/metric.h"

#define LINE_MS 100    /* of CPU, for all patterns of a line */
#define SILENT_MS 5000 /* a process that is stopped answers nothing */
#define MEMORY_MAX (1UL << 30)
#define MS INT64_C(1000000) /* ns */
#define MOST_NS (500 * MS)  /* of a pattern's account */
#define FILL_NS (MS / 2)    /* by each line */

struct pattern_account {
	struct metric_match match;
	int64_t left_ns;
	uint64_t missed;
};

/* Memory that both processes see. */
struct shared {

	bool busy;      /* with `current` */
	size_t current; /* the pattern that is looked for */
	size_t len;
	char text[METRIC_LINE_MAX + 1];
	struct pattern_account accounts[];
};

struct metric_matcher {
	const regex_t *const *patterns;
	size_t count;
	struct shared *shared;
	size_t shared_size;

	int socket; /* -1: there is no process */
	int process;
};

struct metric_matcher *metric_matcher_new(const regex_t *const *patterns,
					  size_t count)
{
	struct metric_matcher *matcher = mem_alloc(sizeof(*matcher));
	size_t size = sizeof(*matcher->shared) +
		      count * sizeof(struct pattern_account);
	void *shared = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	matcher->patterns = patterns;
	matcher->count = count;
	matcher->socket = matcher->process = -1;
	matcher->shared_size = size;

	if (shared == MAP_FAILED)
		return matcher;
	matcher->shared = shared;
	for (size_t i = 0; i < count; i++)
		matcher->shared->accounts[i].left_ns = MOST_NS;
	return matcher;
}

/* ---- the process -------------------------------------------------------- */

static int64_t used_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return used.tv_sec * 1000 * MS + used.tv_nsec;
}

static void look_for(const struct metric_matcher *matcher, size_t i)
{
	struct shared *shared = matcher->shared;
	struct pattern_account *account = &shared->accounts[i];
	regmatch_t found[2] = { { .rm_eo = (regoff_t)shared->len } };
	int64_t began;
	int code;

	if (account->left_ns < 0) {
		account->missed++;
		return;
	}
	began = used_ns();
	/* There may be NUL bytes in it. */
	code = regexec(matcher->patterns[i], shared->text, 2, found,
		       REG_STARTEND);
	account->left_ns -= used_ns() - began;
	if (code == 0 && found[1].rm_so >= 0) {
		account->match.from = found[1].rm_so;
		account->match.to = found[1].rm_eo;
	} else if (code == REG_ESPACE) {
		account->missed++;
	}
}

static void serve(const struct metric_matcher *matcher)
{
	const struct itimerval limit = { .it_value.tv_usec = LINE_MS * 1000L };
	const struct itimerval none = { .it_value.tv_usec = 0 };
	struct shared *shared = matcher->shared;
	char token;

	while (read(STDIN_FILENO, &token, 1) == 1) {
		/* SIGPROF ends the process in the middle of it. */
		shared->busy = true;
		setitimer(ITIMER_PROF, &limit, NULL);
		for (; shared->current < matcher->count; shared->current++)
			look_for(matcher, shared->current);
		setitimer(ITIMER_PROF, &none, NULL);
		shared->busy = false;
		if (send(STDIN_FILENO, &token, 1, MSG_NOSIGNAL) != 1)
			break;
	}
}

/* In the child. */
static void become_matcher(const struct metric_matcher *matcher, int socket,
			   pid_t parent)
{
	const struct rlimit no_core = { 0 };
	sigset_t none;

	setpgid(0, 0);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		_exit(127);
	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_NAME, "jobrun-metrics");
	setrlimit(RLIMIT_CORE, &no_core);
#ifndef __SANITIZE_ADDRESS__
	setrlimit(RLIMIT_DATA, &(struct rlimit){ MEMORY_MAX, MEMORY_MAX });
#endif
	if (dup2(socket, STDIN_FILENO) < 0)
		_exit(127);
	closefrom(STDIN_FILENO + 1);
	serve(matcher);
	_exit(0);
}

/* ---- and who asks it ---------------------------------------------------- */

/* Others may have heard of its end already: the descriptor stands for no other
 * process, as a pid might. */
static void stop(struct metric_matcher *matcher)
{
	siginfo_t info;

	if (matcher->socket < 0)
		return;
	close(matcher->socket);
	matcher->socket = -1;
	syscall(SYS_pidfd_send_signal, matcher->process, SIGKILL, NULL, 0);
	while (waitid((idtype_t)P_PIDFD, (id_t)matcher->process, &info,
		      WEXITED) < 0 &&
	       errno == EINTR)
		;
	close(matcher->process);
	matcher->process = -1;
}

void metric_matcher_free(struct metric_matcher *matcher)
{
	if (!matcher)
		return;
	stop(matcher);
	if (matcher->shared)
		munmap(matcher->shared, matcher->shared_size);
	free(matcher);
}

static bool start(struct metric_matcher *matcher)
{
	pid_t parent = getpid();
	int ends[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return false;
	pid = fork();
	if (pid == 0)
		become_matcher(matcher, ends[1], parent);
	close(ends[1]);
	matcher->process = pid < 0 ? -1 : (int)syscall(SYS_pidfd_open, pid, 0);
	if (matcher->process < 0) {
		close(ends[0]); /* it ends with that */
		return false;
	}
	matcher->socket = ends[0];
	return true;
}

/* False if it has ended, or is silent. */
static bool ask(const struct metric_matcher *matcher)
{
	struct pollfd it = { .fd = matcher->socket, .events = POLLIN };
	char token = 0;
	int ready;

	if (send(matcher->socket, &token, 1, MSG_NOSIGNAL) != 1)
		return false;
	do {
		ready = poll(&it, 1, SILENT_MS);
	} while (ready < 0 && errno == EINTR);
	return ready > 0 && recv(matcher->socket, &token, 1, 0) == 1;
}

/* From `current` on; where it ended over a pattern, with the next. */
static void find_all(struct metric_matcher *matcher)
{
	struct shared *shared = matcher->shared;
	int tries = 0;

	while (shared->current < matcher->count) {
		struct pattern_account *account =
			&shared->accounts[shared->current];

		if (matcher->socket >= 0 || start(matcher)) {
			shared->busy = false;
			if (ask(matcher))
				return;
			stop(matcher);
			/* Killed between two lines: by whom is not our matter. */
			if (!shared->busy && !tries++)
				continue;
			account->left_ns -= LINE_MS * MS;
		}
		account->missed++;
		shared->current++;
	}
}

void metric_matcher_find(struct metric_matcher *matcher, const char *text,
			 size_t len, struct metric_match *out)
{
	struct shared *shared = matcher->shared;

	for (size_t i = 0; i < matcher->count; i++)
		out[i] = (struct metric_match){ -1, -1 };
	if (!shared)
		return;
	memcpy(shared->text, text, len);
	shared->text[len] = '\0';
	shared->len = len;
	shared->current = 0;

	for (size_t i = 0; i < matcher->count; i++) {
		struct pattern_account *account = &shared->accounts[i];

		account->match = out[i];
		account->left_ns += FILL_NS;
		if (account->left_ns > MOST_NS)
			account->left_ns = MOST_NS;
	}
	find_all(matcher);
	for (size_t i = 0; i < matcher->count; i++)
		out[i] = shared->accounts[i].match;
}

uint64_t metric_matcher_missed(const struct metric_matcher *matcher,
			       size_t pattern)
{
	return matcher->shared ? matcher->shared->accounts[pattern].missed : 0;
}
