/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/crc32c.h"
#include "core/base/file.h"
#include "core/stream/cache.h"
#include "tests/support/shard_server.h"

#define LARGE ((uint64_t)1 << 40)

static char *folder;

static int make_folder(void **state)
{
	char path[] = "/tmp/cache-XXXXXX";

	(void)state;
	folder = mem_strdup(mkdtemp(path));
	return 0;
}

static int remove_folder(void **state)
{
	struct error err;

	(void)state;
	assert_int_equal(folder_remove(folder, &err), 0);
	free(folder);
	return 0;
}

static struct cache *open_cache(uint64_t limit)
{
	struct error err;
	struct cache *cache = cache_open(folder, limit, &err);

	if (!cache)
		fail_msg("%s", err.text);
	return cache;
}

static const char *url_of(uint64_t object, char url[64])
{
	snprintf(url, 64, "http://host/%llu", (unsigned long long)object);
	return url;
}

static bool keep(struct cache *cache, uint64_t object, uint64_t size,
		 size_t piece)
{
	struct cache_writer *writer;
	char url[64], *data = mem_alloc(piece);
	const struct cache_version version = { .etag = "\"tag\"",
					       .generation = "7" };
	uint64_t at;

	writer = cache_writer_new(cache, url_of(object, url), size);
	for (at = 0; writer && at < size; at += piece) {
		if (piece > size - at)
			piece = (size_t)(size - at);
		shard_server_fill(object, at, data, piece);
		cache_writer_add(writer, data, piece);
	}
	if (writer)
		cache_writer_end(writer, &version);
	cache_writer_free(writer);
	free(data);
	return writer != NULL;
}

enum found {
	FOUND_NONE,
	FOUND_WHOLE,
	FOUND_DAMAGED, /* and reported as such */
	FOUND_WRONG,
};

static enum found look(struct cache *cache, uint64_t object)
{
	static char data[CACHE_BLOCK], expected[CACHE_BLOCK];
	char url[64], crc[9];
	struct cache_entry *entry = cache_find(cache, url_of(object, url));
	const struct cache_version *version;
	enum found found = FOUND_WHOLE;
	uint64_t at, size;
	uint32_t sum = 0;
	size_t len;

	if (!entry)
		return FOUND_NONE;
	version = cache_entry_version(entry);
	size = version->size;
	for (at = 0; at < size && found == FOUND_WHOLE; at += len) {
		if (cache_entry_read(entry, at / CACHE_BLOCK, data, &len) < 0) {
			found = FOUND_DAMAGED;
			break;
		}
		shard_server_fill(object, at, expected, len);
		sum = crc32c_add(sum, expected, len);
		if (memcmp(data, expected, len) != 0)
			found = FOUND_WRONG;
	}
	crc32c_format(sum, crc);
	if (found == FOUND_WHOLE &&
	    (strcmp(crc, version->crc32c) || strcmp(version->etag, "\"tag\"") ||
	     strcmp(version->generation, "7") || version->modified))
		found = FOUND_WRONG;
	if (found == FOUND_DAMAGED)
		cache_entry_discard(entry);
	else
		cache_entry_close(entry);
	return found;
}

/* Returns the bytes of all files, and counts unfinished ones. */
static uint64_t used(size_t *unfinished)
{
	DIR *dir = opendir(folder);
	struct dirent *one;
	struct stat st;
	uint64_t sum = 0;

	*unfinished = 0;
	while ((one = readdir(dir))) {
		bool is_new = strstr(one->d_name, ".new") != NULL;

		if (!is_new && !strstr(one->d_name, ".object"))
			continue;
		if (fstatat(dirfd(dir), one->d_name, &st, 0) < 0)
			continue;
		sum += (uint64_t)st.st_size;
		*unfinished += is_new;
	}
	closedir(dir);
	return sum;
}

static void what_was_kept_is_found(void **state)
{
	static const uint64_t sizes[] = { 1,
					  511,
					  CACHE_BLOCK - 1,
					  CACHE_BLOCK,
					  CACHE_BLOCK + 1,
					  3 * CACHE_BLOCK,
					  1000000 };
	struct cache *cache = open_cache(LARGE);
	struct error err;
	size_t i, unfinished;

	(void)state;
	for (i = 0; i < COUNT(sizes); i++) {
		assert_int_equal(look(cache, i), FOUND_NONE);
		assert_true(keep(cache, i, sizes[i], 100003));
		assert_int_equal(look(cache, i), FOUND_WHOLE);
	}
	/* Look again, with pieces of other sizes, then through another
	 * process's cache. */
	assert_true(keep(cache, 6, 1000000, 4096));
	cache_close(cache);
	cache = open_cache(LARGE);
	for (i = 0; i < COUNT(sizes); i++)
		assert_int_equal(look(cache, i), FOUND_WHOLE);
	/* An empty object is not cached, and neither is an incomplete one. */
	assert_false(keep(cache, 20, 0, 1));
	cache_writer_free(cache_writer_new(cache, "http://host/21", 1000));
	assert_int_equal(look(cache, 21), FOUND_NONE);
	used(&unfinished);
	assert_int_equal(unfinished, 0);
	assert_false(cache_trouble(cache, &err));
	cache_close(cache);
}

static char *path_of_only_entry(void)
{
	DIR *dir = opendir(folder);
	struct dirent *one;
	char *path = NULL;

	while ((one = readdir(dir)))
		if (strstr(one->d_name, ".object"))
			path = path_join(folder, one->d_name);
	closedir(dir);
	assert_non_null(path);
	return path;
}

