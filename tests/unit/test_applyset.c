/* SPDX-License-Identifier: Apache-2.0 */
/* The name of a set, which decides what jobs pruning may delete. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/apply/applyset.h"
#include "core/job/origin.h"
#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/store/store.h"

struct place {
	char folder[64];
};

static int set_up(void **state)
{
	struct place *at = mem_alloc(sizeof(*at));

	strcpy(at->folder, "/tmp/test_applyset.XXXXXX");
	assert_non_null(mkdtemp(at->folder));
	setenv("JOBRUN_STATE_DIR", at->folder, 1);
	*state = at;
	return 0;
}

static int tear_down(void **state)
{
	struct place *at = *state;
	struct error err;

	assert_int_equal(folder_remove(at->folder, &err), 0);
	free(at);
	return 0;
}

static char *below(const struct place *at, const char *name)
{
	return mem_printf("%s/%s", at->folder, name);
}

/* Writes a file with the folders above it. */
static void put(const struct place *at, const char *name, const char *text)
{
	char *path = below(at, name);
	char *folder = path_folder(path);
	struct error err;

	assert_int_equal(folder_make(folder, &err), 0);
	assert_int_equal(file_write(path, text, strlen(text), &err), 0);
	free(folder);
	free(path);
}

static char *name_of(const struct place *at, const char *directory)
{
	char *path = below(at, directory);
	struct error err = { 0 };
	char *name;

	assert_int_equal(folder_make(path, &err), 0);
	name = applyset_of(path, &err);
	if (!name)
		print_message("%s\n", err.text);
	free(path);
	return name;
}

static void assert_name(const struct place *at, const char *directory,
			const char *want)
{
	char *name = name_of(at, directory);

	assert_non_null(name);
	assert_string_equal(name, want);
	free(name);
}

static void remotes_are_one_however_they_are_reached(void **state)
{
	static const struct {
		const char *url, *want;
	} cases[] = {
		{ "https://github.com/org/repo.git", "github.com/org/repo" },
		{ "https://github.com/org/repo", "github.com/org/repo" },
		{ "https://github.com/org/repo/", "github.com/org/repo" },
		{ "git@github.com:org/repo.git", "github.com/org/repo" },
		{ "github.com:org/repo", "github.com/org/repo" },
		{ "ssh://git@GitHub.com:22/org/repo.git",
		  "github.com/org/repo" },
		{ "https://me:s3cr3t@github.com/org/repo.git",
		  "github.com/org/repo" },
		{ "https://x-access-token:t@ken@github.com/org/repo",
		  "github.com/org/repo" },
		{ "https://github.com/org/repo?token=s3cr3t",
		  "github.com/org/repo" },
		{ "https://github.com/org/Other", "github.com/org/Other" },
		{ "/srv/git/repo.git", NULL },
		{ "../repo.git", NULL },
		{ "file:///srv/git/repo.git", NULL },
		{ "./a:b", NULL },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		char *got = origin_remote(cases[i].url);

		if (cases[i].want)
			assert_string_equal(got ? got : "(path)",
					    cases[i].want);
		else
			assert_null(got);
		free(got);
	}
}

static void labels_stand_for_origins(void **state)
{
	static const char *const origins[] = {
		"git:github.com/Org/repo//jobs",
		"git:github.com/Org/repo//jobs/very/deep/folders/"
		"that/no/label/has/room/for/at/all",
		"dir:/home/m\xc3\xa9/jobs",
		"",
	};
	char label[ORIGIN_LABEL_MAX], other[ORIGIN_LABEL_MAX];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(origins); i++) {
		origin_label(origins[i], label);
		assert_in_range(strlen(label), 1, 63);
		assert_int_equal(
			strspn(label, "abcdefghijklmnopqrstuvwxyz0123456789-_"),
			strlen(label));
		assert_true(origin_is_same(origins[i], label));
		assert_true(origin_is_same(label, origins[i]));
	}
	/* The two labels look alike as far as letters go. */
	origin_label("dir:/a/b", label);
	origin_label("dir:/a_b", other);
	assert_string_not_equal(label, other);
	assert_false(origin_is_same("dir:/a/b", other));
	assert_false(origin_is_same("dir:/a/b", "dir:/a/B"));
	/* An unknown origin belongs to nobody else. */
	assert_true(origin_is_same(NULL, "dir:/a"));
	assert_true(origin_is_same("dir:/a", ""));
}

static void clones_have_one_name_and_directories_their_own(void **state)
{
	struct place *at = *state;

	put(at, "a/.git/config",
	    "[core]\n\tbare = false\n[remote \"up\"]\n\turl = x:y\n"
	    "[remote \"origin\"]\n\tfetch = +refs\n"
	    "\turl = git@github.com:org/repo.git\n");
	put(at, "b/.git/config",
	    "[remote \"origin\"]\n\turl = \"https://github.com/org/repo\"\r\n");
	assert_name(at, "a/jobs", "git:github.com/org/repo//jobs");
	assert_name(at, "b/jobs", "git:github.com/org/repo//jobs");
	assert_name(at, "b/jobs/deep", "git:github.com/org/repo//jobs/deep");
	assert_name(at, "a", "git:github.com/org/repo//");
}

