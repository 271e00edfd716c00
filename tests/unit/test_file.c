/* SPDX-License-Identifier: Apache-2.0 */
/* Paths, files and folders. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/crc32c.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/repository.h"
#include "core/base/text.h"

static int set_up(void **state)
{
	char *folder = mem_strdup("/tmp/jobrun-file-XXXXXX");

	*state = folder;
	return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
	struct error err;
	int ret = folder_remove(*state, &err);

	free(*state);
	return ret;
}

/* The checksum of parts does not depend on how they are divided; the first
 * expected value is that of RFC 3720, B.4. */
static void checksums_of_parts_make_that_of_the_whole(void **state)
{
	static const size_t sizes[] = { 0,     1,     7,     8,
					24575, 24576, 24577, 24591,
					49151, 49152, 100003 };
	unsigned char *data = mem_alloc(100003);
	size_t i, j;

	(void)state;
	assert_int_equal(crc32c_add(0,
				    "\0\0\0\0\0\0\0\0"
				    "\0\0\0\0\0\0\0\0"
				    "\0\0\0\0\0\0\0\0"
				    "\0\0\0\0\0\0\0\0",
				    32),
			 0x8a9136aa);
	for (i = 0; i < 100003; i++)
		data[i] = (unsigned char)(i * i >> 3);
	for (i = 0; i < COUNT(sizes); i++) {
		uint32_t whole = crc32c_add(0, data, sizes[i]), parts = 0;

		for (j = 0; j < sizes[i]; j++)
			parts = crc32c_add(parts, data + j, 1);
		assert_int_equal(whole, parts);
		assert_int_equal(
			crc32c_join(crc32c_add(0, data, sizes[i] / 3),
				    crc32c_add(0, data + sizes[i] / 3,
					       sizes[i] - sizes[i] / 3),
				    sizes[i] - sizes[i] / 3),
			whole);
	}
	free(data);
}

static void paths_are_joined_and_split(void **state)
{
	static const struct {
		const char *folder, *name, *want;
	} joins[] = {
		{ "a", "b", "a/b" }, { "a/", "b", "a/b" },
		{ "/", "b", "/b" },  { "", "b", "b" },
		{ "a", "/b", "/b" }, { "a", "b/c", "a/b/c" },
	};
	static const struct {
		const char *path, *folder, *base;
	} splits[] = {
		{ "a/b.yaml", "a", "b.yaml" },
		{ "b", ".", "b" },
		{ "/b", "/", "b" },
		{ "/a/b/c", "/a/b", "c" },
		{ "a/", "a", "" },
	};
	char *text;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(joins); i++) {
		text = path_join(joins[i].folder, joins[i].name);
		assert_string_equal(text, joins[i].want);
		free(text);
	}
	for (i = 0; i < COUNT(splits); i++) {
		text = path_folder(splits[i].path);
		assert_string_equal(text, splits[i].folder);
		free(text);
		assert_string_equal(path_base(splits[i].path), splits[i].base);
	}
}

static void relative_paths_become_absolute(void **state)
{
	char *here = getcwd(NULL, 0);
	char *gone = path_join(*state, "gone");
	char *want = path_join(here, "a/b");
	char *text = path_absolute("./a/b");

	assert_string_equal(text, want);
	free(text);
	text = path_absolute("/a/b");
	assert_string_equal(text, "/a/b");
	free(text);
	assert_int_equal(mkdir(gone, 0700), 0);
	assert_int_equal(chdir(gone), 0);
	assert_int_equal(rmdir(gone), 0);
	text = path_absolute("a/b");
	assert_string_equal(text, "a/b");
	free(text);
	assert_int_equal(chdir(here), 0);
	free(want);
	free(gone);
	free(here);
}

