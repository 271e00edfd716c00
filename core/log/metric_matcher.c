/* SPDX-License-Identifier: Apache-2.0 */
#include "core/log/metric_matcher.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
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
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/pattern.h"

#include "core/log/metric.h"

#define LINE_MS 100    /* CPU time for all patterns of a line */
#define SILENT_MS 5000 /* a stopped process makes no progress */
#define MEMORY_MAX (1UL << 30)
#define MS INT64_C(1000000) /* ns */
#define MOST_NS (500 * MS)  /* the maximum of a pattern's budget */
#define FILL_NS (MS / 2)    /* added by each line */
#define LINES_MAX 512       /* lines in a batch */
#define TEXT_MAX (LINES_MAX * 128)

struct pattern_account {
	int64_t left_ns;
	uint64_t missed;
};

/* Memory shared by both processes. */
struct shared {
	atomic_bool busy; /* matching the pattern at `at` */
	atomic_size_t at; /* how many patterns were matched, line by line */
	size_t count;     /* of lines */
	size_t ends[LINES_MAX];
	char text[TEXT_MAX + 1];
};

struct metric_matcher {
	const regex_t *const *patterns;
	size_t count;
	struct shared *shared; /* NULL: no memory for it */
	size_t shared_size;
	/* Behind it: */
	struct pattern_account *accounts;
	struct metric_match *found; /* by line, then by pattern */

	int socket; /* -1: no process */
	int process;
	bool asked;      /* a batch is in progress */
	size_t seen_at;  /* the progress when ... */
	int64_t seen_ms; /* ... the process was last seen to advance */
};

static_assert(TEXT_MAX >= METRIC_LINE_MAX, "a batch holds a line");

struct metric_matcher *metric_matcher_new(const regex_t *const *patterns,
					  size_t count)
{
	struct metric_matcher *matcher = mem_alloc(sizeof(*matcher));
	size_t accounts = (sizeof(struct shared) + 63) / 64 * 64;
	size_t found = accounts + count * sizeof(*matcher->accounts);
	size_t size = found + LINES_MAX * count * sizeof(*matcher->found);
	char *shared = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	matcher->patterns = patterns;
	matcher->count = count;
	matcher->socket = matcher->process = -1;
	matcher->shared_size = size;

	if (shared == MAP_FAILED)
		return matcher;
	matcher->shared = (void *)shared;
	matcher->accounts = (void *)(shared + accounts);
	matcher->found = (void *)(shared + found);
	for (size_t i = 0; i < count; i++)
		matcher->accounts[i].left_ns = MOST_NS;
	return matcher;
}

/* ---- a batch ------------------------------------------------------------ */

static size_t line_start(const struct shared *shared, size_t i)
{
	return i ? shared->ends[i - 1] : 0;
}

bool metric_matcher_add(struct metric_matcher *matcher, const char *text,
			size_t len)
{
	struct shared *shared = matcher->shared;
	size_t i, start;

	if (!shared)
		return false;
	i = shared->count;
	start = line_start(shared, i);
	if (i == LINES_MAX || len > TEXT_MAX - start)
		return false;
	memcpy(shared->text + start, text, len);
	shared->ends[i] = start + len;
	for (size_t k = 0; k < matcher->count; k++)
		matcher->found[i * matcher->count + k] =
			(struct metric_match){ -1, -1 };
	shared->count++;
	return true;
}

size_t metric_matcher_count(const struct metric_matcher *matcher)
{
	return matcher->shared ? matcher->shared->count : 0;
}

const char *metric_matcher_text(const struct metric_matcher *matcher, size_t i,
				size_t *len)
{
	size_t start = line_start(matcher->shared, i);

	*len = matcher->shared->ends[i] - start;
	return matcher->shared->text + start;
}

const struct metric_match *
metric_matcher_found(const struct metric_matcher *matcher, size_t i)
{
	return &matcher->found[i * matcher->count];
}

void metric_matcher_clear(struct metric_matcher *matcher)
{
	if (!matcher->shared)
		return;
	matcher->shared->count = 0;
	matcher->shared->at = 0;
}

/* ---- the process -------------------------------------------------------- */

static int64_t clock_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * 1000 * MS + time.tv_nsec;
}

/* Measures the time used for patterns.  Reading CPU time costs a system call,
 * and cannot yield more than the elapsed time. */
struct meter {
	int64_t began_ns;
	int64_t used_ns; /* CPU time when last read */
};

static int64_t meter_read(struct meter *meter)
{
	int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	int64_t passed_ns = now_ns - meter->began_ns;
	int64_t used_ns = meter->used_ns;

	meter->began_ns = now_ns;
	if (passed_ns < FILL_NS)
		return passed_ns;
	meter->used_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	used_ns = meter->used_ns - used_ns;
	return used_ns < passed_ns ? used_ns : passed_ns;
}

static void look_for(const struct metric_matcher *matcher, size_t line,
		     size_t pattern, struct meter *meter)
{
	struct shared *shared = matcher->shared;
	struct pattern_account *account = &matcher->accounts[pattern];
	size_t start = line_start(shared, line);
	regmatch_t found[2] = { 0 };
	int code;

	if (account->left_ns < 0) {
		account->missed++;
		return;
	}
	code = pattern_match(matcher->patterns[pattern], shared->text + start,
			     shared->ends[line] - start, 2, found, 0);
	account->left_ns -= meter_read(meter);
	if (code == 0 && found[1].rm_so >= 0)
		matcher->found[line * matcher->count + pattern] =
			(struct metric_match){ found[1].rm_so, found[1].rm_eo };
	else if (code == REG_ESPACE)
		account->missed++;
}

