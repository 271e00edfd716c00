/* SPDX-License-Identifier: Apache-2.0 */
#include "core/data/digest_cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/data/tree.h"

#define LATER_MS 10000

static char folder[64];

static int set_up(void **state)
{
	struct error err = { 0 };
	char *source, *cache;

	(void)state;
	strcpy(folder, "/tmp/jobrun-digests-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	source = path_join(folder, "source");
	cache = path_join(folder, "cache");
	setenv("XDG_CACHE_HOME", cache, 1);
	free(cache);
	if (folder_make(source, &err) < 0)
		return -1;
	free(source);
	return 0;
}

static int tear_down(void **state)
{
	struct error err = { 0 };

	(void)state;
	return folder_remove(folder, &err);
}

static char *below(const char *name)
{
	return path_join(folder, name);
}

static struct stat put(const char *name, const char *text)
{
	char *path = below(name);
	struct error err = { 0 };
	struct stat st;

	assert_int_equal(file_write(path, text, strlen(text), &err), 0);
	assert_int_equal(stat(path, &st), 0);
	free(path);
	return st;
}

static struct digest_cache *open_cache(void)
{
	char *source = below("source");
	int fd = open(source, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct digest_cache *cache;

	assert_true(fd >= 0);
	cache = digest_cache_open(source, fd);
	assert_non_null(cache);
	close(fd);
	free(source);
	return cache;
}

static const struct digest known = {
	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
};

/* Makes a file look large enough to be worth caching. */
static struct stat as_large(struct stat st)
{
	st.st_size = DIGEST_CACHE_BYTES;
	return st;
}

static void keep(const char *path, const struct stat *st, int64_t later_ms)
{
	struct digest_cache *cache = open_cache();

	digest_cache_add(cache, path, st, time_now_ms() + later_ms, &known);
	digest_cache_close(cache);
}

static bool is_known(const char *path, const struct stat *st)
{
	struct digest_cache *cache = open_cache();
	struct digest digest = { "" };
	bool is = digest_cache_find(cache, path, st, &digest);

	if (is)
		assert_string_equal(digest.hex, known.hex);
	digest_cache_close(cache);
	return is;
}

/* Returns the path of the only file in the folder of caches. */
static char *cache_file(void)
{
	char *path = below("cache/jobrun/digests"), *out = NULL;
	DIR *dir = opendir(path);
	struct dirent *item;

	assert_non_null(dir);
	while ((item = readdir(dir)))
		if (item->d_name[0] != '.') {
			assert_null(out);
			out = path_join(path, item->d_name);
		}
	closedir(dir);
	free(path);
	assert_non_null(out);
	return out;
}

static void is_found_again(void **state)
{
	struct stat st = as_large(put("source/a", "a"));

	(void)state;
	assert_false(is_known("a", &st));
	keep("a", &st, LATER_MS);
	assert_true(is_known("a", &st));
	assert_false(is_known("b", &st));
}

static void any_change_counts(void **state)
{
	const struct stat st = as_large(put("source/a", "a"));
	struct stat other[5] = { st, st, st, st, st };
	size_t i;

	(void)state;
	keep("a", &st, LATER_MS);
	other[0].st_size++;
	other[1].st_ino++;
	other[2].st_mtim.tv_nsec ^= 1;
	other[3].st_ctim.tv_nsec ^= 1;
	other[4].st_dev++;
	for (i = 0; i < 5; i++)
		assert_false(is_known("a", &other[i]));
	assert_true(is_known("a", &st));
}

/* A change within the same tick of the clock would leave the times the same. */
static void just_changed_is_not_kept(void **state)
{
	struct stat st = as_large(put("source/a", "a"));

	(void)state;
	keep("a", &st, 0);
	assert_false(is_known("a", &st));
}

static void small_ones_are_not_worth_it(void **state)
{
	struct stat st = put("source/a", "a");

	(void)state;
	keep("a", &st, LATER_MS);
	assert_false(is_known("a", &st));
}

static void damage_makes_it_empty(void **state)
{
	struct stat st = as_large(put("source/a", "a"));
	struct error err = { 0 };
	char *path, *content;
	size_t len = 0, i;

	(void)state;
	keep("a", &st, LATER_MS);
	path = cache_file();
	content = file_read(path, 1 << 20, &len, &err);
	assert_non_null(content);
	for (i = 0; i < len; i += 7) {
		content[i] ^= 1;
		assert_int_equal(file_write(path, content, len, &err), 0);
		assert_false(is_known("a", &st));
		content[i] ^= 1;
		assert_int_equal(file_write(path, content, i, &err), 0);
		assert_false(is_known("a", &st));
	}
	free(content);
	free(path);
}

static void writable_by_others_is_not_believed(void **state)
{
	struct stat st = as_large(put("source/a", "a"));
	char *path;

	(void)state;
	keep("a", &st, LATER_MS);
	path = cache_file();
	assert_int_equal(chmod(path, 0620), 0);
	assert_false(is_known("a", &st));
	free(path);
}

/* tree_read() takes from the cache what it would have read. */
static void trees_use_it(void **state)
{
	char *source = below("source"), *large = below("source/large");
	struct arena *mem = arena_new();
	struct tree first, again, changed;
	struct error err = { 0 };
	char *path;
	int fd;

	(void)state;
	put("source/small", "s");
	fd = open(large, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(ftruncate(fd, DIGEST_CACHE_BYTES), 0);
	time_pause(2100); /* so that it is not a recent change */
	assert_int_equal(tree_read(source, NULL, mem, &first, &err), 0);
	path = cache_file();
	free(path);
	assert_int_equal(tree_read(source, NULL, mem, &again, &err), 0);
	assert_string_equal(again.digest.hex, first.digest.hex);
	assert_int_equal(again.files, 2);
	assert_int_equal(again.bytes, DIGEST_CACHE_BYTES + 1);

	assert_int_equal(pwrite(fd, "x", 1, 0), 1);
	assert_int_equal(tree_read(source, NULL, mem, &changed, &err), 0);
	assert_string_not_equal(changed.digest.hex, first.digest.hex);
	close(fd);
	arena_free(mem);
	free(large);
	free(source);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(is_found_again, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(any_change_counts, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(just_changed_is_not_kept,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(small_ones_are_not_worth_it,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(damage_makes_it_empty, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			writable_by_others_is_not_believed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(trees_use_it, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
