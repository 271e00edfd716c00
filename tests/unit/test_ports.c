/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/text.h"
#include "core/process/ports.h"

static void leases_are_apart_until_returned(void **state)
{
	struct port_leases *a, *b;
	struct error err;
	int first[3], second[2], third[2];

	(void)state;
	a = ports_lease(21000, 3, first, &err);
	assert_non_null(a);
	assert_true(21000 <= first[0] && first[0] < first[1] &&
		    first[1] < first[2]);
	b = ports_lease(21000, 2, second, &err);
	assert_non_null(b);
	assert_true(second[0] > first[2]);
	ports_return(a);
	a = ports_lease(21000, 2, third, &err);
	assert_int_equal(third[0], first[0]);
	ports_return(a);
	ports_return(b);
}

static void a_port_in_use_is_passed_over(void **state)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(to);
	struct port_leases *leases;
	struct error err;
	int port;

	(void)state;
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	assert_int_equal(listen(fd, 1), 0);
	getsockname(fd, (struct sockaddr *)&to, &len);
	leases = ports_lease(ntohs(to.sin_port), 1, &port, &err);
	assert_non_null(leases);
	assert_true(port > ntohs(to.sin_port));
	ports_return(leases);
	close(fd);
}

/* A killed process gives back its ports, whatever store it used. */
static void a_lease_ends_with_its_process(void **state)
{
	struct port_leases *leases;
	struct error err;
	int theirs, ours, ready[2];
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		leases = ports_lease(22500, 1, &theirs, &err);
		if (!leases || write(ready[1], &theirs, sizeof(theirs)) < 0)
			_exit(1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &theirs, sizeof(theirs)),
			 sizeof(theirs));
	leases = ports_lease(22500, 1, &ours, &err);
	assert_true(ours > theirs);
	ports_return(leases);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	leases = ports_lease(22500, 1, &ours, &err);
	assert_int_equal(ours, theirs);
	ports_return(leases);
	close(ready[0]);
	close(ready[1]);
}

static void too_many_are_refused(void **state)
{
	struct error err;
	int ports[10];

	(void)state;
	assert_null(ports_lease(65530, 10, ports, &err));
	assert_int_equal(err.code, ERROR_TRY_AGAIN);
	assert_true(text_starts(err.text, "need 10 free ports from 65530 up on "
					  "127.0.0.1, found "));
}

/* The message is about descriptors, not about ports. */
static void too_few_descriptors_are_said(void **state)
{
	struct rlimit before, few;
	struct error err;
	int ports[100];
	int next = dup(0);

	(void)state;
	close(next);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	few.rlim_cur = (rlim_t)next + 20;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_null(ports_lease(21000, 100, ports, &err));
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_true(text_starts(err.text, "cannot lease port "));
	assert_true(text_ends(err.text, ": Too many open files"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leases_are_apart_until_returned),
		cmocka_unit_test(a_port_in_use_is_passed_over),
		cmocka_unit_test(a_lease_ends_with_its_process),
		cmocka_unit_test(too_many_are_refused),
		cmocka_unit_test(too_few_descriptors_are_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
