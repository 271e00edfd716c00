/* SPDX-License-Identifier: Apache-2.0 */
/* Logs are copied completely and once, whatever the store does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/spec/upload_event.h"
#include "core/checkpoint/log_uploader.h"

/* ---- a store that does as it is told, in front of a real one ---- */

enum trouble {
	TROUBLE_NONE,
	TROUBLE_FAIL, /* all calls */
	TROUBLE_LIE,  /* writes, but reports a failure, once */
};

static struct {
	pthread_mutex_t mutex;
	enum trouble trouble;
	int puts, failed;
} told = { .mutex = PTHREAD_MUTEX_INITIALIZER };

static void tell(enum trouble trouble)
{
	pthread_mutex_lock(&told.mutex);
	told.trouble = trouble;
	told.puts = told.failed = 0;
	pthread_mutex_unlock(&told.mutex);
}

static int count_of(const int *what)
{
	int n;

	pthread_mutex_lock(&told.mutex);
	n = *what;
	pthread_mutex_unlock(&told.mutex);
	return n;
}

static int fails(struct error *err)
{
	bool yes;

	pthread_mutex_lock(&told.mutex);
	yes = told.trouble == TROUBLE_FAIL;
	told.failed += yes;
	pthread_mutex_unlock(&told.mutex);
	return yes ? error_set(err, ERROR_UNREACHABLE, "the bucket is on fire")
		   : 0;
}

static void *open_it(const struct object_env *env, struct error *err)
{
	return object_scheme_folder.open(env, err);
}

static void close_it(void *ctx)
{
	object_scheme_folder.close(ctx);
}

static int put_it(void *ctx, const char *url, int fd,
		  const struct object_put *how, struct arena *mem,
		  struct object *out, struct error *err)
{
	bool lies;

	if (fails(err) < 0)
		return -1;
	pthread_mutex_lock(&told.mutex);
	lies = told.trouble == TROUBLE_LIE && told.puts == 0;
	told.puts++;
	pthread_mutex_unlock(&told.mutex);
	if (object_scheme_folder.put(ctx, url, fd, how, mem, out, err) < 0)
		return -1;
	return lies ? error_set(err, ERROR_UNREACHABLE, "no answer came") : 0;
}

static int list_it(void *ctx, const char *folder, object_each *each, void *arg,
		   struct error *err)
{
	return fails(err) < 0
		       ? -1
		       : object_scheme_folder.list(ctx, folder, each, arg, err);
}

static const struct object_scheme scheme = {
	.prefix = "",
	.open = open_it,
	.close = close_it,
	.put = put_it,
	.list = list_it,
};
static const struct object_scheme *const schemes[] = { &scheme, NULL };

/* ---- a run ---- */

struct run {
	char folder[64]; /* of the test */
	char *attempts, *to, *events;
	struct object_env env;
	struct object_store *objects;
	struct log_uploader *saver;
};

static int setup(void **state)
{
	struct run *run = mem_alloc(sizeof(*run));

	snprintf(run->folder, sizeof(run->folder), "/tmp/test-logs-XXXXXX");
	assert_non_null(mkdtemp(run->folder));
	run->attempts = mem_printf("%s/a.", run->folder);
	run->to = mem_printf("%s/kept", run->folder);
	run->events = mem_printf("%s/" LOG_KEEPER_EVENTS, run->folder);
	tell(TROUBLE_NONE);
	*state = run;
	return 0;
}

static int teardown(void **state)
{
	struct run *run = *state;
	struct error err;

	assert_int_equal(folder_remove(run->folder, &err), 0);
	free(run->attempts);
	free(run->to);
	free(run->events);
	free(run);
	return 0;
}

static void begin(struct run *run)
{
	struct error err;
	struct log_uploader_deps deps = { .to = run->to,
					  .attempts = run->attempts,
					  .events = run->events,
					  .first = 1,
					  .every_s = 1 };

	run->objects = object_store_new(schemes, &run->env);
	deps.objects = run->objects;
	run->saver = log_uploader_new(&deps, &err);
	assert_non_null(run->saver);
}

static int end(struct run *run, long patience_s)
{
	int ret = log_uploader_end(run->saver, patience_s);

	object_store_free(run->objects);
	return ret;
}

