/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/crc32c.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "providers/google/storage/storage.h"
#include "tests/support/stand_in.h"

#define SIZE 1000000

struct fixture {
	struct stand_in server;
	struct http *http;
	struct google *google;
	struct arena *mem;
	struct error err;
	char *data;
	int fd; /* descriptor of a file with that data */
	char host[64];
};

static int start(void **state)
{
	static const struct retry_policy quick = {
		.first_ms = 10,
		.max_ms = 40,
		.total_ms = 20000,
	};
	struct fixture *f = mem_alloc(sizeof(*f));
	struct http_options options = { .retry = &quick };
	size_t i;

	stand_in_start(&f->server, 0);
	options.trace = mem_strdup(stand_in_file(&f->server, "trace"));
	f->http = http_new(&options, &f->err);
	assert_non_null(f->http);
	free((char *)options.trace);
	f->google = google_open(f->http);
	f->mem = arena_new();
	setenv("STORAGE_EMULATOR_HOST", f->server.base, 1);
	setenv("GOOGLE_APPLICATION_CREDENTIALS",
	       stand_in_file(&f->server, "service_account.json"), 1);
	f->data = mem_alloc(SIZE);
	for (i = 0; i < SIZE; i++)
		f->data[i] = (char)(i * 2654435761u >> 13);
	assert_int_equal(file_write(stand_in_file(&f->server, "data"), f->data,
				    SIZE, &f->err),
			 0);
	f->fd = open(stand_in_file(&f->server, "data"), O_RDONLY | O_CLOEXEC);
	*state = f;
	return 0;
}

static int stop(void **state)
{
	struct fixture *f = *state;
	json_t *secrets = stand_in_ask(&f->server, "secrets"), *secret;
	json_t *wrong = stand_in_ask(&f->server, "wrong");
	size_t i, len;
	char *trace = file_read(stand_in_file(&f->server, "trace"), 1 << 24,
				&len, &f->err);

	assert_int_equal(json_array_size(wrong), 0);
	json_array_foreach(secrets, i, secret)
	{
		assert_non_null(trace);
		assert_null(strstr(trace, json_string_value(secret)));
	}
	free(trace);
	json_decref(secrets);
	json_decref(wrong);
	unsetenv("STORAGE_EMULATOR_HOST");
	unsetenv("GOOGLE_APPLICATION_CREDENTIALS");
	close(f->fd);
	free(f->data);
	arena_free(f->mem);
	google_close(f->google);
	http_free(f->http);
	stand_in_stop(&f->server);
	free(f);
	return 0;
}

static int put(struct fixture *f, const char *name, struct storage_object *out)
{
	static const struct storage_put how = { 0 };

	return storage_put_file(f->google, "b", name, f->fd, &how, f->mem, out,
				&f->err);
}

static int collect(void *arg, const char *data, size_t len)
{
	buf_add(arg, data, len);
	return 0;
}

static void is_there(struct fixture *f, const char *name)
{
	struct storage_object object;
	struct buf got = { 0 };

	assert_int_equal(
		storage_stat(f->google, "b", name, f->mem, &object, &f->err),
		0);
	assert_true(object.exists);
	assert_int_equal(object.size, SIZE);
	if (storage_read(f->google, "b", &object, 0, object.size, collect, &got,
			 &f->err) < 0)
		fail_msg("%s", f->err.text);
	assert_int_equal(got.len, SIZE);
	assert_memory_equal(got.data, f->data, SIZE);
	buf_done(&got);
}

