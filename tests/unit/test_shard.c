/* SPDX-License-Identifier: Apache-2.0 */
/* Samples, plans, headers and scans: cases that tests/cli/shard.bats would test
 * more slowly, and malicious archives. */
#include "core/shard/samples.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/shard/shard_plan.h"
#include "core/shard/shard_writer.h"
#include "core/data/sample_key.h"
#include "core/data/tar_header.h"
#include "core/data/tar_scan.h"

struct place {
	char folder[64];
	char archive[80];
};

static int set_up(void **state)
{
	struct place *at = mem_alloc(sizeof(*at));

	strcpy(at->folder, "/tmp/jobrun-shard-XXXXXX");
	if (!mkdtemp(at->folder))
		return -1;
	snprintf(at->archive, sizeof(at->archive), "%s/a.tar", at->folder);
	*state = at;
	return 0;
}

static int tear_down(void **state)
{
	struct place *at = *state;
	struct error err;
	int ret = folder_remove(at->folder, &err);

	free(at);
	return ret;
}

/* ---- names ------------------------------------------------------------- */

static void the_key_ends_at_the_first_dot_of_the_base_name(void **state)
{
	static const struct {
		const char *path;
		size_t len;
	} cases[] = {
		{ "a.jpg", 1 },
		{ "a.seg.png", 1 },
		{ "d.x/a.jpg", 5 },
		{ "d.x/a", 0 },
		{ "a", 0 },
		{ ".a.jpg", 0 },
		{ "d/.a", 0 },
		{ "a.", 1 },
		{ "d/a b.c", 5 },
		{ "\xc3\xa9.x", 2 },
		{ "", 0 },
		/* Names that WebDataset skips or refuses. */
		{ "__meta__/a.jpg", 0 },
		{ "__a.b__", 0 },
		{ "a/__x__/b.c", 9 },
		{ "__a/b.c", 5 },
		{ "___/b.c", 5 },
		{ "a.__key__", 0 },
		{ "d/a.__URL__", 0 },
		{ "a.x.__key__", 1 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++)
		if (sample_key_len(cases[i].path) != cases[i].len)
			fail_msg("%s: %zu", cases[i].path,
				 sample_key_len(cases[i].path));
}

static void add(struct samples *all, uint32_t source, const char *name,
		uint64_t size_bytes)
{
	samples_add_file(all, &(struct sample_file){
				      .name = arena_strdup(all->mem, name),
				      .size_bytes = size_bytes,
				      .source = source });
}

/* Shows keys and parts: "a:jpg,txt b:jpg ". */
static char *show(const struct samples *all)
{
	struct buf text = { 0 };
	size_t i, j;

	for (i = 0; i < all->count; i++) {
		const struct sample *sample = &all->items[i];

		for (j = 0; j < sample->count; j++) {
			const struct sample_file *file =
				&all->files[sample->first + j];

			if (!j)
				buf_printf(&text, "%.*s:", (int)file->key_len,
					   file->name);
			buf_printf(&text, "%s%s", j ? "," : "",
				   file->name + file->key_len + 1);
		}
		buf_putc(&text, ' ');
	}
	buf_puts(&text, "");
	return buf_take(&text);
}

static void samples_come_in_the_order_of_their_first_file(void **state)
{
	static const struct {
		const char *names[8];
		const char *want;
		const char *error;
	} cases[] = {
		{ { "a.txt", "b.jpg", "a.jpg" }, "a:jpg,txt b:jpg ", "" },
		{ { "b.x", "a.x", "b.a", "a-b.x" }, "b:a,x a:x a-b:x ", "" },
		{ { "a.x", "a-b.x", "a/b.x" }, "a:x a-b:x a/b:x ", "" },
		{ { "a-b.x", "a.x", "a.y" }, "a-b:x a:x,y ", "" },
		{ { "z.b.c", "z.b", "z.a" }, "z:a,b,b.c ", "" },
		{ { "a.x", "b.x", "a.x" },
		  "",
		  "'one' has the file 'a.x' twice" },
		{ { "x", ".y.z", "q/.h/a.b" }, "", "no samples" },
	};
	size_t i, j;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct samples *all = samples_new();
		struct error err = { 0 };
		char *shown;

		samples_add_source(all, SOURCE_TAR, "one", -1);
		for (j = 0; cases[i].names[j]; j++)
			add(all, 0, cases[i].names[j], 1);
		if (samples_order(all, &err) < 0)
			all->count = 0;
		shown = show(all);
		assert_string_equal(err.text, cases[i].error);
		assert_string_equal(shown, cases[i].want);
		free(shown);
		samples_free(all);
	}
}

