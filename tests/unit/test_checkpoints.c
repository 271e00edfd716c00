/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/checkpoint/checkpoint_scan.h"
#include "core/checkpoint/checkpoint_store.h"
#include "core/checkpoint/checkpoint_watch.h"
#include "core/data/ignore.h"

/* A directory that a trainer writes to, and a store next to it. */
struct place {
	char base[64];
	char directory[96];
	char store[96];
	struct arena *mem;
	struct error err;
};

static int make_place(void **state)
{
	struct place *p = mem_alloc(sizeof(*p));

	strcpy(p->base, "/tmp/jobrun-test.XXXXXX");
	assert_non_null(mkdtemp(p->base));
	snprintf(p->directory, sizeof(p->directory), "%s/out", p->base);
	snprintf(p->store, sizeof(p->store), "%s/kept/job", p->base);
	assert_int_equal(folder_make(p->directory, &p->err), 0);
	p->mem = arena_new();
	*state = p;
	return 0;
}

static int remove_place(void **state)
{
	struct place *p = *state;

	assert_int_equal(folder_remove(p->base, &p->err), 0);
	arena_free(p->mem);
	free(p);
	return 0;
}

static const char *path_of(struct place *p, const char *name)
{
	char *path = path_join(p->directory, name);
	const char *out = arena_strdup(p->mem, path);

	free(path);
	return out;
}

