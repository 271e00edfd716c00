/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/clock.h"
#include "core/data/tree.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/data/ignore.h"
#include "tests/support/skip.h"

struct place {
	char folder[64];
	struct arena *mem;
};

static int set_up(void **state)
{
	struct place *at = mem_alloc(sizeof(*at));

	strcpy(at->folder, "/tmp/jobrun-tree-XXXXXX");
	if (!mkdtemp(at->folder))
		return -1;
	at->mem = arena_new();
	*state = at;
	return 0;
}

static int tear_down(void **state)
{
	struct place *at = *state;
	struct error err;
	int ret = folder_remove(at->folder, &err);

	arena_free(at->mem);
	free(at);
	return ret;
}

/* Makes a file, or a folder if the name ends in a slash, and the folders above
 * it. */
static void put(struct place *at, const char *name, const char *text)
{
	char *path = path_join(at->folder, name);
	char *folder = path_folder(path);
	struct error err = { 0 };

	assert_int_equal(folder_make(folder, &err), 0);
	if (!text_ends(name, "/"))
		assert_int_equal(file_write(path, text, strlen(text), &err), 0);
	free(folder);
	free(path);
}

static struct tree read_it(struct place *at)
{
	struct tree tree = { 0 };
	struct error err = { 0 };

	tree_read(at->folder, NULL, at->mem, &tree, &err);
	assert_string_equal(err.text, "");
	return tree;
}

/* Returns the paths in a tree, one per line. */
static char *list(struct place *at)
{
	struct tree tree = read_it(at);
	struct buf out = { 0 };
	size_t i;

	for (i = 0; i < tree.count; i++)
		buf_printf(&out, "%s\n", tree.entries[i].path);
	return buf_take(&out);
}