/* Uploads arrive exactly once, whatever breaks. */
static void uploads_arrive(void **state)
{
	static const char *const faults[] = {
		"[]",
		"[{'method':'POST','path':'upload','do':'cut'}]",
		"[{'method':'POST','path':'upload','do':'drop-answer'}]",
		"[{'method':'PUT','do':'cut'}]",
		"[{'method':'PUT','do':'cut-request'}]",
		"[{'method':'PUT','do':'cut-request','count':2}]",
		"[{'method':'PUT','do':'drop-answer'}]",
		"[{'method':'PUT','do':'cut-body'}]",
		"[{'method':'PUT','do':'status','status':503}]",
		"[{'method':'PUT','do':'status','status':410}]",
		"[{'method':'PUT','do':'status','status':308}]",
	};
	struct fixture *f = *state;
	struct storage_object object;
	char name[40];
	size_t i;

	for (i = 0; i < COUNT(faults); i++) {
		snprintf(name, sizeof(name), "a b/%zu+", i);
		stand_in_tell(&f->server, "faults", faults[i]);
		if (put(f, name, &object) < 0)
			fail_msg("%s: %s", faults[i], f->err.text);
		assert_string_equal(object.name, name);
		is_there(f, name);
	}
}

/* A small file is sent in one request, which may be sent again. */
static void small_files_take_one_request(void **state)
{
	static const char bytes[] = "a\0b\r\n--c\xff";
	static const char *const faults[] = {
		"[]",
		"[{'method':'POST','path':'upload','do':'cut'}]",
		"[{'method':'POST','path':'upload','do':'cut-body'}]",
		"[{'method':'POST','path':'upload','do':'drop-answer'}]",
		"[{'method':'POST','path':'upload','do':'status','status':503}"
		"]",
	};
	struct fixture *f = *state;
	struct storage_object object;
	int other = f->fd;
	char name[40];
	size_t i;

	assert_int_equal(file_write(stand_in_file(&f->server, "small"), bytes,
				    sizeof(bytes), &f->err),
			 0);
	f->fd = open(stand_in_file(&f->server, "small"), O_RDONLY | O_CLOEXEC);
	for (i = 0; i < COUNT(faults); i++) {
		struct buf got = { 0 };

		snprintf(name, sizeof(name), "small b/%zu+", i);
		stand_in_tell(&f->server, "faults", faults[i]);
		if (put(f, name, &object) < 0)
			fail_msg("%s: %s", faults[i], f->err.text);
		assert_string_equal(object.name, name);
		assert_int_equal(object.size, sizeof(bytes));
		assert_int_equal(storage_read(f->google, "b", &object, 0,
					      object.size, collect, &got,
					      &f->err),
				 0);
		assert_int_equal(got.len, sizeof(bytes));
		assert_memory_equal(got.data, bytes, sizeof(bytes));
		buf_done(&got);
	}
	close(f->fd);
	f->fd = other;
}

static void a_break_does_not_send_it_all_again(void **state)
{
	struct fixture *f = *state;
	json_t *requests, *request;
	const char *range;
	bool went_on = false;
	size_t i;

	stand_in_tell(&f->server, "faults",
		      "[{'method':'PUT','do':'cut-request'}]");
	assert_int_equal(put(f, "x", NULL), 0);
	requests = stand_in_ask(&f->server, "requests");
	json_array_foreach(requests, i, request)
	{
		range = json_get_text(json_object_get(request, "headers"),
				      "Content-Range", "");
		/* Half of the data, in whole chunks of 256 KiB. */
		went_on |= !strcmp(range, "bytes 262144-999999/1000000");
	}
	json_decref(requests);
	assert_true(went_on);
}

static void an_object_is_made_once(void **state)
{
	struct fixture *f = *state;
	struct storage_object first, second;
	int other;

	assert_int_equal(put(f, "x", &first), 0);
	/* As after a crash, the object exists and is the intended one. */
	assert_int_equal(put(f, "x", &second), 0);
	assert_true(first.generation == second.generation);
	assert_int_equal(
		file_write(stand_in_file(&f->server, "other"), "o", 1, &f->err),
		0);
	other = f->fd;
	f->fd = open(stand_in_file(&f->server, "other"), O_RDONLY | O_CLOEXEC);
	assert_int_equal(put(f, "x", NULL), -1);
	assert_int_equal(f->err.code, ERROR_FAILED);
	assert_string_equal(f->err.text, "gs://b/x: another object is there");
	close(f->fd);
	f->fd = other;
	is_there(f, "x");
}