static void linked_work_trees_and_submodules_are_followed(void **state)
{
	struct place *at = *state;
	char *link = mem_printf("gitdir: %s/a/.git/worktrees/w\n", at->folder);
	char *back = mem_printf("%s/w/.git\n", at->folder);

	put(at, "a/.git/config", "[remote \"origin\"]\nurl = h:a\n");
	put(at, "a/.git/worktrees/w/commondir", "../..\n");
	put(at, "a/.git/worktrees/w/gitdir", back);
	put(at, "w/.git", link);
	put(at, "a/.git/modules/s/config",
	    "[core]\nworktree = ../../../s\n[remote \"origin\"]\nurl = h:s\n");
	put(at, "a/s/.git", "gitdir: ../.git/modules/s\n");
	assert_name(at, "w/jobs", "git:h/a//jobs");
	assert_name(at, "a/s/jobs", "git:h/s//jobs");
	free(back);
	free(link);
}

/* Two repositories may be at one path, one after the other. */
static void a_path_alone_is_never_a_name(void **state)
{
	struct place *at = *state;
	char *one, *other, *path = below(at, "src");
	struct error err;

	one = name_of(at, "src/jobs");
	other = name_of(at, "src/jobs");
	assert_string_equal(one, other);
	free(other);
	assert_int_equal(folder_remove(path, &err), 0);
	other = name_of(at, "src/jobs");
	assert_string_not_equal(one, other);
	free(one);
	free(other);

	/* A remote that is a path is the same only for its own clones. */
	put(at, "r.git/HEAD", "x");
	put(at, "c/.git/config", "[remote \"origin\"]\nurl = ../r.git\n");
	put(at, "d/.git/config", "[remote \"origin\"]\nurl = ../r.git/\n");
	one = name_of(at, "c/jobs");
	other = name_of(at, "d/jobs");
	assert_string_equal(one, other);
	assert_non_null(strstr(one, "//jobs"));
	free(other);
	free(path);
	path = below(at, "r.git");
	assert_int_equal(folder_remove(path, &err), 0);
	put(at, "r.git/HEAD", "x");
	other = name_of(at, "c/jobs");
	assert_string_not_equal(one, other);
	free(one);
	free(other);
	free(path);
}

static void a_file_names_it(void **state)
{
	struct place *at = *state;
	char *name;

	put(at, "a/.git/config", "[remote \"origin\"]\nurl = h:a\n");
	put(at, "a/jobs/" APPLYSET_FILE, "team/training-1\n\n");
	assert_name(at, "a/jobs", "team/training-1");
	put(at, "a/jobs/" APPLYSET_FILE, "two words\n");
	name = name_of(at, "a/jobs");
	assert_null(name);
	put(at, "a/jobs/" APPLYSET_FILE, "");
	name = name_of(at, "a/jobs");
	assert_null(name);
}

static void given_names_are_no_found_names(void **state)
{
	static const char *const bad[] = { "",    "git:a//b", "dir:/x#1",
					   "a b", "a\n",      "ä" };
	char longest[APPLYSET_MAX + 2];
	struct error err;
	size_t i;

	(void)state;
	assert_int_equal(applyset_check("a.B-c_d/9", &err), 0);
	for (i = 0; i < COUNT(bad); i++)
		assert_int_equal(applyset_check(bad[i], &err), -1);
	memset(longest, 'a', sizeof(longest));
	longest[APPLYSET_MAX + 1] = '\0';
	assert_int_equal(applyset_check(longest, &err), -1);
	longest[APPLYSET_MAX] = '\0';
	assert_int_equal(applyset_check(longest, &err), 0);
}

static void members_are_kept_by_set(void **state)
{
	const struct task_file_path all[] = {
		{ "one", "b", "local", "b.yaml", NULL },
		{ "one", "a", "local", NULL, NULL },
		{ "one", "a", "fake", "a.yaml", "/w" },
		{ "two", "a", "fake", "x/a.yaml", "/w" },
	};
	struct arena *mem = arena_new();
	struct member_list list;
	struct error err;
	struct store *store;

	(void)state;
	store = store_open_to_read(&err);
	assert_int_equal(store_member_list(store, NULL, mem, &list, &err), 0);
	assert_int_equal(list.count, 0);
	store_close(store);

	store = store_open(&err);
	assert_int_equal(store_member_put(store, all, COUNT(all), &err), 0);
	assert_int_equal(store_member_put(store, all, COUNT(all), &err), 0);
	assert_int_equal(store_member_list(store, NULL, mem, &list, &err), 0);
	assert_int_equal(list.count, 4);
	assert_int_equal(store_member_list(store, "one", mem, &list, &err), 0);
	assert_int_equal(list.count, 3);
	assert_string_equal(list.items[0].provider, "fake");
	assert_string_equal(list.items[0].place, "/w");
	assert_null(list.items[1].file);
	assert_string_equal(list.items[2].job_id, "b");
	assert_int_equal(store_member_drop(store, "one", "a", "fake", &err), 0);
	assert_int_equal(store_member_list(store, NULL, mem, &list, &err), 0);
	assert_int_equal(list.count, 3);
	assert_int_equal(store_member_drop(store, NULL, "a", "fake", &err), 0);
	assert_int_equal(store_member_drop(store, NULL, "a", "fake", &err), 0);
	assert_int_equal(store_member_list(store, NULL, mem, &list, &err), 0);
	assert_int_equal(list.count, 2);
	store_close(store);
	arena_free(mem);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(remotes_are_one_however_they_are_reached),
		TEST(labels_stand_for_origins),
		TEST(clones_have_one_name_and_directories_their_own),
		TEST(linked_work_trees_and_submodules_are_followed),
		TEST(a_path_alone_is_never_a_name),
		TEST(a_file_names_it),
		TEST(given_names_are_no_found_names),
		TEST(members_are_kept_by_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