static void fill_accounts(const struct metric_matcher *matcher)
{
	for (size_t i = 0; i < matcher->count; i++) {
		struct pattern_account *account = &matcher->accounts[i];

		account->left_ns += FILL_NS;
		if (account->left_ns > MOST_NS)
			account->left_ns = MOST_NS;
	}
}

/* Starts at the current position: an earlier process may have ended within a
 * line. */
static void look_in_line(const struct metric_matcher *matcher, size_t line)
{
	const struct itimerval limit = { .it_value.tv_usec = LINE_MS * 1000L };
	struct shared *shared = matcher->shared;
	size_t end = (line + 1) * matcher->count;
	struct meter meter;

	if (shared->at == line * matcher->count)
		fill_accounts(matcher);
	/* SIGPROF may end the process while it matches. */
	setitimer(ITIMER_PROF, &limit, NULL);
	meter.used_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	meter.began_ns = clock_ns(CLOCK_MONOTONIC);
	shared->busy = true;
	for (; shared->at < end; shared->at++)
		look_for(matcher, line, shared->at % matcher->count, &meter);
	shared->busy = false;
}

static void serve(const struct metric_matcher *matcher)
{
	const struct itimerval none = { .it_value.tv_usec = 0 };
	struct shared *shared = matcher->shared;
	char token;

	while (read(STDIN_FILENO, &token, 1) == 1) {
		for (size_t i = shared->at / matcher->count; i < shared->count;
		     i++)
			look_in_line(matcher, i);
		setitimer(ITIMER_PROF, &none, NULL);
		if (send(STDIN_FILENO, &token, 1, MSG_NOSIGNAL) != 1)
			break;
	}
}

/* Runs in the child. */
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
	fd_close_from(STDIN_FILENO + 1);
	serve(matcher);
	_exit(0);
}

/* ---- and who asks it ---------------------------------------------------- */

/* Uses the pidfd: others may have reaped the process already, and its pid may
 * belong to another. */
static void stop(struct metric_matcher *matcher)
{
	siginfo_t info;

	if (matcher->socket < 0)
		return;
	close(matcher->socket);
	matcher->socket = -1;
	matcher->asked = false;
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
		close(ends[0]); /* the child exits when this closes */
		return false;
	}
	matcher->socket = ends[0];
	return true;
}

static bool ask(struct metric_matcher *matcher)
{
	char token = 0;

	if (matcher->asked)
		return true;
	matcher->shared->busy = false;
	matcher->asked = send(matcher->socket, &token, 1, MSG_NOSIGNAL) == 1;
	matcher->seen_at = matcher->shared->at;
	matcher->seen_ms = time_monotonic_ms();
	return matcher->asked;
}

/* Returns 1 when the process has answered, 0 if it is still working when the
 * time is up, and -1 if it has ended, or makes no progress. */
static int hear(struct metric_matcher *matcher, int64_t until_ms)
{
	struct pollfd it = { .fd = matcher->socket, .events = POLLIN };
	char token;

	for (;;) {
		int64_t now_ms = time_monotonic_ms();
		int64_t left_ms = matcher->seen_ms + SILENT_MS - now_ms;
		int ready;

		if (until_ms - now_ms < left_ms)
			left_ms = until_ms - now_ms;
		ready = poll(&it, 1, left_ms < 0 ? 0 : (int)left_ms);
		if (ready > 0) {
			matcher->asked = false;
			return recv(matcher->socket, &token, 1, 0) == 1 ? 1
									: -1;
		}
		now_ms = time_monotonic_ms();
		if (matcher->seen_at != matcher->shared->at) {
			matcher->seen_at = matcher->shared->at;
			matcher->seen_ms = now_ms;
		} else if (now_ms - matcher->seen_ms >= SILENT_MS) {
			return -1;
		}
		if (now_ms >= until_ms)
			return 0;
	}
}

/* Skips the current pattern for this line. */
static void give_up(struct metric_matcher *matcher, bool used)
{
	struct pattern_account *account =
		&matcher->accounts[matcher->shared->at % matcher->count];

	if (used)
		account->left_ns -= LINE_MS * MS;
	account->missed++;
	matcher->shared->at++;
}

bool metric_matcher_run(struct metric_matcher *matcher, int64_t wait_ms)
{
	int64_t until_ms =
		wait_ms < 0 ? INT64_MAX : time_monotonic_ms() + wait_ms;
	struct shared *shared = matcher->shared;
	size_t all = metric_matcher_count(matcher) * matcher->count;
	int ends = 0;

	while (shared && (shared->at < all || matcher->asked)) {
		int answer;

		if (matcher->socket < 0 && !start(matcher)) {
			give_up(matcher, false);
			continue;
		}
		answer = ask(matcher) ? hear(matcher, until_ms) : -1;
		if (answer >= 0)
			return answer;
		stop(matcher);
		/* Somebody killed it between two lines. */
		if (shared->at < all && (shared->busy || ends++))
			give_up(matcher, true);
	}
	return true;
}

uint64_t metric_matcher_missed(const struct metric_matcher *matcher,
			       size_t pattern)
{
	return matcher->shared ? matcher->accounts[pattern].missed : 0;
}