static void what_rots_on_the_way_is_noticed(void **state)
{
	struct fixture *f = *state;
	struct storage_object object;

	stand_in_tell(&f->server, "state", "{'storage':{'rot':'x'}}");
	assert_int_equal(put(f, "x", NULL), -1);
	assert_true(text_starts(f->err.text, "gs://b/x: it arrived corrupted: "
					     "its CRC-32C is "));
	assert_int_equal(
		storage_stat(f->google, "b", "x", f->mem, &object, &f->err), 0);
	assert_false(object.exists);
}

static void empty_files_are_objects(void **state)
{
	struct fixture *f = *state;
	struct storage_object object;
	struct buf got = { 0 };
	int other = f->fd;

	f->fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_int_equal(put(f, "none", &object), 0);
	assert_int_equal(object.size, 0);
	assert_string_equal(object.crc32c, "AAAAAA==");
	assert_int_equal(storage_read(f->google, "b", &object, 0, 0, collect,
				      &got, &f->err),
			 0);
	close(f->fd);
	f->fd = other;
}

static void downloads_go_on(void **state)
{
	struct fixture *f = *state;
	struct storage_object object;
	struct buf got = { 0 };

	assert_int_equal(put(f, "x", &object), 0);
	stand_in_tell(&f->server, "faults",
		      "[{'method':'GET','path':'media','do':'cut-body'},"
		      "{'method':'GET','path':'media','nth':2,'do':'status',"
		      "'status':503}]");
	if (storage_read(f->google, "b", &object, 100, 500000, collect, &got,
			 &f->err) < 0)
		fail_msg("%s", f->err.text);
	assert_int_equal(got.len, 500000);
	assert_memory_equal(got.data, f->data + 100, 500000);
	buf_done(&got);
	/* Another generation is another object. */
	object.generation++;
	assert_int_equal(storage_read(f->google, "b", &object, 0, SIZE, collect,
				      &got, &f->err),
			 -1);
	assert_non_null(strstr(f->err.text, "status 404 notFound"));
	object.generation--;
	object.crc32c = "AAAAAA==";
	assert_int_equal(storage_read(f->google, "b", &object, 0, SIZE, collect,
				      &got, &f->err),
			 -1);
	assert_non_null(strstr(f->err.text, "it arrived corrupted: "));
	buf_done(&got);
}

static int add_name(void *arg, const struct storage_object *object,
		    struct error *err)
{
	(void)err;
	buf_printf(arg, "%s ", object->name);
	return 0;
}

static void lists_have_pages(void **state)
{
	static const char *const names[] = { "p/1", "p/2", "p/3",
					     "p/4", "p/5", "q" };
	struct fixture *f = *state;
	struct buf got = { 0 };
	size_t i;

	for (i = 0; i < COUNT(names); i++)
		assert_int_equal(put(f, names[i], NULL), 0);
	assert_int_equal(
		storage_list(f->google, "b", "p/", add_name, &got, &f->err), 0);
	assert_string_equal(got.data, "p/1 p/2 p/3 p/4 p/5 ");
	buf_clear(&got);
	assert_int_equal(
		storage_list(f->google, "b", "none", add_name, &got, &f->err),
		0);
	assert_int_equal(got.len, 0);
	buf_done(&got);
}