static void a_sample_has_one_class(void **state)
{
	struct samples *all = samples_new();
	struct error err = { 0 };
	char *shown;

	(void)state;
	samples_add_source(all, SOURCE_TAR, "one", -1);
	add(all, 0, "dog/1.jpg", 1);
	add(all, 0, "cat/1.jpg", 1);
	add(all, 0, "dog-2/1.jpg", 1);
	add(all, 0, "dog/1.abc", 1); /* not next to its neighbour */
	add(all, 0, "do/1.jpg", 1);
	assert_int_equal(samples_add_classes(all, &err), 0);
	assert_int_equal(samples_order(all, &err), 0);
	shown = show(all);
	assert_string_equal(shown, "dog/1:abc,cls,jpg cat/1:cls,jpg "
				   "dog-2/1:cls,jpg do/1:cls,jpg ");
	assert_int_equal(all->class_count, 4);
	assert_string_equal(all->classes[2], "dog");
	/* Samples: cat, do, dog, dog-2. */
	assert_int_equal(all->files[all->items[0].first + 1].offset, 2);
	assert_int_equal(all->files[all->items[1].first].offset, 0);
	assert_int_equal(all->files[all->items[2].first].offset, 3);
	assert_int_equal(all->files[all->items[3].first].offset, 1);
	free(shown);
	samples_free(all);

	all = samples_new();
	samples_add_source(all, SOURCE_TAR, "one", -1);
	add(all, 0, "dog/1.cls", 1);
	add(all, 0, "dog/1.jpg", 1);
	assert_int_equal(samples_add_classes(all, &err), 0);
	assert_int_equal(samples_order(all, &err), -1);
	assert_string_equal(err.text, "'dog/1.cls' exists already: a sample "
				      "can have only one class");
	samples_free(all);
}

/* ---- folders ----------------------------------------------------------- */

static void touch(const char *folder, const char *name)
{
	char *path = path_join(folder, name);
	char *above = path_folder(path);
	struct error err;

	int fd;

	assert_int_equal(folder_make(above, &err), 0);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	assert_true(fd >= 0);
	close(fd);
	free(above);
	free(path);
}

/* The order of a walk must be that of sorted keys: then it is known to be in
 * order without sorting. */
static void a_walk_is_in_the_order_of_the_keys(void **state)
{
	static const char alphabet[] = "ab.-/ \x01\xc3";
	struct place *at = *state;
	uint64_t random = 1;
	int round, i, j;

	for (round = 0; round < 20; round++) {
		struct samples_how how = { .sizes = round & 1 };
		struct samples *all = samples_new();
		char *folder = mem_printf("%s/%d", at->folder, round);
		struct error err = { 0 };
		size_t k;

		for (i = 0; i < 40; i++) {
			char name[24] = "k", clean[PATH_MAX];
			int n = 1;

			for (j = 0; j < 6; j++) {
				random = random * 6364136223846793005u + 1;
				name[n++] = alphabet[(random >> 40) % 8];
			}
			strcpy(name + n, ".x");
			if (path_clean(name, clean))
				continue;
			if (strstr(clean, "./") || strstr(clean, "//"))
				continue;
			touch(folder, clean);
		}
		assert_int_equal(samples_add_folder(all, folder, &how, &err),
				 0);
		assert_int_equal(samples_order(all, &err), 0);
		/* Nothing was moved. */
		for (k = 0; k < all->count; k++)
			assert_int_equal(all->items[k].first,
					 k ? all->items[k - 1].first +
							 all->items[k - 1].count
					   : 0);
		for (k = 1; k < all->file_count; k++) {
			const struct sample_file *a = &all->files[k - 1];
			const struct sample_file *b = &all->files[k];
			size_t len = a->key_len < b->key_len ? a->key_len
							     : b->key_len;
			int order = memcmp(a->name, b->name, len);

			if (order > 0 || (!order && a->key_len > b->key_len))
				fail_msg("'%s' before '%s'", a->name, b->name);
		}
		samples_free(all);
		free(folder);
	}
}