static void make_sample(struct place *at)
{
	char path[128];

	put(at, "train.py", "print('hello')\n");
	put(at, "run.sh", "#!/bin/sh\n");
	put(at, "pkg/__init__.py", "");
	put(at, "pkg-2", "x");
	put(at, "pkg/data/empty/", NULL);
	snprintf(path, sizeof(path), "%s/run.sh", at->folder);
	assert_int_equal(chmod(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/link", at->folder);
	assert_int_equal(symlink("pkg/nowhere", path), 0);
	/* None of these files counts. */
	put(at, "pkg/.git/HEAD", "ref: refs/heads/main\n");
	put(at, "pkg/__pycache__/a.cpython-312.pyc", "junk");
	put(at, "old.pyc", "junk");
	snprintf(path, sizeof(path), "%s/pipe", at->folder);
	assert_int_equal(mkfifo(path, 0600), 0);
}

static void entries_are_sorted_and_whole(void **state)
{
	struct place *at = *state;
	struct tree tree;

	make_sample(at);
	tree = read_it(at);
	assert_int_equal(tree.count, 6);
	assert_string_equal(tree.entries[0].path, "link");
	assert_int_equal(tree.entries[0].kind, TREE_LINK);
	assert_string_equal(tree.entries[0].target, "pkg/nowhere");
	assert_string_equal(tree.entries[0].digest.hex, "");
	assert_string_equal(tree.entries[1].path, "pkg-2"); /* '-' < '/' */
	assert_string_equal(tree.entries[2].path, "pkg/__init__.py");
	assert_int_equal(tree.entries[2].size_bytes, 0);
	assert_string_equal(tree.entries[3].path, "pkg/data/empty");
	assert_int_equal(tree.entries[3].kind, TREE_FOLDER);
	assert_string_equal(tree.entries[4].path, "run.sh");
	assert_true(tree.entries[4].executable);
	assert_string_equal(tree.entries[5].path, "train.py");
	assert_int_equal(tree.entries[5].kind, TREE_FILE);
	assert_false(tree.entries[5].executable);
	assert_int_equal(tree.entries[5].size_bytes, 15);
	assert_null(tree.entries[5].target);
	/* The digest by sha256sum. */
	assert_string_equal(tree.entries[5].digest.hex,
			    "03e693d9f2f687e0f40e36a8df7fcb4d"
			    "1c22974012b7c2a55c000eb30f305824");
	assert_int_equal(tree.files, 4);
	assert_int_equal(tree.bytes, 15 + 10 + 1);
	/* This must never change: another digest would run every job again. */
	assert_string_equal(tree.digest.hex,
			    "bb6b3dea1ffaf65940005e443a2e27bb"
			    "772471ce13563d15a0ddc1e727459b9c");
}

static void only_what_counts_changes_the_digest(void **state)
{
	static const struct {
		const char *command;
		bool changes;
	} cases[] = {
		{ "true", false },
		{ "touch -d 2001-01-01 train.py", false },
		{ "chmod 600 train.py; chmod 700 pkg; chmod 744 run.sh",
		  false },
		{ "cp train.py new; mv new train.py", false },
		{ "echo x >pkg/.git/new; echo x >pkg/__pycache__/new", false },
		{ "rm pipe; mkfifo pipe2", false },
		{ "printf x >>train.py", true },
		{ "chmod +x train.py", true },
		{ "chmod -x run.sh", true },
		{ "mv train.py main.py", true },
		{ "ln -sf pkg/there link", true },
		{ "rm link; printf pkg/nowhere >link", true },
		{ "rmdir pkg/data/empty", true },
		{ "rmdir pkg/data/empty; >pkg/data/empty", true },
		{ "mkdir more", true },
		{ "mkdir more; >more/.git", true }, /* counts as empty */
		{ ">new", true },
		{ "rm old.pyc", false },
		{ "rm pkg-2", true },
		{ "echo data >.jobrunignore", true },
	};
	struct place *at = *state;
	struct tree before, after;
	struct error err;
	char line[256];
	size_t i;

	for (i = 0; i < COUNT(cases); i++) {
		make_sample(at);
		before = read_it(at);
		snprintf(line, sizeof(line), "cd %s && { %s; }", at->folder,
			 cases[i].command);
		assert_int_equal(system(line), 0);
		after = read_it(at);
		if (cases[i].changes ==
		    !strcmp(before.digest.hex, after.digest.hex))
			fail_msg("%s", cases[i].command);
		assert_int_equal(folder_remove(at->folder, &err), 0);
		assert_int_equal(mkdir(at->folder, 0700), 0);
	}
}

static void the_ignore_file_is_read(void **state)
{
	struct place *at = *state;
	char *names;

	put(at, "a.log", "");
	put(at, "sub/b.log", "");
	put(at, "sub/keep.log", "");
	put(at, "data/big", "");
	put(at, "sub/data/small", "");
	put(at, "out/x", "");
	put(at, "sub/out", "");
	put(at, ".jobrunignore", "# logs\n*.log\r\n!keep.log\n/data\nout/\n");
	names = list(at);
	assert_string_equal(names, ".jobrunignore\nsub/data/small\n"
				   "sub/keep.log\nsub/out\n");
	free(names);
}

static const struct ignore *patterns_of(struct place *at, const char *text,
					struct error *err)
{
	return ignore_put(ignore_built_in(at->mem, err), "", text, strlen(text),
			  "f", at->mem, err);
}

static bool is_out(const struct ignore *ignore, const char *path,
		   bool is_folder)
{
	uint64_t steps = 0;

	return ignore_decide(ignore, path, is_folder, &steps) == IGNORE_OUT;
}

static void patterns_match(void **state)
{
	static const struct {
		const char *patterns, *path;
		bool match;
	} cases[] = {
		{ "", "a", false },
		{ "", ".git", true },
		{ "", "x/.git", true },
		{ "", "a.pyc", true },
		{ "", ".gitignore", false },
		{ "!.git", ".git", false },
		{ "a", "a", true },
		{ "a", "x/y/a", true },
		{ "a", "ab", false },
		{ "/a", "a", true },
		{ "/a", "x/a", false },
		{ "x/a", "x/a", true },
		{ "x/a", "y/x/a", false },
		{ "a*", "abc", true },
		{ "*", "x/a", true },
		{ "/*", "x/a", false },
		{ "x/*", "x/a", true },
		{ "x/*", "x/y/a", false },
		{ "x?y", "x/y", false },
		{ "x/**", "x/y/a", true },
		{ "x/**", "x", false },
		{ "**/a", "a", true },
		{ "**/a", "x/y/a", true },
		{ "**/a", "x/y/b", false },
		{ "x/**/a", "x/a", true },
		{ "x/**/a", "x/1/2/a", true },
		{ "x/**/a", "y/1/a", false },
		{ "x/**/b/**/a", "x/b/b/1/a", true },
		{ "x/**/b/**/a", "x/b/1/2", false },
		{ "**/**/a", "a", true },
		{ "[ab].c", "b.c", true },
		{ "[!ab].c", "b.c", false },
		{ "\\#a", "#a", true },
		{ "#a", "#a", false },
		{ "\\!a", "!a", true },
		{ "a  ", "a", true },
		{ "a\\ ", "a ", true },
		{ "  ", "a", false },
		{ "/", "a", false },
		{ "*.x\n!b.x", "a.x", true },
		{ "*.x\n!b.x", "b.x", false },
		{ "!b.x\n*.x", "b.x", true },
	};
	struct place *at = *state;
	struct error err = { 0 };
	size_t i;

	for (i = 0; i < COUNT(cases); i++) {
		const struct ignore *ignore =
			patterns_of(at, cases[i].patterns, &err);

		assert_non_null(ignore);
		if (is_out(ignore, cases[i].path, false) != cases[i].match)
			fail_msg("'%s' '%s'", cases[i].patterns, cases[i].path);
	}
	assert_true(is_out(patterns_of(at, "a/", &err), "a", true));
	assert_false(is_out(patterns_of(at, "a/", &err), "a", false));
}

/* Many "**" on a long path are matched quickly. */
static void patterns_are_quick(void **state)
{
	struct place *at = *state;
	struct buf pattern = { 0 }, path = { 0 };
	struct error err = { 0 };
	const struct ignore *ignore;
	int64_t start;
	int i;

	for (i = 0; i < 30; i++)
		buf_puts(&pattern, "**/a/");
	buf_puts(&pattern, "b");
	for (i = 0; i < 500; i++)
		buf_puts(&path, "a/");
	buf_puts(&path, "c");
	ignore = patterns_of(at, pattern.data, &err);
	assert_non_null(ignore);
	start = time_monotonic_ms();
	assert_false(is_out(ignore, path.data, false));
	assert_in_range(time_monotonic_ms() - start, 0, 20000);
	buf_done(&pattern);
	buf_done(&path);
}

static void patterns_have_limits(void **state)
{
	struct place *at = *state;
	struct buf text = { 0 };
	struct error err = { 0 };
	int i;

	buf_fill(&text, '\n', 1);
	buf_fill(&text, 'x', 1025);
	assert_null(patterns_of(at, text.data, &err));
	assert_string_equal(err.text,
			    "line 2 of 'f' is longer than 1024 bytes");
	buf_clear(&text);
	for (i = 0; i < 4000; i++)
		buf_puts(&text, "x\n");
	assert_null(patterns_of(at, text.data, &err));
	assert_string_equal(err.text, "'f' and what it adds to have more than "
				      "4000 patterns");
	buf_done(&text);
}

static void what_fails_is_named(void **state)
{
	struct place *at = *state;
	struct tree tree = { .count = 77 };
	struct error err = { 0 };
	struct buf name = { 0 };
	char want[256];
	int i;

	assert_int_equal(tree_read("/nowhere/src", NULL, at->mem, &tree, &err),
			 -1);
	assert_string_equal(err.text, "cannot read '/nowhere/src': No such "
				      "file or directory");
	put(at, "file", "");
	snprintf(want, sizeof(want), "%s/file", at->folder);
	assert_int_equal(tree_read(want, NULL, at->mem, &tree, &err), -1);
	assert_true(text_ends(err.text, "/file': Not a directory"));

	for (i = 0; i < 65; i++)
		buf_puts(&name, "d/");
	put(at, name.data, NULL);
	assert_int_equal(tree_read(at->folder, NULL, at->mem, &tree, &err), -1);
	assert_true(text_ends(err.text, "d' is more than 64 folders deep"));
	assert_int_equal(tree.count, 77);
	put(at, ".jobrunignore", "d\n");
	assert_int_equal(tree_read(at->folder, NULL, at->mem, &tree, &err), 0);
	assert_int_equal(tree.count, 2);
	buf_done(&name);
}

static void what_may_not_be_read_is_named(void **state)
{
	struct place *at = *state;
	char path[128], want[256];
	int status;

	put(at, "sub/secret", "x");
	snprintf(path, sizeof(path), "%s/sub/secret", at->folder);
	snprintf(want, sizeof(want), "cannot read '%s': Permission denied",
		 path);
	assert_int_equal(chmod(path, 0), 0);
	snprintf(path, sizeof(path), "%s/sub", at->folder);
	assert_int_equal(chmod(path, 0755), 0);
	assert_int_equal(chmod(at->folder, 0755), 0);
	if (fork() == 0) {
		struct error err = { 0 };
		struct tree tree;

		if (geteuid() == 0 && setresuid(65534, 65534, 65534) < 0)
			_exit(77);
		if (tree_read(at->folder, NULL, at->mem, &tree, &err) == 0 ||
		    err.code != ERROR_DENIED || strcmp(err.text, want) != 0)
			_exit(1);
		_exit(0);
	}
	assert_true(wait(&status) > 0);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip_because(__func__, "cannot be another user");
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void a_link_to_the_folder_is_followed(void **state)
{
	struct place *at = *state;
	struct tree direct, linked;
	struct error err = { 0 };
	char path[128];

	put(at, "real/a", "1");
	put(at, "real/b", "2");
	snprintf(path, sizeof(path), "%s/real", at->folder);
	assert_int_equal(tree_read(path, NULL, at->mem, &direct, &err), 0);
	snprintf(path, sizeof(path), "%s/link", at->folder);
	assert_int_equal(symlink("real", path), 0);
	assert_int_equal(tree_read(path, NULL, at->mem, &linked, &err), 0);
	assert_string_equal(direct.digest.hex, linked.digest.hex);
	assert_int_equal(linked.files, 2);
	/* A link below the source is not followed. */
	assert_int_equal(read_it(at).count, 3);
}

/* What is shipped is what was read, or nothing. */
static void a_link_that_was_swapped_in_is_not_followed(void **state)
{
	struct place *at = *state;
	char *sub = path_join(at->folder, "src/sub");
	char *src = path_join(at->folder, "src");
	char *gone = path_join(at->folder, "gone");
	struct error err = { 0 };
	struct tree tree;
	int fd;

	put(at, "src/sub/a", "1");
	put(at, "out/a", "1");
	assert_int_equal(tree_read(src, NULL, at->mem, &tree, &err), 0);
	assert_int_equal(tree.count, 1);
	fd = tree_open_file(tree.folder, &tree.entries[0], &err);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(rename(sub, gone), 0);
	assert_int_equal(symlink("../out", sub), 0);
	assert_int_equal(tree_open_file(tree.folder, &tree.entries[0], &err),
			 -1);
	free(gone);
	free(src);
	free(sub);
}

static void an_empty_folder_is_a_tree(void **state)
{
	struct tree tree = read_it(*state);

	assert_int_equal(tree.count, 0);
	assert_int_equal(strlen(tree.digest.hex), 64);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(entries_are_sorted_and_whole),
		TEST(only_what_counts_changes_the_digest),
		TEST(the_ignore_file_is_read),
		TEST(patterns_match),
		TEST(patterns_are_quick),
		TEST(patterns_have_limits),
		TEST(what_fails_is_named),
		TEST(what_may_not_be_read_is_named),
		TEST(a_link_to_the_folder_is_followed),
		TEST(a_link_that_was_swapped_in_is_not_followed),
		TEST(an_empty_folder_is_a_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