static void objects_are_composed_and_deleted(void **state)
{
	static const char *const parts[] = { "1", "2" };
	struct fixture *f = *state;
	struct storage_object object;

	assert_int_equal(put(f, "1", NULL), 0);
	assert_int_equal(put(f, "2", NULL), 0);
	if (storage_compose(f->google, "b", parts, 2, "both", 0, f->mem,
			    &object, &f->err) < 0)
		fail_msg("%s", f->err.text);
	assert_int_equal(object.size, 2 * SIZE);
	/* Existing objects that are not ours stay. */
	assert_int_equal(storage_compose(f->google, "b", parts, 1, "both", 0,
					 f->mem, &object, &f->err),
			 -1);
	assert_non_null(strstr(f->err.text, "conditionNotMet"));
	stand_in_tell(&f->server, "faults",
		      "[{'path':'/compose','do':'drop-answer'}]");
	if (storage_compose(f->google, "b", parts, 2, "lost", 0, f->mem,
			    &object, &f->err) < 0)
		fail_msg("%s", f->err.text);
	assert_string_equal(object.name, "lost");
	assert_int_equal(object.size, 2 * SIZE);
	assert_int_equal(
		storage_stat(f->google, "b", "both", f->mem, &object, &f->err),
		0);
	assert_int_equal(storage_delete(f->google, "b", "both",
					object.generation + 1, &f->err),
			 -1);
	assert_non_null(strstr(f->err.text, "conditionNotMet"));
	stand_in_tell(&f->server, "faults",
		      "[{'method':'DELETE','do':'drop-answer'}]");
	assert_int_equal(storage_delete(f->google, "b", "both",
					object.generation, &f->err),
			 0);
	assert_int_equal(storage_delete(f->google, "b", "both", 0, &f->err), 0);
}

static void names_are_read(void **state)
{
	static const char *const bad[] = { "", "gs://", "gs:///x", "s3://b/x" };
	struct arena *mem = arena_new();
	const char *bucket, *object;
	struct error err;
	size_t i;

	(void)state;
	assert_int_equal(
		storage_url_parse("gs://b/x/y", mem, &bucket, &object, &err),
		0);
	assert_string_equal(bucket, "b");
	assert_string_equal(object, "x/y");
	assert_int_equal(
		storage_url_parse("gs://b", mem, &bucket, &object, &err), 0);
	assert_string_equal(object, "");
	for (i = 0; i < COUNT(bad); i++)
		assert_int_equal(
			storage_url_parse(bad[i], mem, &bucket, &object, &err),
			-1);
	arena_free(mem);
}

/* The values of RFC 3720, B.4, and the check value of the catalogue of CRCs. */
static void checksums_are_castagnolis(void **state)
{
	static const struct {
		const char *data;
		size_t len;
		uint32_t crc;
	} cases[] = {
		{ "", 0, 0 },
		{ "123456789", 9, 0xe3069283 },
		{ "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
		  "\0\0\0",
		  32, 0x8a9136aa },
	};
	char text[9];
	uint32_t crc = 0;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++)
		assert_int_equal(crc32c_add(0, cases[i].data, cases[i].len),
				 cases[i].crc);
	assert_int_equal(crc32c_add(crc32c_add(0, "1234", 4), "56789", 5),
			 0xe3069283);
	assert_int_equal(crc32c_join(crc32c_add(0, "1234", 4),
				     crc32c_add(0, "56789", 5), 5),
			 0xe3069283);
	assert_int_equal(crc32c_join(0xe3069283, 0, 0), 0xe3069283);
	crc32c_format(0xe3069283, text);
	assert_int_equal(crc32c_parse(text, &crc), 0);
	assert_int_equal(crc, 0xe3069283);
	assert_int_equal(crc32c_parse("4waSg", &crc), -1);
	assert_int_equal(crc32c_parse("4waSg===", &crc), -1);
	assert_int_equal(crc32c_parse("4waSgx==", &crc), -1);
	assert_int_equal(crc32c_parse("", &crc), -1);
	assert_int_equal(crc, 0xe3069283);
	assert_string_equal(text, "4waSgw==");
}

#define with_server(test) cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_server(uploads_arrive),
		with_server(small_files_take_one_request),
		with_server(a_break_does_not_send_it_all_again),
		with_server(an_object_is_made_once),
		with_server(what_rots_on_the_way_is_noticed),
		with_server(empty_files_are_objects),
		with_server(downloads_go_on),
		with_server(lists_have_pages),
		with_server(objects_are_composed_and_deleted),
		cmocka_unit_test(names_are_read),
		cmocka_unit_test(checksums_are_castagnolis),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