/* ---- shuffling and plans ----------------------------------------------- */

static struct samples *many(size_t count)
{
	struct samples *all = samples_new();
	struct error err;
	char name[24];
	size_t i;

	samples_add_source(all, SOURCE_TAR, "one", -1);
	for (i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "%06zu.a", i);
		add(all, 0, name, i * 7919 % 5000);
		if (i % 3 == 0) {
			snprintf(name, sizeof(name), "%06zu.b", i);
			add(all, 0, name, 10);
		}
	}
	assert_int_equal(samples_order(all, &err), 0);
	return all;
}

static void a_shuffle_is_a_permutation(void **state)
{
	size_t count, i, moved = 0;

	(void)state;
	for (count = 1; count < 200; count += 13) {
		struct samples *all = many(count), *again = many(count);
		bool *seen = mem_alloc(all->file_count * sizeof(*seen));

		samples_shuffle(all, 42);
		samples_shuffle(again, 42);
		for (i = 0; i < count; i++) {
			assert_int_equal(all->items[i].first,
					 again->items[i].first);
			assert_false(seen[all->items[i].first]);
			seen[all->items[i].first] = true;
			moved += i &&
				 all->items[i].first < all->items[i - 1].first;
		}
		free(seen);
		samples_free(all);
		samples_free(again);
	}
	assert_true(moved > 200);
}

static uint64_t bytes_of(const struct samples *all, size_t from, size_t to)
{
	uint64_t bytes = TAR_END;
	size_t i, j;

	for (i = from; i < to; i++)
		for (j = 0; j < all->items[i].count; j++) {
			const struct sample_file *file =
				&all->files[all->items[i].first + j];

			bytes += TAR_BLOCK + file->size_bytes +
				 tar_padding(file->size_bytes);
		}
	return bytes;
}

/* Whatever the limits are: all samples come once and in order, and no shard
 * breaks a limit or could have taken the next sample. */
static void plans_keep_their_limits(void **state)
{
	size_t count, n, b, i;

	(void)state;
	for (count = 1; count < 60; count += 7) {
		struct samples *all = many(count);

		for (n = 0; n < 20; n++)
			for (b = 0; b < 30000; b += 2999) {
				struct shard_limits limits = { .samples = n,
							       .bytes = b };
				struct shard_plan plan;
				struct error err;

				assert_int_equal(shard_plan_make(all, &limits,
								 &plan, &err),
						 0);
				assert_int_equal(plan.first[0], 0);
				assert_int_equal(plan.first[plan.count], count);
				for (i = 0; i < plan.count; i++) {
					size_t from = plan.first[i];
					size_t to = plan.first[i + 1];

					assert_true(from < to);
					assert_true(!n || to - from <= n);
					assert_true(!b || to - from == 1 ||
						    bytes_of(all, from, to) <=
							    b);
					if (to == count ||
					    (n && to - from == n))
						continue;
					assert_true(b && bytes_of(all, from,
								  to + 1) > b);
				}
				shard_plan_done(&plan);
			}
		samples_free(all);
	}
}

static void a_number_of_shards_is_kept(void **state)
{
	struct samples *all = many(100);
	struct shard_plan plan;
	struct error err;
	size_t n, i;

	(void)state;
	for (n = 1; n <= 101; n++) {
		struct shard_limits limits = { .shards = n };

		if (n == 101) {
			assert_int_equal(
				shard_plan_make(all, &limits, &plan, &err), -1);
			assert_string_equal(err.text, "100 samples cannot fill "
						      "101 shards");
			break;
		}
		assert_int_equal(shard_plan_make(all, &limits, &plan, &err), 0);
		assert_int_equal(plan.count, n);
		assert_int_equal(plan.first[n], 100);
		for (i = 0; i < n; i++) {
			size_t has = plan.first[i + 1] - plan.first[i];

			assert_true(has == 100 / n || has == 100 / n + 1);
		}
		shard_plan_done(&plan);
	}
	samples_free(all);
}

/* ---- archives ---------------------------------------------------------- */

/* What a scan saw, as "f:name=size ". */
struct seen {
	struct buf text;
};