/* Adds to a stream such as "1/logs/master-0.stdout". */
static void write_log(const struct run *run, const char *name, const void *data,
		      size_t len)
{
	char *path = mem_printf("%s%s", run->attempts, name);
	char *folder = path_folder(path);
	struct error err;
	FILE *file;

	assert_int_equal(folder_make(folder, &err), 0);
	file = fopen(path, "ab");
	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, len, file), len);
	fclose(file);
	free(folder);
	free(path);
}

struct found {
	char **urls;
	size_t count;
};

static int add_url(void *arg, const struct object *object, struct error *err)
{
	struct found *found = arg;

	(void)err;
	found->urls = mem_grow(found->urls, found->count + 1, sizeof(char *));
	found->urls[found->count++] = mem_strdup(object->url);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Returns how many pieces of a stream are stored; `out` gets them as `cat`
 * would join them. */
static size_t read_kept(const struct run *run, const char *name,
			struct buf *out)
{
	static const struct object_scheme *const folders[] = {
		&object_scheme_folder, NULL
	};
	struct object_store *objects = object_store_new(folders, &run->env);
	char *folder = path_join(run->to, name);
	struct found found = { 0 };
	struct error err;
	size_t len;

	buf_clear(out);
	assert_int_equal(object_list(objects, folder, add_url, &found, &err),
			 0);
	if (found.count)
		qsort(found.urls, found.count, sizeof(char *), by_name);
	for (size_t i = 0; i < found.count; i++) {
		char *text = file_read(found.urls[i], 64 << 20, &len, &err);

		assert_non_null(text);
		buf_add(out, text, len);
		free(text);
		free(found.urls[i]);
	}
	free(found.urls);
	free(folder);
	object_store_free(objects);
	return found.count;
}

static void assert_kept(const struct run *run, const char *name,
			const void *data, size_t len)
{
	struct buf kept = { 0 };

	read_kept(run, name, &kept);
	assert_int_equal(kept.len, len);
	assert_memory_equal(buf_text(&kept), data, len);
	buf_done(&kept);
}

/* Waits until there are more, for half a minute at most. */
static void wait_until_more(const int *what, int than)
{
	for (int i = 0; i < 3000 && count_of(what) <= than; i++)
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	assert_true(count_of(what) > than);
}

static void assert_last_event(const struct run *run,
			      enum upload_event_kind kind, const char *text)
{
	struct arena *mem = arena_new();
	struct upload_events events;
	uint64_t offset = 0;
	struct error err;

	assert_int_equal(
		upload_events_read(run->events, &offset, mem, &events, &err),
		0);
	assert_true(events.count);
	assert_int_equal(events.items[events.count - 1].kind, kind);
	assert_string_equal(events.items[events.count - 1].text, text);
	arena_free(mem);
}

/* ---- the tests ---- */

static void every_stream_of_every_attempt_and_trial_is_copied(void **state)
{
	struct run *run = *state;

	write_log(run, "1/logs/master-0.stdout", "a\0\xff\r\n", 5);
	write_log(run, "1/logs/master-0.index", "not this", 8);
	write_log(run, "1/logs/worker-12.stderr", "no newline", 10);
	write_log(run, "1/output/logs/x.stdout", "nor this", 8);
	write_log(run, "1/trials/7/attempt-2/logs/master-0.stdout", "t", 1);
	write_log(run, "2/logs/master-0.stdout", "again", 5);
	write_log(run, "3/logs/master-0.stdout", "another run's", 13);
	begin(run);
	log_uploader_attempt(run->saver, 2);
	assert_int_equal(end(run, 0), 0);
	assert_kept(run, "1/master-0.stdout", "a\0\xff\r\n", 5);
	assert_kept(run, "1/worker-12.stderr", "no newline", 10);
	assert_kept(run, "1/trials/7/attempt-2/master-0.stdout", "t", 1);
	assert_kept(run, "2/master-0.stdout", "again", 5);
	assert_int_equal(count_of(&told.puts), 4);
	assert_int_equal(access(run->events, F_OK), -1);
}

static void what_comes_while_it_goes_on_is_copied_before_the_end(void **state)
{
	struct run *run = *state;
	struct buf kept = { 0 };

	begin(run);
	write_log(run, "1/logs/master-0.stdout", "one\n", 4);
	wait_until_more(&told.puts, 0);
	write_log(run, "1/logs/master-0.stdout", "two\n", 4);
	wait_until_more(&told.puts, 1);
	write_log(run, "1/logs/master-0.stdout", "three\n", 6);
	assert_int_equal(end(run, 0), 0);
	assert_true(read_kept(run, "1/master-0.stdout", &kept) >= 2);
	assert_string_equal(buf_text(&kept), "one\ntwo\nthree\n");
	buf_done(&kept);
}

static void much_is_copied_in_pieces(void **state)
{
	struct run *run = *state;
	size_t len = (20 << 20) + 7;
	unsigned char *data = mem_alloc(len);
	struct buf kept = { 0 };

	for (size_t i = 0; i < len; i++)
		data[i] = (unsigned char)(i * 2654435761u >> 13);
	write_log(run, "1/logs/ps-0.stderr", data, len);
	begin(run);
	assert_int_equal(end(run, 0), 0);
	assert_int_equal(read_kept(run, "1/ps-0.stderr", &kept), 3);
	assert_int_equal(kept.len, len);
	assert_memory_equal(kept.data, data, len);
	buf_done(&kept);
	free(data);
}

static void another_process_goes_on_where_one_was_killed(void **state)
{
	struct run *run = *state;
	struct buf kept = { 0 };

	write_log(run, "1/logs/master-0.stdout", "first ", 6);
	begin(run);
	assert_int_equal(end(run, 0), 0);
	/* The first attempt was copied no further, and the second is
	 * unknown. */
	write_log(run, "1/logs/master-0.stdout", "second", 6);
	tell(TROUBLE_FAIL);
	begin(run);
	wait_until_more(&told.failed, 0);
	assert_int_equal(end(run, 0), -1);
	tell(TROUBLE_NONE);
	begin(run);
	assert_int_equal(end(run, 0), 0);
	assert_int_equal(count_of(&told.puts), 1);
	assert_int_equal(read_kept(run, "1/master-0.stdout", &kept), 2);
	assert_string_equal(buf_text(&kept), "first second");
	buf_done(&kept);
}

static void a_store_that_fails_is_shown_and_tried_again(void **state)
{
	struct run *run = *state;

	tell(TROUBLE_FAIL);
	write_log(run, "1/logs/master-0.stdout", "x", 1);
	begin(run);
	wait_until_more(&told.failed, 1);
	assert_last_event(
		run, UPLOAD_FAILING,
		"not everything is uploaded yet: the bucket is on fire");
	tell(TROUBLE_NONE);
	assert_int_equal(end(run, 60), 0);
	assert_kept(run, "1/master-0.stdout", "x", 1);
	assert_last_event(run, UPLOAD_DONE, "everything is uploaded");
}

static void its_patience_has_an_end(void **state)
{
	struct run *run = *state;

	tell(TROUBLE_FAIL);
	write_log(run, "1/logs/master-0.stdout", "x", 1);
	begin(run);
	assert_int_equal(end(run, 1), -1);
	assert_last_event(run, UPLOAD_FAILING,
			  "not everything could be uploaded");
}

static void an_answer_that_is_lost_doubles_nothing(void **state)
{
	struct run *run = *state;

	tell(TROUBLE_LIE);
	write_log(run, "1/logs/master-0.stdout", "once\n", 5);
	begin(run);
	wait_until_more(&told.puts, 0);
	/* There is more by the next try. */
	write_log(run, "1/logs/master-0.stdout", "more\n", 5);
	assert_int_equal(end(run, 60), 0);
	assert_kept(run, "1/master-0.stdout", "once\nmore\n", 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			every_stream_of_every_attempt_and_trial_is_copied,
			setup, teardown),
		cmocka_unit_test_setup_teardown(
			what_comes_while_it_goes_on_is_copied_before_the_end,
			setup, teardown),
		cmocka_unit_test_setup_teardown(much_is_copied_in_pieces, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			another_process_goes_on_where_one_was_killed, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			a_store_that_fails_is_shown_and_tried_again, setup,
			teardown),
		cmocka_unit_test_setup_teardown(its_patience_has_an_end, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			an_answer_that_is_lost_doubles_nothing, setup,
			teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