static void files_are_read_up_to_a_limit(void **state)
{
	static const size_t sizes[] = { 0, 1, 4095, 4096, 4097, 100000 };
	char *path = path_join(*state, "f");
	struct error err;
	size_t i, j, len;
	char *data;

	for (i = 0; i < COUNT(sizes); i++) {
		const size_t limits[] = { sizes[i], sizes[i] + 1, 1 << 20,
					  SIZE_MAX };
		char *text = mem_alloc(sizes[i]);

		memset(text, 'x', sizes[i]);
		assert_int_equal(file_write(path, text, sizes[i], &err), 0);
		for (j = 0; j < COUNT(limits); j++) {
			len = 77;
			data = file_read(path, limits[j], &len, &err);
			assert_non_null(data);
			assert_int_equal(len, sizes[i]);
			assert_memory_equal(data, text, len);
			assert_int_equal(data[len], '\0');
			free(data);
		}
		if (sizes[i]) {
			len = 77;
			assert_null(file_read(path, sizes[i] - 1, &len, &err));
			assert_int_equal(err.code, ERROR_INVALID);
			assert_non_null(strstr(err.text, "' is larger than "));
			assert_int_equal(len, 77);
		}
		free(text);
	}
	free(path);
}

static void what_is_no_file_is_refused(void **state)
{
	struct error err;
	char want[256];
	size_t len;

	assert_null(file_read(*state, 100, &len, &err));
	snprintf(want, sizeof(want), "'%s' is a directory", (char *)*state);
	assert_string_equal(err.text, want);
	assert_null(file_read("/nowhere/f", 100, &len, &err));
	assert_string_equal(err.text, "cannot open '/nowhere/f': No such file "
				      "or directory");
	assert_null(file_read("/dev/zero", 100, &len, &err));
	assert_string_equal(err.text, "'/dev/zero' is a device, not a file");
}

static void pipes_are_read(void **state)
{
	struct error err;
	int pipes[2];
	size_t len;
	char *data;

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(fd_write(pipes[1], "hello", 5), 0);
	close(pipes[1]);
	data = file_read_fd(pipes[0], "-", 100, &len, &err);
	assert_string_equal(data, "hello");
	assert_int_equal(len, 5);
	free(data);
	close(pipes[0]);
}

static void files_are_replaced_whole(void **state)
{
	char *path = path_join(*state, "f");
	char *below = path_join(*state, "f/g");
	struct error err;
	struct stat st;
	size_t len;
	char *data;

	assert_int_equal(file_write(path, "old", 3, &err), 0);
	assert_int_equal(file_write(path, "new!", 4, &err), 0);
	data = file_read(path, 100, &len, &err);
	assert_string_equal(data, "new!");
	free(data);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(file_write(below, "x", 1, &err), -1);
	assert_true(text_ends(err.text, ": Not a directory"));
	/* A folder can't be replaced by a file, and no temporary file is
	 * left. */
	assert_int_equal(file_write(*state, "x", 1, &err), -1);
	assert_int_equal(fd_write(-1, "x", 1), -1);
	assert_int_equal(errno, EBADF);
	free(below);
	free(path);
}

static int folders_synced;

/* Replaces libc's function: notes whether it is a folder, then calls the real
 * one. */
int fsync(int fd)
{
	struct stat st;

	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
		folders_synced++;
	return (int)syscall(SYS_fsync, fd);
}

static void a_new_name_is_on_the_disk(void **state)
{
	char *path = path_join(*state, "file");
	struct error err;

	folders_synced = 0;
	assert_int_equal(file_write(path, "one", 3, &err), 0);
	assert_int_equal(folders_synced, 1);
	unlink(path);
	assert_int_equal(file_create(path, 0600, "two", 3, &err), 0);
	assert_int_equal(folders_synced, 2);
	free(path);
}

static void a_new_file_is_never_in_the_place_of_another(void **state)
{
	char *path = path_join(*state, "new");
	char *folder = path_join(*state, "a/b");
	struct error err = { 0 };
	struct stat st;
	mode_t before;
	char *text;
	size_t len;

	assert_int_equal(file_create(path, 0750, "one", 3, &err), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0750);
	assert_int_equal(file_create(path, 0640, "two", 3, &err), 1);
	text = file_read(path, 10, &len, &err);
	assert_string_equal(text, "one");
	free(text);
	/* A broken link counts as existing, too. */
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("nowhere", path), 0);
	assert_int_equal(file_create(path, 0640, "two", 3, &err), 1);
	assert_string_equal(err.text, "");

	before = umask(027);
	assert_int_equal(folder_make_mode(folder, 0777, &err), 0);
	umask(before);
	assert_int_equal(stat(folder, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0750);
	free(path);
	path = path_join(*state, "absent/new");
	assert_int_equal(file_create(path, 0640, "two", 3, &err), -1);
	assert_non_null(strstr(err.text, "cannot create"));
	free(folder);
	free(path);
}