static int see(void *arg, const struct tar_member *member, struct error *err)
{
	static const char letters[] = "fdlhs";
	struct seen *seen = arg;

	(void)err;
	buf_printf(&seen->text, "%c:%s=%llu ", letters[member->type],
		   member->name, (unsigned long long)member->size_bytes);
	return 0;
}

static void put_file(const char *path, const struct buf *bytes)
{
	/* file_write() would wait for the disk. */
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_int_equal(fd_write(fd, bytes->data, bytes->len), 0);
	close(fd);
}

static int scan(const char *path, struct seen *seen, struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int ret;

	buf_clear(&seen->text);
	assert_true(fd >= 0);
	ret = tar_scan(fd, path, see, seen, err);
	close(fd);
	return ret;
}

static struct tar_head file_head(const char *path, uint64_t size_bytes)
{
	return (struct tar_head){ .path = path,
				  .kind = TAR_KIND_FILE,
				  .mode = 0644,
				  .size_bytes = size_bytes };
}

/* Adds a member by our own headers; `type` and the name are set afterwards. */
static void put_member(struct buf *tar, char type, const char *name,
		       const char *text)
{
	char *head;
	unsigned sum = 8 * ' ';
	size_t i, len = type == '0' && text ? strlen(text) : 0;
	struct tar_head plain = file_head("x", len);

	head = buf_reserve(tar, TAR_HEADER_MAX);
	tar->len += tar_header_write(head, &plain);
	memset(head, 0, 100);
	memcpy(head, name, strnlen(name, 100));
	head[156] = type;
	if (type != '0' && text)
		memcpy(head + 157, text, strlen(text));
	for (i = 0; i < TAR_BLOCK; i++)
		sum += i >= 148 && i < 156 ? 0 : (unsigned char)head[i];
	snprintf(head + 148, 7, "%06o", sum);
	if (len) {
		buf_add(tar, text, len);
		buf_fill(tar, '\0', tar_padding(len));
	}
}

static void what_we_write_libarchive_reads(void **state)
{
	static const size_t lengths[] = { 1,   99,  100, 101, 102,  155, 156,
					  200, 255, 256, 257, 1000, 4000 };
	struct place *at = *state;
	struct seen seen = { 0 };
	size_t i, j, slash;

	for (i = 0; i < COUNT(lengths); i++)
		for (slash = 0; slash < 260; slash += 23) {
			char name[TAR_PATH_MAX + 1], *head;
			struct buf tar = { 0 }, want = { 0 };
			struct error err = { 0 };
			struct tar_head named = file_head(name, 5);
			size_t len = lengths[i];

			memset(name, 'n', len);
			name[len] = '\0';
			/* No part is longer than a file system allows. */
			for (j = 250; j + 1 < len; j += 250)
				name[j] = '/';
			if (slash && slash + 1 < len)
				name[slash] = '/';
			if (slash % 2 && len > 3)
				memcpy(name + len - 2, "\xc3\xa9", 2);
			head = buf_reserve(&tar, TAR_HEADER_MAX);
			tar.len = tar_header_write(head, &named);
			assert_int_equal(tar.len, tar_header_size(&named));
			buf_add(&tar, "hello", 5);
			buf_fill(&tar, '\0', tar_padding(5) + TAR_END);
			put_file(at->archive, &tar);
			scan(at->archive, &seen, &err);
			assert_string_equal(err.text, "");
			buf_printf(&want, "f:%s=5 ", name);
			assert_string_equal(seen.text.data, want.data);
			buf_done(&tar);
			buf_done(&want);
		}
	buf_done(&seen.text);
}

