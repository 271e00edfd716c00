/* SPDX-License-Identifier: Apache-2.0 */
/* Leases of devices, the order of those that wait for them, and what tasks
 * see of theirs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/environment.h"
#include "core/base/file.h"
#include "core/device/lease.h"
#include "core/device/ticket.h"
#include "core/spec/spec.h"
#include "tests/support/skip.h"

static char *folder;

static int set_up(void **state)
{
	char template[] = "/tmp/test_lease.XXXXXX";

	(void)state;
	folder = mem_strdup(mkdtemp(template));
	return 0;
}

static int tear_down(void **state)
{
	struct error err;

	(void)state;
	unsetenv("JOBRUN_LOCK_DIR");
	assert_int_equal(folder_remove(folder, &err), 0);
	free(folder);
	return 0;
}

static void one_holder_of_each(void **state)
{
	struct error err = { 0 };
	int one, two, copy;

	(void)state;
	one = lease_open(folder, &err);
	two = lease_open(folder, &err);
	assert_true(one >= 0 && two >= 0);
	assert_true(lease_take(one, "0000:0a:00.0"));
	assert_false(lease_take(two, "0000:0a:00.0"));
	assert_true(lease_is_taken(two, "0000:0a:00.0"));
	assert_false(lease_is_taken(one, "0000:0a:00.0"));
	assert_true(lease_take(two, "0000:0b:00.0"));
	/* Held until the last copy of it is closed. */
	copy = dup(one);
	close(one);
	assert_true(lease_is_taken(two, "0000:0a:00.0"));
	close(copy);
	assert_false(lease_is_taken(two, "0000:0a:00.0"));
	one = lease_open(folder, &err);
	lease_drop_all(two);
	assert_false(lease_is_taken(one, "0000:0b:00.0"));
	close(one);
	close(two);
}