static void folders_are_made_and_removed(void **state)
{
	static const char *const names[] = { "a",    "a/b/c", "a/b/c/",
					     "x//y", "./z",   "" };
	char outside[] = "/tmp/jobrun-outside-XXXXXX";
	char *path, *below;
	struct error err;
	struct stat st;
	size_t i;

	assert_non_null(mkdtemp(outside));
	for (i = 0; i < COUNT(names); i++) {
		path = path_join(*state, names[i]);
		assert_int_equal(folder_make(path, &err), 0);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_mode & 07777, 0700);
		free(path);
	}
	assert_int_equal(folder_make("/", &err), 0);
	assert_int_equal(folder_make("", &err), -1);

	path = path_join(*state, "a/file");
	assert_int_equal(file_write(path, "", 0, &err), 0);
	assert_int_equal(folder_make(path, &err), -1);
	assert_true(text_ends(err.text, "a/file': Not a directory"));
	below = path_join(path, "below");
	assert_int_equal(folder_make(below, &err), -1);
	free(below);
	free(path);

	/* A link is removed, but not its target. */
	path = path_join(*state, "a/out");
	assert_int_equal(symlink(outside, path), 0);
	free(path);
	path = path_join(*state, "a");
	assert_int_equal(folder_remove(path, &err), 0);
	assert_int_equal(stat(path, &st), -1);
	assert_int_equal(folder_remove(path, &err), 0);
	assert_int_equal(stat(outside, &st), 0);
	free(path);
	assert_int_equal(rmdir(outside), 0);
}

/* Opening other kinds of files does not block; a pipe of the shell has a
 * writer. */
static void nothing_but_files_is_opened(void **state)
{
	char *fifo = path_join(*state, "fifo");
	char shell[32];
	struct error err;
	int ends[2];
	size_t len;
	char *text;

	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_null(file_read(fifo, 16, &len, &err));
	assert_true(text_ends(err.text, "fifo' is a pipe, not a file"));
	assert_null(file_read_argument(fifo, 16, &len, &err));
	assert_int_equal(file_open("/dev/zero", &err), -1);
	assert_string_equal(err.text, "'/dev/zero' is a device, not a file");
	assert_int_equal(file_open(*state, &err), -1);
	assert_true(text_ends(err.text, "is a directory"));
	text = file_read("/dev/null", 16, &len, &err);
	assert_non_null(text);
	assert_int_equal(len, 0);
	free(text);

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "job", 3), 3);
	close(ends[1]);
	snprintf(shell, sizeof(shell), "/proc/self/fd/%d", ends[0]);
	assert_null(file_read(shell, 16, &len, &err));
	text = file_read_argument(shell, 16, &len, &err);
	assert_non_null(text);
	assert_string_equal(text, "job");
	free(text);
	close(ends[0]);
	free(fifo);
}

static void make(const char *folder, const char *name, const char *text)
{
	char *path = path_join(folder, name);
	char *parent = path_folder(path);
	struct error err;

	assert_int_equal(folder_make(parent, &err), 0);
	if (text)
		assert_int_equal(file_write(path, text, strlen(text), &err), 0);
	else
		assert_int_equal(folder_make(path, &err), 0);
	free(parent);
	free(path);
}

/* Checks which repository contains `folder`, below the test's folder; "-" means
 * none. */