/* Sizes are larger than the eleven digits of a header hold. */
static void sizes_have_no_limit(void **state)
{
	static const uint64_t sizes[] = { (UINT64_C(1) << 33) - 1,
					  UINT64_C(1) << 33,
					  UINT64_C(1) << 40 };
	struct place *at = *state;
	struct seen seen = { 0 };
	size_t i;

	for (i = 0; i < COUNT(sizes); i++) {
		char head[TAR_HEADER_MAX], want[40];
		struct tar_head big = file_head("big", sizes[i]);
		size_t len = tar_header_write(head, &big);
		int fd = open(at->archive, O_RDWR | O_CREAT | O_TRUNC, 0600);
		struct error err = { 0 };

		assert_int_equal(len, tar_header_size(&big));
		assert_int_equal(write(fd, head, len), len);
		assert_int_equal(
			ftruncate(fd, (off_t)(len + sizes[i] +
					      tar_padding(sizes[i]) + TAR_END)),
			0);
		close(fd);
		scan(at->archive, &seen, &err);
		assert_string_equal(err.text, "");
		snprintf(want, sizeof(want), "f:big=%llu ",
			 (unsigned long long)sizes[i]);
		assert_string_equal(seen.text.data, want);
	}
	buf_done(&seen.text);
}

static void what_means_no_good_is_refused(void **state)
{
	static const struct {
		char type;
		const char *name, *text;
		const char *want; /* after the archive's name */
	} cases[] = {
		{ '0', "/etc/passwd", "x",
		  ": entry '/etc/passwd' has an absolute path" },
		{ '0', "../x.jpg", "x",
		  ": entry '../x.jpg' has a path with '..'" },
		{ '0', "a/../../x.jpg", "x",
		  ": entry 'a/../../x.jpg' has a path with '..'" },
		{ '0', "\033[2J/../x", "x",
		  ": entry '?[2J/../x' has a path with '..'" },
		{ '0', ".", "x", ": entry '.' has no name" },
	};
	static const struct {
		char type;
		const char *want;
	} kinds[] = {
		{ '0', "f:a/b.jpg=1 " }, { '1', "h:a/b.jpg=0 " },
		{ '2', "l:a/b.jpg=0 " }, { '3', "s:a/b.jpg=0 " },
		{ '4', "s:a/b.jpg=0 " }, { '5', "d:a/b.jpg=0 " },
		{ '6', "s:a/b.jpg=0 " },
	};
	struct place *at = *state;
	struct seen seen = { 0 };
	struct error err;
	size_t i;

	for (i = 0; i < COUNT(cases); i++) {
		struct buf tar = { 0 }, want = { 0 };

		put_member(&tar, cases[i].type, cases[i].name, cases[i].text);
		buf_fill(&tar, '\0', TAR_END);
		put_file(at->archive, &tar);
		assert_int_equal(scan(at->archive, &seen, &err), -1);
		buf_printf(&want, "'%s'%s", at->archive, cases[i].want);
		assert_string_equal(err.text, want.data);
		assert_int_equal(err.code, ERROR_INVALID);
		buf_done(&want);
		buf_done(&tar);
	}
	for (i = 0; i < COUNT(kinds); i++) {
		struct buf tar = { 0 };

		put_member(&tar, kinds[i].type, "./a//b.jpg", "y");
		buf_fill(&tar, '\0', TAR_END);
		put_file(at->archive, &tar);
		assert_int_equal(scan(at->archive, &seen, &err), 0);
		assert_string_equal(seen.text.data, kinds[i].want);
		buf_done(&tar);
	}
	buf_done(&seen.text);
}

/* An archive cut off anywhere, even at the end of a member, is never
 * accepted. */
static void a_cut_is_always_found(void **state)
{
	struct place *at = *state;
	struct buf tar = { 0 };
	struct seen seen = { 0 };
	struct error err;
	size_t len;

	put_member(&tar, '0', "a.jpg", "hello");
	put_member(&tar, '5', "d/", NULL);
	put_member(&tar, '0', "d/b.jpg", "world");
	buf_fill(&tar, '\0', TAR_END);
	put_file(at->archive, &tar);
	assert_int_equal(scan(at->archive, &seen, &err), 0);
	for (len = tar.len - TAR_BLOCK; len > 0; len -= len < 77 ? len : 77) {
		assert_int_equal(truncate(at->archive, (off_t)len), 0);
		/* One block of zeroes ends an archive as well as two. */
		if (scan(at->archive, &seen, &err) !=
			    (len >= tar.len - TAR_BLOCK ? 0 : -1) ||
		    (len < tar.len - TAR_BLOCK && err.code != ERROR_INVALID))
			fail_msg("%zu of %zu: %s", len, tar.len, err.text);
	}
	assert_int_equal(truncate(at->archive, 0), 0);
	assert_int_equal(scan(at->archive, &seen, &err), -1);
	/* An archive followed by another one is refused, too. */
	buf_add(&tar, tar.data, tar.len / 2);
	put_file(at->archive, &tar);
	assert_int_equal(scan(at->archive, &seen, &err), -1);
	assert_true(text_ends(err.text, "continues after its end: are these "
					"several archives in one file?"));
	buf_done(&tar);
	buf_done(&seen.text);
}