static void flip(const char *path, off_t at)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	char c;

	assert_int_equal(pread(fd, &c, 1, at), 1);
	c ^= 4;
	assert_int_equal(pwrite(fd, &c, 1, at), 1);
	close(fd);
}

/* A changed bit is noticed anywhere, except in unused bytes. */
static void damage_is_noticed(void **state)
{
	struct cache *cache = open_cache(LARGE);
	const uint64_t size = 2 * CACHE_BLOCK + 1000;
	const off_t end = 4096 + (off_t)size + 3 * 4;
	off_t at;
	char *path;

	(void)state;
	for (at = 0; at < end; at += at < 300 ? 1 : 9973) {
		keep(cache, 1, size, CACHE_BLOCK);
		path = path_of_only_entry();
		flip(path, at);
		assert_int_equal(look(cache, 1),
				 at < 4096 ? FOUND_NONE : FOUND_DAMAGED);
		/* The damaged entry was removed. */
		assert_int_equal(access(path, F_OK), -1);
		free(path);
	}
	for (at = 0; at < end; at += 50021) {
		keep(cache, 1, size, CACHE_BLOCK);
		path = path_of_only_entry();
		assert_int_equal(truncate(path, at), 0);
		assert_int_equal(look(cache, 1), FOUND_NONE);
		free(path);
	}
	cache_close(cache);
}

/* Entries used last stay. */
static void the_oldest_go(void **state)
{
	const uint64_t size = 100000, limit = 20 * 104200;
	struct cache *cache = open_cache(limit);
	size_t i, unfinished;

	(void)state;
	for (i = 0; i < 200; i++) {
		assert_true(keep(cache, i, size, 65536));
		assert_true(used(&unfinished) <= limit);
		assert_int_equal(look(cache, 0), FOUND_WHOLE);
	}
	assert_int_equal(look(cache, 199), FOUND_WHOLE);
	assert_int_equal(look(cache, 198), FOUND_WHOLE);
	assert_int_equal(look(cache, 1), FOUND_NONE);
	assert_int_equal(look(cache, 170), FOUND_NONE);
	/* An object larger than the whole cache displaces nothing. */
	assert_false(keep(cache, 300, limit, 65536));
	assert_int_equal(look(cache, 0), FOUND_WHOLE);
	/* Entries may be removed while they are read. */
	cache_close(cache);
	cache = open_cache(2 * 104200);
	assert_true(used(&unfinished) <= 2 * 104200);
	assert_int_equal(look(cache, 0), FOUND_WHOLE);
	cache_close(cache);
}

/* Writes and reads forever. */
static void use_it(unsigned seed, uint64_t limit)
{
	struct cache *cache = open_cache(limit);

	for (;;) {
		uint64_t object = (uint64_t)rand_r(&seed) % 12;

		switch (look(cache, object)) {
		case FOUND_WHOLE:
			break;
		case FOUND_NONE:
			keep(cache, object, 150000 + object * 40000, 50000);
			break;
		default:
			_exit(1);
		}
	}
}

static pid_t start_user(unsigned seed, uint64_t limit)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid)
		use_it(seed, limit);
	return pid;
}

/* Several users run at once, and each is killed after a short time. */
static void any_may_be_killed(void **state)
{
	const uint64_t limit = 1500000;
	pid_t users[3];
	unsigned seed = 1;
	struct cache *cache;
	size_t i, unfinished;
	int status;

	(void)state;
	for (i = 0; i < COUNT(users); i++)
		users[i] = start_user(seed++, limit);
	for (i = 0; i < 150; i++) {
		pid_t *one = &users[i % COUNT(users)];

		usleep((useconds_t)(rand_r(&seed) % 6000));
		kill(*one, SIGKILL);
		assert_int_equal(waitpid(*one, &status, 0), *one);
		/* The user did not end by itself, which would mean an error. */
		assert_true(WIFSIGNALED(status));
		*one = start_user(seed++, limit);
	}
	for (i = 0; i < COUNT(users); i++) {
		kill(users[i], SIGKILL);
		waitpid(users[i], &status, 0);
	}
	assert_true(used(&unfinished) <= limit);
	cache = open_cache(limit);
	for (i = 0; i < 12; i++)
		assert_in_range(look(cache, i), FOUND_NONE, FOUND_WHOLE);
	/* Files left by killed users do not take space for long. */
	for (i = 20; i < 40; i++)
		assert_true(keep(cache, i, 300000, 65536));
	assert_true(used(&unfinished) <= limit);
	assert_int_equal(unfinished, 0);
	cache_close(cache);
}

static void foreign_files_stay(void **state)
{
	char *mine = path_join(folder, "notes.txt");
	struct cache *cache;
	struct error err;
	size_t i;

	(void)state;
	assert_int_equal(file_write(mine, "x", 1, &err), 0);
	cache = open_cache(500000);
	for (i = 0; i < 20; i++)
		assert_true(keep(cache, i, 100000, 65536));
	assert_int_equal(access(mine, F_OK), 0);
	cache_close(cache);
	/* A folder that others can write to is not used. */
	assert_int_equal(chmod(folder, 0770), 0);
	assert_null(cache_open(folder, 1000, &err));
	assert_non_null(strstr(err.text, "others can write to"));
	chmod(folder, 0700);
	free(mine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_was_kept_is_found,
						make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(damage_is_noticed, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(the_oldest_go, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(any_may_be_killed, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(foreign_files_stay, make_folder,
						remove_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