/* Writes a file in place, as some trainers do. */
static void write_in(struct place *p, const char *name, const char *text)
{
	const char *path = path_of(p, name);
	char *folder = path_folder(path);
	FILE *file;

	assert_int_equal(folder_make(folder, &p->err), 0);
	free(folder);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* Writes a temporary file and renames it, as careful trainers do. */
static void write_beside(struct place *p, const char *name, const char *text)
{
	const char *tmp = arena_printf(p->mem, "%s.tmp", name);

	write_in(p, tmp, text);
	assert_int_equal(rename(path_of(p, tmp), path_of(p, name)), 0);
}

/* Makes a file look as if it was written that long ago. */
static void make_old(struct place *p, const char *name, int seconds)
{
	struct timespec times[2];

	clock_gettime(CLOCK_REALTIME, &times[0]);
	times[0].tv_sec -= seconds;
	times[1] = times[0];
	assert_int_equal(utimensat(AT_FDCWD, path_of(p, name), times, 0), 0);
}

static void steps_are_read_from_names(void **state)
{
	static const struct {
		const char *name;
		int64_t step;
	} cases[] = {
		{ "model-300.pt", 300 },
		{ "epoch=3-step=300.ckpt", 300 },
		{ "checkpoint-500", 500 },
		{ "step_00012", 12 },
		{ "step7", 7 },
		{ "model.ckpt-1000", 1000 },
		{ "17", 17 },
		{ "model.pt", -1 },
		{ "resnet50.pt", -1 },
		{ "v2.bin", -1 },
		{ "all.7z", -1 },
		{ "99999999999999999999", -1 },
		{ "", -1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		if (checkpoint_name_step(cases[i].name) != cases[i].step)
			fail_msg(
				"%s: %lld", cases[i].name,
				(long long)checkpoint_name_step(cases[i].name));
}

static void scan(struct place *p, struct buf *out)
{
	struct checkpoint_items items;
	int folder = open(p->directory, O_RDONLY | O_DIRECTORY);

	assert_int_equal(
		checkpoint_scan(folder, p->directory, p->mem, &items, &p->err),
		0);
	close(folder);
	buf_clear(out);
	for (size_t i = 0; i < items.count; i++)
		buf_printf(out, "%s:%zu%s ", items.items[i].what.name,
			   items.items[i].what.file_count,
			   items.items[i].is_partial ? "?" : "");
}

static void files_and_folders_are_checkpoints(void **state)
{
	static const char *const files[] = {
		/* One checkpoint each. */
		"a.pt", "step-5/model.pt", "step-5/deep/er/optimizer.pt",
		/* One checkpoint together. */
		"ckpt-3.index", "ckpt-3.data-00000-of-00002",
		"ckpt-3.data-00001-of-00002",
		/* An incomplete checkpoint. */
		"ckpt-4.data-00000-of-00001",
		/* No checkpoints. */
		".hidden", "x.tmp", "x.pt.tmp.1", "tmp-checkpoint-7/a", "y~",
		"7.orbax-checkpoint-tmp-17/a", "b.partial", "c.part",
		"ckpt-5_temp/part-00000"
	};
	struct place *p = *state;
	struct buf found = { 0 };

	for (size_t i = 0; i < COUNT(files); i++)
		write_in(p, files[i], "x");
	write_in(p, "checkpoint", "model_checkpoint_path: \"ckpt-3\"\n");
	write_in(p, "empty", "");
	assert_int_equal(symlink("a.pt", path_of(p, "latest")), 0);
	assert_int_equal(mkfifo(path_of(p, "pipe"), 0600), 0);
	assert_int_equal(mkdir(path_of(p, "begun"), 0700), 0);
	scan(p, &found);
	assert_string_equal(buf_text(&found),
			    "a.pt:1 ckpt-3:3 ckpt-4:1? step-5:2 ");
	buf_done(&found);
}

static struct checkpoint_watch *watch_open(struct place *p, int64_t quiet_ms)
{
	struct checkpoint_watch *watch =
		checkpoint_watch_open(p->directory, quiet_ms, false, &p->err);

	assert_non_null(watch);
	return watch;
}

/* Checks the names and states of all known checkpoints after a look. */
static void look(struct place *p, struct checkpoint_watch *watch,
		 const char *expected)
{
	static const char states[] = { 'n', 'W', 'K', 'B' };
	struct checkpoint_known **all;
	struct buf text = { 0 };
	int64_t next_ms;
	size_t count;

	assert_int_equal(checkpoint_watch_look(watch, &next_ms, &p->err), 0);
	all = checkpoint_watch_all(watch, &count);
	for (size_t i = 0; i < count; i++)
		buf_printf(&text, "%s:%c ", all[i]->what.name,
			   states[all[i]->state]);
	assert_string_equal(buf_text(&text), expected);
	buf_done(&text);
}

static void what_was_renamed_is_whole_at_once(void **state)
{
	struct place *p = *state;
	struct checkpoint_watch *watch = watch_open(p, 3600000);

	look(p, watch, "");
	write_beside(p, "a", "1");
	look(p, watch, "a:W ");
	write_in(p, "b.tmp/x", "1");
	look(p, watch, "a:W ");
	assert_int_equal(rename(path_of(p, "b.tmp"), path_of(p, "b")), 0);
	look(p, watch, "a:W b:W ");
	/* The same name is written in place. */
	write_in(p, "a", "22");
	look(p, watch, "b:W a:n ");
	write_beside(p, "a", "333");
	look(p, watch, "b:W a:W ");
	assert_int_equal(unlink(path_of(p, "a")), 0);
	look(p, watch, "b:W ");
	checkpoint_watch_close(watch);
}

static void what_is_left_alone_is_whole(void **state)
{
	struct place *p = *state;
	struct checkpoint_watch *watch = watch_open(p, 60000);
	int64_t next_ms;

	look(p, watch, "");
	write_in(p, "a", "1");
	write_in(p, "d/x", "1");
	look(p, watch, "a:n d:n ");
	make_old(p, "a", 30);
	assert_int_equal(checkpoint_watch_look(watch, &next_ms, &p->err), 0);
	assert_in_range(next_ms, 29000, 30000);
	make_old(p, "a", 61);
	look(p, watch, "d:n a:W ");
	make_old(p, "d/x", 61);
	/* A file was added to it just now. */
	look(p, watch, "a:W d:n ");
	make_old(p, "d", 61);
	/* More files of a folder may be to come. */
	look(p, watch, "a:W d:n ");
	/* A time in the future proves nothing. */
	write_in(p, "f", "1");
	make_old(p, "f", -3600);
	look(p, watch, "a:W d:n f:n ");
	checkpoint_watch_close(watch);
}

static void what_was_cut_off_never_is(void **state)
{
	struct place *p = *state;
	struct checkpoint_watch *watch = watch_open(p, 60000);

	look(p, watch, "");
	write_beside(p, "good", "1");
	write_in(p, "old", "1");
	write_in(p, "torn", "1");
	make_old(p, "old", 61);
	/* The file was closed just now. */
	look(p, watch, "good:W old:n torn:n ");
	make_old(p, "old", 62);
	make_old(p, "torn", 59);
	look(p, watch, "good:W old:W torn:n ");
	/* The trainer was killed. */
	assert_int_equal(checkpoint_watch_end(watch, time_monotonic_ms(), false,
					      &p->err),
			 0);
	look(p, watch, "good:W old:W torn:B ");
	checkpoint_watch_close(watch);
	/* The same holds however long ago that was. */
	make_old(p, "torn", 3600);
	watch = watch_open(p, 60000);
	look(p, watch, "good:W old:W torn:B ");
	/* The state changes only when it is written again. */
	write_beside(p, "torn", "2");
	look(p, watch, "good:W old:W torn:W ");
	checkpoint_watch_close(watch);
}

/* Ends the watch as if the trainer had failed `ms` from now; looks, and cleans
 * up. */
static void fail_after(struct place *p, struct checkpoint_watch *watch,
		       int64_t ms, const char *expected)
{
	assert_int_equal(checkpoint_watch_end(watch, time_monotonic_ms() + ms,
					      false, &p->err),
			 0);
	look(p, watch, expected);
	checkpoint_watch_close(watch);
	assert_int_equal(folder_remove(p->directory, &p->err), 0);
}

static void what_was_closed_before_a_failure_counts(void **state)
{
	struct place *p = *state;
	struct checkpoint_watch *watch = watch_open(p, 60000);

	/* A later checkpoint was begun, even if that is noticed only at the
	 * end. */
	write_in(p, "step-1", "1");
	write_in(p, "step-2", "1");
	look(p, watch, "step-1:n step-2:n ");
	write_in(p, "step-3", "1");
	write_in(p, "step-4", "1");
	fail_after(p, watch, 1000, "step-1:W step-2:W step-3:W step-4:B ");
	/* The trainer went on for a while. */
	watch = watch_open(p, 60000);
	write_in(p, "step-5", "1");
	write_in(p, "last", "1");
	look(p, watch, "last:n step-5:n ");
	fail_after(p, watch, 3000, "last:W step-5:W ");
	/* A file changed after it was closed does not count. */
	watch = watch_open(p, 60000);
	write_in(p, "last", "1");
	look(p, watch, "last:n ");
	make_old(p, "last", 1);
	fail_after(p, watch, 3000, "last:B ");
	/* The trainer has opened the file again. */
	watch = watch_open(p, 60000);
	write_in(p, "last", "1");
	FILE *file = fopen(path_of(p, "last"), "a");
	look(p, watch, "last:n ");
	fail_after(p, watch, 3000, "last:B ");
	fclose(file);
}

static void what_is_open_is_not_whole(void **state)
{
	struct place *p = *state;
	struct checkpoint_watch *watch = watch_open(p, 60000);
	FILE *file, *inner;

	look(p, watch, "");
	write_in(p, "d/x", "1");
	file = fopen(path_of(p, "a"), "w");
	inner = fopen(path_of(p, "d/y"), "w");
	fputs("1", file);
	fputs("1", inner);
	fflush(file);
	fflush(inner);
	make_old(p, "a", 61);
	make_old(p, "d/x", 61);
	make_old(p, "d/y", 61);
	make_old(p, "d", 61);
	look(p, watch, "a:n d:n ");
	fclose(inner);
	make_old(p, "d/y", 61);
	write_in(p, "d/COMPLETE", "");
	look(p, watch, "a:n d:W ");
	fail_after(p, watch, 3600000, "a:B d:W ");
	fclose(file);
}

static void a_folder_counts_when_something_says_so(void **state)
{
	struct place *p = *state;
	struct checkpoint_watch *watch = watch_open(p, 60000);
	FILE *file;

	look(p, watch, "");
	/* Files that mean that all others are there. */
	write_in(p, "a/model.pt", "1");
	make_old(p, "a/model.pt", 61);
	make_old(p, "a", 61);
	look(p, watch, "a:n ");
	write_in(p, "a/COMPLETE", "");
	look(p, watch, "a:W ");
	write_in(p, "b/0.distcp", "1");
	write_in(p, "b/.metadata", "1");
	look(p, watch, "a:W b:W ");
	/* Not while it is written, and not what an earlier one has left. */
	file = fopen(path_of(p, "b/1.distcp"), "w");
	look(p, watch, "a:W b:n ");
	fputs("1", file);
	fclose(file);
	make_old(p, "b/.metadata", 1);
	look(p, watch, "a:W b:n ");
	fail_after(p, watch, 3600000, "a:W b:B ");
	/* The last file of a format, and then nothing for a while. */
	watch = watch_open(p, 60000);
	write_in(p, "c/model.bin", "1");
	write_in(p, "c/trainer_state.json", "1");
	look(p, watch, "c:n ");
	make_old(p, "c/model.bin", 61);
	make_old(p, "c/trainer_state.json", 61);
	make_old(p, "c", 61);
	look(p, watch, "c:W ");
	checkpoint_watch_close(watch);
	/* Lists, which name the newest one; they are no checkpoints. */
	assert_int_equal(folder_remove(p->directory, &p->err), 0);
	watch = watch_open(p, 60000);
	write_in(p, "global_step9/x", "1");
	look(p, watch, "global_step9:n ");
	write_in(p, "latest", "global_step8\n");
	look(p, watch, "global_step9:n ");
	write_in(p, "latest", "global_step9\n");
	look(p, watch, "global_step9:W ");
	checkpoint_watch_close(watch);
	assert_int_equal(folder_remove(p->directory, &p->err), 0);
	watch = watch_open(p, 60000);
	write_in(p, "iter_0000020/x", "1");
	write_in(p, "latest_checkpointed_iteration.txt", "20");
	look(p, watch, "iter_0000020:W ");
	/* It is written anew, and only its name is the old one. */
	make_old(p, "latest_checkpointed_iteration.txt", 5);
	write_in(p, "iter_0000020/y", "1");
	look(p, watch, "iter_0000020:n ");
	checkpoint_watch_close(watch);
}

static void a_folder_counts_when_a_later_one_is_begun(void **state)
{
	struct place *p = *state;
	struct checkpoint_watch *watch = watch_open(p, 60000);

	write_in(p, "step-1/x", "1");
	write_in(p, "step-2/x", "1");
	make_old(p, "step-1/x", 30);
	make_old(p, "step-1", 30);
	make_old(p, "step-2/x", 20);
	make_old(p, "step-2", 20);
	look(p, watch, "step-1:W step-2:n ");
	/* A file beside it, or one of an earlier step, does not count. */
	write_in(p, "events.1700000000", "1");
	write_in(p, "step-0/x", "1");
	look(p, watch, "step-1:W step-2:n events.1700000000:n step-0:n ");
	fail_after(p, watch, 60000,
		   "step-1:W step-2:B events.1700000000:W step-0:B ");
}

static void
an_unconfirmed_folder_is_left_out_until_it_is_committed(void **state)
{
	struct place *p = *state;
	struct checkpoint_watch *watch = watch_open(p, 60000);

	write_in(p, "step-1/x", "1");
	look(p, watch, "step-1:n ");
	assert_int_equal(checkpoint_watch_end(watch, time_monotonic_ms(), false,
					      &p->err),
			 0);
	checkpoint_watch_close(watch);
	/* Neither the next trainer's checkpoints nor time confirm it, even to a
	 * watch that takes over from a killed one. */
	watch = checkpoint_watch_open(p->directory, 60000, true, &p->err);
	write_in(p, "step-2/x", "1");
	make_old(p, "step-2/x", -1);
	make_old(p, "step-2", -1);
	look(p, watch, "step-1:B step-2:n ");
	checkpoint_watch_close(watch);
	/* Its owner does. */
	write_in(p, "step-1/COMPLETE", "");
	watch = watch_open(p, 60000);
	look(p, watch, "step-1:W step-2:B ");
	checkpoint_watch_close(watch);
}

static void who_ended_well_has_written_all(void **state)
{
	struct place *p = *state;
	struct checkpoint_watch *watch = watch_open(p, 60000);

	write_in(p, "a", "1");
	write_in(p, "ckpt-1.index", "1");
	assert_int_equal(
		checkpoint_watch_end(watch, time_monotonic_ms(), true, &p->err),
		0);
	look(p, watch, "a:W ckpt-1:B ");
	checkpoint_watch_close(watch);
}

static void what_was_there_before_counts_if_it_is_old(void **state)
{
	struct place *p = *state;
	struct checkpoint_watch *watch;

	write_in(p, "old", "1");
	make_old(p, "old", 61);
	write_in(p, "new", "1");
	watch = watch_open(p, 60000);
	look(p, watch, "new:n old:W ");
	checkpoint_watch_close(watch);
}

static void a_directory_that_is_made_anew_is_followed(void **state)
{
	struct place *p = *state;
	struct checkpoint_watch *watch = watch_open(p, 60000);

	write_beside(p, "a", "1");
	look(p, watch, "a:W ");
	assert_int_equal(folder_remove(p->directory, &p->err), 0);
	look(p, watch, "");
	write_in(p, "b.tmp", "1");
	look(p, watch, "");
	assert_int_equal(rename(path_of(p, "b.tmp"), path_of(p, "b")), 0);
	look(p, watch, "b:W ");
	checkpoint_watch_close(watch);
}

static bool always_same(void *arg)
{
	(void)arg;
	return true;
}

static struct object_store *open_folders(void)
{
	static const struct object_scheme *const schemes[] = {
		&object_scheme_folder, NULL
	};
	static const struct object_env env = { 0 };

	return object_store_new(schemes, &env);
}

/* Uploads the contents of the directory with a name. */
static void put(struct place *p, struct checkpoint_store *store,
		const char *name, double value, int64_t time_ms)
{
	struct checkpoint_source from = { .is_same = always_same };
	struct checkpoint_item item;
	long number = 0;

	from.folder = open(p->directory, O_RDONLY | O_DIRECTORY);
	assert_int_equal(checkpoint_scan_one(from.folder, p->directory, name,
					     p->mem, &item, &p->err),
			 0);
	item.what.metric = "loss";
	item.what.value = value;
	if (time_ms)
		item.what.time_ms = time_ms;
	assert_int_equal(checkpoint_store_put(store, &item.what, &from, &number,
					      &p->err),
			 0);
	assert_true(number > 0);
	close(from.folder);
}

static void note_skipped(void *arg, const char *what, const char *why)
{
	buf_printf(arg, "%s: %s\n", path_base(what), why);
}

static void read_store(struct place *p, struct checkpoint_store *store,
		       const char *names, const char *skipped)
{
	const struct checkpoint *all;
	struct buf said = { 0 }, text = { 0 };
	size_t count;

	assert_int_equal(
		checkpoint_store_read(store, note_skipped, &said, &p->err), 0);
	all = checkpoint_store_all(store, &count);
	for (size_t i = 0; i < count; i++)
		buf_printf(&text, "%ld:%s ", all[i].number, all[i].name);
	assert_string_equal(buf_text(&text), names);
	if (skipped)
		assert_string_equal(buf_text(&said), skipped);
	buf_done(&said);
	buf_done(&text);
}

static void has(struct place *p, const char *path, const char *expected)
{
	size_t len;
	char *text = file_read(arena_printf(p->mem, "%s/%s", p->base, path),
			       1 << 20, &len, &p->err);

	if (expected)
		assert_string_equal(text, expected);
	else
		assert_null(text);
	free(text);
}

static void what_is_kept_comes_back(void **state)
{
	struct place *p = *state;
	struct object_store *objects = open_folders();
	struct checkpoint_store *store =
		checkpoint_store_open(objects, p->store);
	const char *to = arena_printf(p->mem, "%s/back", p->base);
	const struct checkpoint *all;
	size_t count;

	write_in(p, "a.pt", "one");
	write_in(p, "d/x/y", "two");
	write_in(p, "d/z", "three");
	read_store(p, store, "", "");
	put(p, store, "a.pt", 1.5, 0);
	put(p, store, "d", NAN, 0);
	read_store(p, store, "1:a.pt 2:d ", "");
	all = checkpoint_store_all(store, &count);
	assert_true(all[0].value < 1.6 && all[0].value > 1.4);
	assert_true(isnan(all[1].value));
	assert_int_equal(all[1].size_bytes, 8);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(
			checkpoint_store_get(store, &all[i], to, &p->err), 0);
	has(p, "back/a.pt", "one");
	has(p, "back/d/x/y", "two");
	has(p, "back/d/z", "three");
	checkpoint_store_close(store);
	object_store_free(objects);
}

static void put_text(struct place *p, const char *path, const char *text)
{
	const char *whole =
		arena_printf(p->mem, "%s/kept/job/%s", p->base, path);

	assert_int_equal(file_write(whole, text, strlen(text), &p->err), 0);
}

/* Only what leads to the same checkpoint, whatever lies between. */
static void links_lead_inside_or_out(void **state)
{
	static const struct {
		const char *path, *link;
		bool inside;
	} cases[] = {
		{ "s/a", "b", true },          { "s/a", "d/b", true },
		{ "s/d/a", "../b", true },     { "s/d/e/a", "../../b", true },
		{ "s/a", "../s/b", false },    { "s/a", "../t/b", false },
		{ "s/d/a", "../../t", false }, { "s/a", "/etc/passwd", false },
		{ "s/a", "b/../../x", false }, { "s/a", "..", false },
		{ "s/a", ".", false },         { "s/a", "", false },
		{ "a", "b", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		if (checkpoint_link_is_inside(cases[i].path, cases[i].link) !=
		    cases[i].inside)
			fail_msg("%s -> %s", cases[i].path, cases[i].link);
}

static int read_links(struct place *p, const char *first, const char *second)
{
	const char *text =
		arena_printf(p->mem,
			     "{\"formatVersion\":1,\"name\":\"s\","
			     "\"time\":\"2026-11-21T00:00:00Z\",\"files\":["
			     "{\"path\":\"s/p/q/a\",\"link\":\"../b\"},"
			     "{\"path\":\"%s\",\"link\":\"../../e\"},"
			     "{\"path\":\"%s\",\"link\":\"../../../z\"}]}",
			     first, second);
	json_t *json = json_loads(text, 0, NULL);
	struct checkpoint one;
	int ret = checkpoint_from_json(json, p->mem, &one, &p->err);

	json_decref(json);
	return ret;
}

/* The folder of such a link is not where its path says. */
static void no_link_is_made_through_another(void **state)
{
	struct place *p = *state;

	assert_int_equal(read_links(p, "s/p/q/d", "s/p/q/dd/l"), 0);
	assert_int_equal(read_links(p, "s/p/q/d", "s/p/q/d/l"), -1);
	assert_string_equal(p->err.text, "its manifest is broken");
	assert_int_equal(read_links(p, "s/p/q/d", "s/p/q/d/e/l"), -1);
}

static void links_within_a_folder_are_kept(void **state)
{
	struct place *p = *state;
	struct object_store *objects = open_folders();
	struct checkpoint_store *store =
		checkpoint_store_open(objects, p->store);
	struct checkpoint_source from = { .is_same = always_same };
	struct checkpoint_item item;
	const struct checkpoint *all;
	char target[PATH_MAX];
	size_t count;
	long number;

	write_in(p, "s/rank0.pt", "1");
	write_in(p, "s/d/x", "1");
	assert_int_equal(symlink("rank0.pt", path_of(p, "s/latest.pt")), 0);
	/* It would lead elsewhere when it is fetched. */
	assert_int_equal(
		symlink(path_of(p, "s/rank0.pt"), path_of(p, "s/d/up")), 0);
	from.folder = open(p->directory, O_RDONLY | O_DIRECTORY);
	assert_int_equal(checkpoint_scan_one(from.folder, p->directory, "s",
					     p->mem, &item, &p->err),
			 0);
	assert_null(item.stray_link);
	assert_int_equal(checkpoint_store_read(store, NULL, NULL, &p->err), 0);
	assert_int_equal(checkpoint_store_put(store, &item.what, &from, &number,
					      &p->err),
			 0);
	assert_int_equal(checkpoint_store_read(store, NULL, NULL, &p->err), 0);
	all = checkpoint_store_all(store, &count);
	assert_int_equal(count, 1);
	assert_int_equal(checkpoint_store_get(store, &all[0],
					      path_of(p, ".fetched"), &p->err),
			 0);
	assert_int_equal(readlink(path_of(p, ".fetched/s/latest.pt"), target,
				  sizeof(target)),
			 8);
	assert_memory_equal(target, "rank0.pt", 8);
	assert_int_equal(
		readlink(path_of(p, ".fetched/s/d/up"), target, sizeof(target)),
		11);
	assert_memory_equal(target, "../rank0.pt", 11);
	/* A link that leads out cannot be kept, so nothing is. */
	assert_int_equal(symlink("../other", path_of(p, "s/out")), 0);
	assert_int_equal(checkpoint_scan_one(from.folder, p->directory, "s",
					     p->mem, &item, &p->err),
			 0);
	assert_string_equal(item.stray_link, "s/out");
	assert_true(item.is_partial);
	close(from.folder);
	checkpoint_store_close(store);
	object_store_free(objects);
}

static void half_and_broken_ones_do_not_count(void **state)
{
	static const char strange[] = "{\"formatVersion\":1,\"name\":\"..\","
				      "\"time\":\"2026-11-21T00:00:00Z\","
				      "\"files\":[{\"path\":\"../x\","
				      "\"size\":1,\"crc32c\":\"x\"}]}";
	struct place *p = *state;
	struct object_store *objects = open_folders();
	struct checkpoint_store *store =
		checkpoint_store_open(objects, p->store);
	const char *to = arena_printf(p->mem, "%s/back", p->base);
	const struct checkpoint *all;
	size_t count;

	read_store(p, store, "", "");
	for (int i = 1; i <= 6; i++) {
		write_in(p, "a", i == 6 ? "good" : "text");
		put(p, store, "a", i, i);
	}
	assert_int_equal(
		unlink(arena_printf(p->mem, "%s/00000001.json", p->store)), 0);
	put_text(p, "00000002.json", "{\"formatVersion\": 1,");
	put_text(p, "00000003/a", "tex");
	put_text(p, "00000004.json", "{\"formatVersion\": 2}");
	put_text(p, "00000005.json", strange);
	put_text(p, "notes.txt", "not ours");
	read_store(p, store, "6:a ",
		   "00000001: its upload was interrupted\n"
		   "00000002: its manifest:1:20: string or '}' expected near "
		   "end of file\n"
		   "00000003: 'a' is not what was written\n"
		   "00000004: its manifest has another version\n"
		   "00000005: its manifest is broken\n");
	/* Other bytes of the same size. */
	put_text(p, "00000006/a", "evil");
	read_store(p, store, "6:a ", NULL);
	all = checkpoint_store_all(store, &count);
	assert_int_equal(checkpoint_store_get(store, &all[0], to, &p->err), -1);
	assert_non_null(strstr(p->err.text, "is not what was written"));
	assert_int_equal(p->err.code, ERROR_FAILED);
	checkpoint_store_close(store);
	object_store_free(objects);
}

static void the_best_and_the_newest_stay(void **state)
{
	static const struct checkpoint_order least = { .metric = "loss" };
	static const struct checkpoint_order by_age = { 0 };
	/* Checkpoints go by their times, which are not in the order of their
	 * numbers. */
	static const double values[] = { 5, 1, 2, NAN, 9 };
	struct place *p = *state;
	struct object_store *objects = open_folders();
	struct checkpoint_store *store =
		checkpoint_store_open(objects, p->store);

	read_store(p, store, "", "");
	write_in(p, "a", "x");
	for (size_t i = 0; i < COUNT(values); i++)
		put(p, store, "a", values[i], (int64_t)i + 1000);
	assert_int_equal(checkpoint_store_prune(store, 2, &least, &p->err), 2);
	read_store(p, store, "2:a 3:a 5:a ", "");
	has(p, "kept/job/00000001/a", NULL);
	/* The remains of an interrupted upload are removed, too. */
	assert_int_equal(
		folder_make(arena_printf(p->mem, "%s/00000009", p->store),
			    &p->err),
		0);
	put_text(p, "00000009/half", "h");
	read_store(p, store, "2:a 3:a 5:a ",
		   "00000009: its upload was interrupted\n");
	assert_int_equal(checkpoint_store_prune(store, 1, &by_age, &p->err), 2);
	read_store(p, store, "5:a ", "");
	has(p, "kept/job/00000009/half", NULL);
	/* The number is not used again. */
	put(p, store, "a", 0, 2000);
	read_store(p, store, "5:a 6:a ", "");
	checkpoint_store_close(store);
	object_store_free(objects);
}

static void the_directory_is_no_part_of_the_source(void **state)
{
	static const struct {
		const char *path, *pattern;
	} cases[] = {
		{ "ckpt", "/ckpt/\n" }, { "./out//ckpt/", "/out/ckpt/\n" },
		{ "a*b", "/a\\*b/\n" }, { "/abs", NULL },
		{ "../up", NULL },      { "a/../b", NULL },
		{ ".", NULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char *pattern = ignore_pattern(cases[i].path);

		if (cases[i].pattern)
			assert_string_equal(pattern, cases[i].pattern);
		else
			assert_null(pattern);
		free(pattern);
	}
}

#define IN_PLACE(test)                                                         \
	cmocka_unit_test_setup_teardown(test, make_place, remove_place)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links_lead_inside_or_out),
		cmocka_unit_test(steps_are_read_from_names),
		cmocka_unit_test(the_directory_is_no_part_of_the_source),
		IN_PLACE(files_and_folders_are_checkpoints),
		IN_PLACE(what_was_renamed_is_whole_at_once),
		IN_PLACE(what_is_left_alone_is_whole),
		IN_PLACE(what_was_cut_off_never_is),
		IN_PLACE(what_was_closed_before_a_failure_counts),
		IN_PLACE(what_is_open_is_not_whole),
		IN_PLACE(a_folder_counts_when_something_says_so),
		IN_PLACE(a_folder_counts_when_a_later_one_is_begun),
		IN_PLACE(
			an_unconfirmed_folder_is_left_out_until_it_is_committed),
		IN_PLACE(no_link_is_made_through_another),
		IN_PLACE(links_within_a_folder_are_kept),
		IN_PLACE(who_ended_well_has_written_all),
		IN_PLACE(what_was_there_before_counts_if_it_is_old),
		IN_PLACE(a_directory_that_is_made_anew_is_followed),
		IN_PLACE(what_is_kept_comes_back),
		IN_PLACE(half_and_broken_ones_do_not_count),
		IN_PLACE(the_best_and_the_newest_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