/* ---- writing ----------------------------------------------------------- */

/* Files around the size of a block keep their contents. */
static void contents_are_copied_whatever_their_size(void **state)
{
	static const size_t sizes[] = { 0,      1,       511,    512,    513,
					523263, 523264,  523265, 524287, 524288,
					524289, 1048576, 1500000 };
	struct shard_counters counters = { 0 };
	struct samples_how how = { 0 };
	struct place *at = *state;
	struct samples *all = samples_new();
	struct shard_writer *writer;
	struct shard_entry entry;
	struct seen seen = { 0 };
	struct error err = { 0 };
	struct buf want = { 0 };
	char *text, *folder = path_join(at->folder, "in");
	size_t i, j, len;
	int fd;

	for (i = 0; i < COUNT(sizes); i++) {
		char *path = mem_printf("%s/%02zu.bin", folder, i);
		struct buf data = { 0 };

		for (j = 0; j < sizes[i]; j++)
			buf_putc(&data, (char)(j * 31 + i));
		buf_puts(&data, "");
		assert_int_equal(folder_make(folder, &err), 0);
		put_file(path, &data);
		buf_printf(&want, "f:%02zu.bin=%zu ", i, sizes[i]);
		buf_done(&data);
		free(path);
	}
	assert_int_equal(samples_add_folder(all, folder, &how, &err), 0);
	assert_int_equal(samples_order(all, &err), 0);
	writer = shard_writer_new(all, true, &counters, NULL);
	fd = open(at->archive, O_RDWR | O_CREAT, 0600);
	assert_int_equal(shard_writer_write(writer, 0, all->count, fd, "s",
					    &entry, &err),
			 0);
	assert_int_equal(scan(at->archive, &seen, &err), 0);
	assert_string_equal(seen.text.data, want.data);
	text = file_read(at->archive, 16 << 20, &len, &err);
	assert_int_equal(len, entry.bytes);
	assert_int_equal(counters.bytes, entry.bytes);
	assert_int_equal(entry.files, COUNT(sizes));
	for (i = 0, len = 0; i < COUNT(sizes); i++) {
		len += TAR_BLOCK;
		for (j = 0; j < sizes[i]; j++)
			if (text[len + j] != (char)(j * 31 + i))
				fail_msg("%zu: byte %zu", i, j);
		len += sizes[i] + tar_padding(sizes[i]);
	}
	free(text);
	/* A file that has grown, shrunk or gone since its size was read. */
	for (i = 0; i < 3; i++) {
		char *path = path_join(folder, "04.bin");

		all->files[4].size_bytes = i == 0 ? 512 : 514;
		if (i == 2)
			unlink(path);
		assert_int_equal(
			shard_writer_write(writer, 4, 1, fd, "s", &entry, &err),
			-1);
		if (!strstr(err.text, i < 2 ? "' changed while it was read"
					    : "No such file"))
			fail_msg("%s", err.text);
		free(path);
	}
	close(fd);
	shard_writer_free(writer);
	samples_free(all);
	buf_done(&want);
	buf_done(&seen.text);
	free(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			the_key_ends_at_the_first_dot_of_the_base_name),
		cmocka_unit_test(samples_come_in_the_order_of_their_first_file),
		cmocka_unit_test(a_sample_has_one_class),
		cmocka_unit_test_setup_teardown(
			a_walk_is_in_the_order_of_the_keys, set_up, tear_down),
		cmocka_unit_test(a_shuffle_is_a_permutation),
		cmocka_unit_test(plans_keep_their_limits),
		cmocka_unit_test(a_number_of_shards_is_kept),
		cmocka_unit_test_setup_teardown(what_we_write_libarchive_reads,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(sizes_have_no_limit, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_means_no_good_is_refused,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_cut_is_always_found, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			contents_are_copied_whatever_their_size, set_up,
			tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
