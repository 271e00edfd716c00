/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/file.h"
#include "providers/stores.h"
#include "tests/support/stand_in.h"

#define STORES 3

/* Every kind of store must pass the same tests. */
struct fixture {
	struct stand_in server, s3;
	struct object_store *store;
	struct arena *mem;
	struct error err;
	char base[STORES][128]; /* gs://, a folder, s3:// */
};

static int start(void **state)
{
	static const struct object_env env = { 0 };
	struct fixture *f = mem_alloc(sizeof(*f));

	stand_in_start(&f->server, 0);
	setenv("STORAGE_EMULATOR_HOST", f->server.base, 1);
	setenv("GOOGLE_APPLICATION_CREDENTIALS",
	       stand_in_file(&f->server, "service_account.json"), 1);
	stand_in_start_service(&f->s3, "s3", 0);
	setenv("AWS_ENDPOINT_URL_S3", f->s3.base, 1);
	setenv("AWS_REGION", "eu-test-1", 1);
	setenv("AWS_ACCESS_KEY_ID", "AKIDENVIRONMENT", 1);
	setenv("AWS_SECRET_ACCESS_KEY", "env/secret+1", 1);
	f->store = object_store_new(object_schemes, &env);
	f->mem = arena_new();
	snprintf(f->base[0], sizeof(f->base[0]), "gs://b/dir");
	snprintf(f->base[1], sizeof(f->base[1]), "%s/store/dir",
		 f->server.folder);
	snprintf(f->base[2], sizeof(f->base[2]), "s3://b.x/dir \xc3\xa4+&");
	*state = f;
	return 0;
}

static int stop(void **state)
{
	struct fixture *f = *state;

	object_store_free(f->store);
	arena_free(f->mem);
	unsetenv("STORAGE_EMULATOR_HOST");
	unsetenv("GOOGLE_APPLICATION_CREDENTIALS");
	unsetenv("AWS_ENDPOINT_URL_S3");
	stand_in_stop(&f->server);
	stand_in_stop(&f->s3);
	free(f);
	return 0;
}

static const char *url_of(struct fixture *f, int kind, const char *name)
{
	return arena_printf(f->mem, "%s/%s", f->base[kind], name);
}

static int put(struct fixture *f, int kind, const char *name, const char *text,
	       bool replace)
{
	const struct object_put how = { .replace = replace };

	return object_put_text(f->store, url_of(f, kind, name), text, &how,
			       &f->err);
}

static int collect(void *arg, const char *data, size_t len)
{
	buf_add(arg, data, len);
	return 0;
}

static char *get(struct fixture *f, int kind, const char *name)
{
	struct object found;
	struct buf text = { 0 };

	assert_int_equal(object_stat(f->store, url_of(f, kind, name), f->mem,
				     &found, &f->err),
			 0);
	if (!found.exists)
		return NULL;
	assert_string_equal(found.url, url_of(f, kind, name));
	assert_int_equal(object_read(f->store, &found, 0, found.size_bytes,
				     collect, &text, &f->err),
			 0);
	return buf_take(&text);
}

static void has(struct fixture *f, int kind, const char *name, const char *text)
{
	char *found = get(f, kind, name);

	if (text)
		assert_string_equal(found, text);
	else
		assert_null(found);
	free(found);
}

static int add_name(void *arg, const struct object *object, struct error *err)
{
	(void)err;
	buf_printf(arg, "%s:%d ", path_base(object->url),
		   (int)object->size_bytes);
	return 0;
}

static void objects_come_and_go(void **state)
{
	struct fixture *f = *state;
	struct buf names = { 0 };

	for (int kind = 0; kind < STORES; kind++) {
		has(f, kind, "a", NULL);
		assert_int_equal(put(f, kind, "a", "one", false), 0);
		/* A repetition, as after a lost answer, succeeds. */
		assert_int_equal(put(f, kind, "a", "one", false), 0);
		assert_int_equal(put(f, kind, "a", "two", false), -1);
		assert_non_null(strstr(f->err.text, "is there"));
		has(f, kind, "a", "one");
		assert_int_equal(put(f, kind, "a", "two", true), 0);
		has(f, kind, "a", "two");
		assert_int_equal(put(f, kind, "b/c", "", true), 0);
		has(f, kind, "b/c", "");
		buf_clear(&names);
		assert_int_equal(object_list(f->store, f->base[kind], add_name,
					     &names, &f->err),
				 0);
		assert_string_equal(buf_text(&names), "a:3 c:0 ");
		for (int again = 0; again < 2; again++)
			assert_int_equal(object_remove(f->store,
						       url_of(f, kind, "b/c"),
						       &f->err),
					 0);
		buf_clear(&names);
		assert_int_equal(object_list(f->store, url_of(f, kind, "b"),
					     add_name, &names, &f->err),
				 0);
		assert_string_equal(buf_text(&names), "");
	}
	buf_done(&names);
}

static void what_was_replaced_is_not_read(void **state)
{
	struct fixture *f = *state;
	struct object found;
	struct buf text = { 0 };

	for (int kind = 0; kind < STORES; kind++) {
		assert_int_equal(put(f, kind, "x", "old", true), 0);
		assert_int_equal(object_stat(f->store, url_of(f, kind, "x"),
					     f->mem, &found, &f->err),
				 0);
		assert_int_equal(put(f, kind, "x", "new", true), 0);
		assert_int_equal(object_read(f->store, &found, 0, 3, collect,
					     &text, &f->err),
				 -1);
	}
	buf_done(&text);
}

static void a_part_of_it_can_be_read(void **state)
{
	struct fixture *f = *state;
	struct object found;
	struct buf text = { 0 };

	for (int kind = 0; kind < STORES; kind++) {
		assert_int_equal(put(f, kind, "r", "0123456789", true), 0);
		object_stat(f->store, url_of(f, kind, "r"), f->mem, &found,
			    &f->err);
		buf_clear(&text);
		assert_int_equal(object_read(f->store, &found, 3, 4, collect,
					     &text, &f->err),
				 0);
		assert_string_equal(buf_text(&text), "3456");
	}
	buf_done(&text);
}

/* A full disk, and the files of a killed writer. */
static void half_files_are_no_objects(void **state)
{
	struct fixture *f = *state;
	struct rlimit before, none = { .rlim_cur = 2 };
	struct buf names = { 0 };

	assert_int_equal(put(f, 1, "half/whole", "ok", false), 0);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	none.rlim_max = before.rlim_max;
	assert_int_equal(
		file_write(url_of(f, 1, "half/.jobrun-0"), "h", 1, &f->err), 0);
	setrlimit(RLIMIT_FSIZE, &none);
	assert_int_equal(put(f, 1, "half/big", "too large", false), -1);
	setrlimit(RLIMIT_FSIZE, &before);
	assert_int_equal(object_list(f->store, url_of(f, 1, "half"), add_name,
				     &names, &f->err),
			 0);
	assert_string_equal(buf_text(&names), "whole:2 ");
	buf_done(&names);
}

static void only_known_places_are_stores(void **state)
{
	struct fixture *f = *state;
	struct object found;

	assert_int_equal(
		object_stat(f->store, "ftp://x/y", f->mem, &found, &f->err),
		-1);
	assert_string_equal(f->err.text, "'ftp://x/y' is of an unknown kind");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_come_and_go),
		cmocka_unit_test(what_was_replaced_is_not_read),
		cmocka_unit_test(a_part_of_it_can_be_read),
		cmocka_unit_test(half_files_are_no_objects),
		cmocka_unit_test(only_known_places_are_stores),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