static void folder_is_for_all_or_of_ones_own(void **state)
{
	char *shared = path_join(folder, "shared");
	char *bad = path_join(folder, "link");
	struct arena *mem = arena_new();
	const char *path, *note;
	struct error err = { 0 };
	struct stat st;

	(void)state;
	setenv("JOBRUN_LOCK_DIR", shared, 1);
	assert_int_equal(lease_folder(folder, mem, &path, &note, &err), 0);
	assert_string_equal(path, shared);
	assert_null(note);
	assert_int_equal(stat(shared, &st), 0);
	assert_int_equal(st.st_mode & 07777, 01777);
	close(lease_open(path, &err));
	free(shared);
	shared = path_join(path, "devices");
	assert_int_equal(stat(shared, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0666);
	/* Not where a link leads. */
	assert_int_equal(symlink(path, bad), 0);
	setenv("JOBRUN_LOCK_DIR", bad, 1);
	assert_int_equal(lease_folder(folder, mem, &path, &note, &err), -1);
	assert_int_equal(unlink(shared), 0);
	assert_int_equal(symlink("/etc/passwd", shared), 0);
	free(bad);
	bad = path_folder(shared);
	assert_int_equal(lease_open(bad, &err), -1);
	arena_free(mem);
	free(bad);
	free(shared);
}

/* Returns its descriptor, and its name to be freed. */
static int ticket(int at, int64_t time_ms, long priority, char **name)
{
	struct error err = { 0 };
	int fd;

	*name = ticket_name(time_ms, priority, "j.1");
	fd = ticket_make(at, *name, &err);
	assert_true(fd >= 0);
	return fd;
}

static void order_is_of_arrival_and_then_priority(void **state)
{
	int at, fds[3];
	char *names[3];
	struct error err = { 0 };

	(void)state;
	at = lease_open_folder(folder, &err);
	fds[0] = ticket(at, 1000, 0, &names[0]);
	fds[1] = ticket(at, 2000, 0, &names[1]);
	fds[2] = ticket(at, 3000, 5, &names[2]);
	assert_int_equal(tickets_before(at, names[2]), 0);
	assert_int_equal(tickets_before(at, names[0]), 1);
	assert_int_equal(tickets_before(at, names[1]), 2);
	/* The dead one is nobody's hindrance, and is cleaned up. */
	close(fds[0]);
	assert_int_equal(tickets_before(at, names[1]), 1);
	assert_int_equal(faccessat(at, names[0], F_OK, 0), -1);
	close(fds[1]);
	close(fds[2]);
	close(at);
	for (int i = 0; i < 3; i++)
		free(names[i]);
}

/* Neither the name of another user's nor its priority puts it before ours. */
static void names_of_others_decide_nothing(void **state)
{
	struct error err = { 0 };
	char *ours, *theirs;
	int at, one, two;

	(void)state;
	if (geteuid() != 0)
		skip_because(__func__, "only root can be two users");
	at = lease_open_folder(folder, &err);
	one = ticket(at, 1000, 0, &ours);
	two = ticket(at, 1, 1000, &theirs);
	assert_int_equal(fchown(two, 65534, (gid_t)-1), 0);
	assert_int_equal(tickets_before(at, ours), 0);
	close(one);
	free(ours);
	/* It came later than theirs was made. */
	one = ticket(at, INT64_C(99999999999999), 1000, &ours);
	assert_int_equal(tickets_before(at, ours), 1);
	close(one);
	close(two);
	close(at);
	free(ours);
	free(theirs);
}

/* However many runs of another user were killed in the queue. */
static void the_dead_of_others_are_in_nobodys_way(void **state)
{
	struct error err = { 0 };
	char *ours, *theirs;
	int at, one, two;

	(void)state;
	if (geteuid() != 0)
		skip_because(__func__, "only root can be two users");
	at = lease_open_folder(folder, &err);
	for (int i = 0; i < 40; i++) {
		two = ticket(at, i + 1, 0, &theirs);
		assert_int_equal(fchown(two, 65534, (gid_t)-1), 0);
		close(two);
		free(theirs);
	}
	one = ticket(at, INT64_C(99999999999999), 0, &ours);
	assert_int_equal(tickets_before(at, ours), 0);
	close(one);
	close(at);
	free(ours);
}

static void tasks_see_their_machines_devices(void **state)
{
	static const char *ids[] = { "0", "2", "3" };
	struct task_place tasks[] = {
		{ .type = TASK_MASTER, .host = "a" },
		{ .type = TASK_WORKER, .host = "a", .beside = true },
		{ .type = TASK_WORKER, .index = 1, .host = "a" },
		{ .type = TASK_PS, .host = "a" },
	};
	static const char *const seen[] = { "0,2", "0,2", "3", "" };
	struct pair hip = { .name = "HIP_VISIBLE_DEVICES", .value = "0" };
	struct run_spec spec = {
		.topology = { .tasks = tasks, .count = COUNT(tasks) },
		.devices = { .folder = "/x",
			     .vendor = "amd",
			     .first = 2,
			     .each = 1,
			     .held = { .items = ids, .count = COUNT(ids) } },
	};
	size_t i;

	(void)state;
	topology_rank(&spec.topology);
	assert_int_equal(spec_devices_needed(&spec), 3);
	for (i = 0; i < COUNT(tasks); i++) {
		struct environment env = { 0 };

		spec.devices.vendor = "nvidia";
		spec_devices_environment(&spec, i, &env);
		assert_string_equal(
			environment_get(&env, "CUDA_VISIBLE_DEVICES"), seen[i]);
		assert_string_equal(environment_get(&env, "CUDA_DEVICE_ORDER"),
				    "PCI_BUS_ID");
		assert_null(environment_get(&env, "ROCR_VISIBLE_DEVICES"));
		spec.devices.vendor = "amd";
		spec_devices_environment(&spec, i, &env);
		assert_string_equal(
			environment_get(&env, "ROCR_VISIBLE_DEVICES"), seen[i]);
		assert_null(environment_get(&env, "HIP_VISIBLE_DEVICES"));
		environment_done(&env);
	}
	spec.env.items = &hip;
	spec.env.count = 1;
	for (i = 0; i < COUNT(tasks); i++) {
		struct environment env = { 0 };

		spec_devices_environment(&spec, i, &env);
		assert_null(environment_get(&env, "ROCR_VISIBLE_DEVICES"));
		environment_done(&env);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_holder_of_each, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			folder_is_for_all_or_of_ones_own, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			order_is_of_arrival_and_then_priority, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(names_of_others_decide_nothing,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			the_dead_of_others_are_in_nobodys_way, set_up,
			tear_down),
		cmocka_unit_test(tasks_see_their_machines_devices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
