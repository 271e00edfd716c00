/* SPDX-License-Identifier: Apache-2.0 */
/* Indexes as Git writes them; test_source_rules.c has many more. */
#include "core/data/git_index.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "tests/support/skip.h"

static char *repository(const char *how, const char *version)
{
	char *folder = mem_strdup("/tmp/jobrun-index-XXXXXX");
	char line[1024];

	if (!mkdtemp(folder))
		fail();
	snprintf(line, sizeof(line),
		 "cd %s && git init -q %s && mkdir -p pkg/lib && echo x >a && "
		 "echo y >pkg/b && echo z >pkg/lib/c && chmod +x pkg/b && "
		 "ln -s a link && git add . && "
		 "git -c user.name=a -c user.email=a@b commit -q -m x && "
		 "git update-index --index-version %s && "
		 "echo new >pkg.c && git add -N pkg.c && "
		 "git update-index --assume-unchanged a",
		 folder, how, version);
	assert_int_equal(system(line), 0);
	return folder;
}

static void drop(char *folder)
{
	struct error err;

	folder_remove(folder, &err);
	free(folder);
}

static void check(const struct git_index *index, size_t hash_size)
{
	static const char *const paths[] = { "a", "link", "pkg.c", "pkg/b",
					     "pkg/lib/c" };
	size_t i;

	assert_int_equal(git_index_count(index), COUNT(paths));
	assert_int_equal(git_index_hash_size(index), hash_size);
	for (i = 0; i < COUNT(paths); i++)
		assert_string_equal(git_index_at(index, i)->path, paths[i]);
	assert_int_equal(git_index_find(index, "a")->flags,
			 GIT_ENTRY_UNCHECKED);
	assert_int_equal(git_index_find(index, "a")->size, 2);
	assert_int_equal(git_index_find(index, "link")->mode, GIT_MODE_LINK);
	assert_int_equal(git_index_find(index, "pkg/b")->mode, 0100755);
	assert_int_equal(git_index_find(index, "pkg.c")->flags,
			 GIT_ENTRY_ADDED);
	assert_null(git_index_find(index, "pkg"));
	assert_null(git_index_find(index, "z"));
	assert_true(git_index_has_folder(index, "pkg"));
	assert_true(git_index_has_folder(index, "pkg/lib"));
	assert_false(git_index_has_folder(index, "pk"));
	assert_false(git_index_has_folder(index, "a"));
}

static void all_versions_are_read(void **state)
{
	static const struct {
		const char *how, *version;
		size_t hash_size;
	} cases[] = {
		{ "", "2", 20 },
		{ "", "3", 20 },
		{ "", "4", 20 },
		{ "--object-format=sha256", "2", 32 },
		{ "--object-format=sha256", "4", 32 },
	};
	struct error err = { 0 };
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		char *folder = repository(cases[i].how, cases[i].version);
		char *git = path_join(folder, ".git");
		struct git_index *index = git_index_read(git, &err);

		assert_string_equal(err.text, "");
		check(index, cases[i].hash_size);
		git_index_free(index);
		free(git);
		drop(folder);
	}
}

static void without_an_index_nothing_is_tracked(void **state)
{
	struct error err = { 0 };
	struct git_index *index = git_index_read("/nowhere", &err);

	(void)state;
	assert_non_null(index);
	assert_int_equal(git_index_count(index), 0);
	assert_null(git_index_find(index, "a"));
	assert_false(git_index_has_folder(index, "a"));
	git_index_free(index);
}

/* Reads an index with these bytes. */
static void read_bytes(const char *git, const char *data, size_t len)
{
	char *path = path_join(git, "index");
	FILE *file = fopen(path, "w");
	struct error err;

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
	git_index_free(git_index_read(git, &err));
	free(path);
}

/* Whatever the index says, no byte outside it is read. */
static void damage_is_an_error_or_harmless(void **state)
{
	char *folder, *git, *path, *data;
	struct error err = { 0 };
	size_t len, i;

	(void)state;
	for (unsigned version = 2; version <= 4; version += 2) {
		folder = repository("", version == 2 ? "2" : "4");
		git = path_join(folder, ".git");
		path = path_join(git, "index");
		data = file_read(path, 1 << 20, &len, &err);
		assert_non_null(data);
		for (i = 0; i < len; i++) {
			read_bytes(git, data, i);
			for (int bit = 0; bit < 8; bit++) {
				data[i] = (char)(data[i] ^ 1 << bit);
				read_bytes(git, data, len);
				data[i] = (char)(data[i] ^ 1 << bit);
			}
		}
		read_bytes(git, "x", 1);
		assert_null(git_index_read(git, &err));
		assert_non_null(strstr(err.text, "it is damaged, or of an "
						 "unknown version"));
		free(data);
		free(path);
		free(git);
		drop(folder);
	}
}

static void a_split_index_is_named(void **state)
{
	char *folder = repository("", "2");
	char *git = path_join(folder, ".git");
	char line[256];
	struct error err = { 0 };

	(void)state;
	snprintf(line, sizeof(line), "git -C %s update-index --split-index",
		 folder);
	assert_int_equal(system(line), 0);
	assert_null(git_index_read(git, &err));
	assert_non_null(strstr(err.text, "git update-index --no-split-index"));
	free(git);
	drop(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_versions_are_read),
		cmocka_unit_test(without_an_index_nothing_is_tracked),
		cmocka_unit_test(damage_is_an_error_or_harmless),
		cmocka_unit_test(a_split_index_is_named),
	};

	if (system("git --version >/dev/null 2>&1") != 0) {
		printf("# skipped test_git_index: no git\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