static void expect_in(const char *base, const char *folder, const char *top,
		      const char *git, const char *common)
{
	struct repository found = { 0 };
	char *path = path_join(base, folder);
	size_t n = strlen(base) + 1;

	if (!repository_find(path, &found)) {
		assert_string_equal(top, "-");
	} else {
		assert_string_equal(found.top + n, top);
		assert_string_equal(found.git + n, git);
		assert_string_equal(found.common + n, common);
	}
	repository_done(&found);
	free(path);
}

static void repositories_are_found_by_their_git(void **state)
{
	char *home = getenv("HOME") ? mem_strdup(getenv("HOME")) : NULL;
	char *outer = path_join(*state, "outer");
	char *back = path_join(*state, "w/.git");

	make(*state, "plain/x", NULL);
	make(*state, "outer/.git", NULL);
	make(*state, "outer/jobs/a", NULL);
	make(*state, "outer/.git/modules/m/config",
	     "[core]\n\tworktree = ../../../m\n");
	make(*state, "outer/m/.git", "gitdir: ../.git/modules/m\n");
	make(*state, "outer/.git/worktrees/w/commondir", "../..\n");
	make(*state, "outer/.git/worktrees/w/gitdir", back);
	make(*state, "w/.git", "gitdir: ../outer/.git/worktrees/w\n");
	make(*state, "outer/thief/.git", "gitdir: ../.git/worktrees/w\n");
	make(*state, "w/sub", NULL);
	make(*state, "outer/odd/.git", "not a link");
	make(*state, "outer/lost/.git", "gitdir: nowhere\n");
	make(*state, "outer/trick/.git", "gitdir: /etc\n");
	expect_in(*state, "plain/x", "-", "", "");
	expect_in(*state, "plain/gone", "-", "", "");
	expect_in(*state, "outer", "outer", "outer/.git", "outer/.git");
	expect_in(*state, "outer/jobs/a", "outer", "outer/.git", "outer/.git");
	expect_in(*state, "outer/m", "outer/m", "outer/.git/modules/m",
		  "outer/.git/modules/m");
	expect_in(*state, "w/sub", "w", "outer/.git/worktrees/w", "outer/.git");
	expect_in(*state, "outer/odd", "outer", "outer/.git", "outer/.git");
	expect_in(*state, "outer/lost", "outer", "outer/.git", "outer/.git");
	expect_in(*state, "outer/thief", "outer", "outer/.git", "outer/.git");
	expect_in(*state, "outer/trick", "outer", "outer/.git", "outer/.git");
	setenv("HOME", outer, 1);
	expect_in(*state, "outer/jobs/a", "-", "", "");
	if (home)
		setenv("HOME", home, 1);
	else
		unsetenv("HOME");
	free(back);
	free(outer);
	free(home);
}

static void paths_are_made_relative(void **state)
{
	static const struct {
		const char *folder, *path, *want;
	} cases[] = {
		{ ".", "base/b", "base/b" },
		{ ".", "./../b", "../b" },
		{ "jobs", "base/b", "../base/b" },
		{ "jobs", "jobs/src", "src" },
		{ "jobs/x", "jobs/y/z", "../y/z" },
		{ "jobs/x", "jobsy/z", "../../jobsy/z" },
		{ "/a/b", "/a/c", "../c" },
		{ "a", "/b", "/b" },
		{ "../a", "b", "b" }, /* nobody knows where that is */
		{ "../a", "../b", "../b" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		char *got = path_relative(cases[i].folder, cases[i].path);

		assert_string_equal(got, cases[i].want);
		free(got);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(checksums_of_parts_make_that_of_the_whole),
		cmocka_unit_test(paths_are_joined_and_split),
		TEST(relative_paths_become_absolute),
		TEST(files_are_read_up_to_a_limit),
		TEST(what_is_no_file_is_refused),
		cmocka_unit_test(pipes_are_read),
		cmocka_unit_test(paths_are_made_relative),
		TEST(nothing_but_files_is_opened),
		TEST(repositories_are_found_by_their_git),
		TEST(files_are_replaced_whole),
		TEST(a_new_name_is_on_the_disk),
		TEST(a_new_file_is_never_in_the_place_of_another),
		TEST(folders_are_made_and_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
