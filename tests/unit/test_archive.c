/* SPDX-License-Identifier: Apache-2.0 */
#include "core/data/archive.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/base/library.h"
#include "core/base/text.h"
#include "core/data/package.h"

struct place {
	char folder[64];
	char out[80];     /* where archives are unpacked */
	char archive[80]; /* the archive itself */
};

static int set_up(void **state)
{
	struct place *at = mem_alloc(sizeof(*at));

	strcpy(at->folder, "/tmp/jobrun-archive-XXXXXX");
	if (!mkdtemp(at->folder))
		return -1;
	snprintf(at->out, sizeof(at->out), "%s/out", at->folder);
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

/* An entry of a tar file, written by our own writer, as libarchive's would not
 * write half of these. */
struct item {
	char type; /* '0' file, '1' hard link, '2' link, '5' folder ... */
	const char *name;
	const char *text; /* contents or target */
	unsigned mode;    /* 0: 0644 */
};

static void put_octal(unsigned char *to, size_t size, size_t value)
{
	to[--size] = '\0';
	for (; size; value >>= 3)
		to[--size] = (unsigned char)('0' + (value & 7));
}

static void add_header(struct buf *out, const struct item *item, size_t size)
{
	bool link = item->type == '1' || item->type == '2';
	unsigned char head[512] = { 0 };
	unsigned sum = 0;
	size_t i;

	memcpy(head, item->name, strnlen(item->name, 100));
	put_octal(head + 100, 8, item->mode ? item->mode : 0644);
	put_octal(head + 108, 8, 0);
	put_octal(head + 116, 8, 0);
	put_octal(head + 124, 12, size);
	put_octal(head + 136, 12, 0);
	memset(head + 148, ' ', 8);
	head[156] = (unsigned char)item->type;
	if (link)
		memcpy(head + 157, item->text, strnlen(item->text, 100));
	memcpy(head + 257,
	       "ustar\0"
	       "00",
	       8);
	for (i = 0; i < sizeof(head); i++)
		sum += head[i];
	put_octal(head + 148, 7, sum);
	buf_add(out, head, sizeof(head));
}

static void put_tar(const char *path, const struct item *items, size_t count)
{
	struct buf tar = { 0 };
	struct error err;
	size_t i;

	for (i = 0; i < count; i++) {
		bool file = strchr("0xg", items[i].type);
		size_t size = file && items[i].text ? strlen(items[i].text) : 0;

		add_header(&tar, &items[i], size);
		if (size) {
			buf_add(&tar, items[i].text, size);
			buf_fill(&tar, '\0', (512 - size % 512) % 512);
		}
	}
	buf_fill(&tar, '\0', 1024);
	assert_int_equal(file_write(path, tar.data, tar.len, &err), 0);
	buf_done(&tar);
}

static void assert_file(struct place *at, const char *name, const char *text,
			unsigned mode)
{
	char *path = path_join(at->out, name);
	struct error err;
	struct stat st;
	size_t len;
	char *have;

	assert_int_equal(lstat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, mode);
	if (text) {
		have = file_read(path, 65536, &len, &err);
		assert_non_null(have);
		assert_string_equal(have, text);
		free(have);
	}
	free(path);
}

/* Checks that only the archive is in the test's folder. */
static void assert_clean(struct place *at)
{
	DIR *dir = opendir(at->folder);
	const struct dirent *item;
	int count = 0;

	while ((item = readdir(dir)))
		if (item->d_name[0] != '.')
			count++;
	closedir(dir);
	assert_int_equal(count, 1);
}

static void a_tar_is_unpacked(void **state)
{
	static const struct item items[] = {
		{ '5', "pkg/", NULL, 0755 },
		{ '0', "./pkg/a.py", "print(1)\n", 0644 },
		{ '0', "pkg//run.sh", "#!/bin/sh\n", 04755 },
		{ '0', "deep/er/file", "x", 0600 },
		{ '0', "pkg/a.py", "print(2)\n", 0444 }, /* the last counts */
		{ '0', "pkg/empty", "", 0 },
		{ '2', "pkg/link", "a.py", 0777 },
		{ '2', "pkg/up", "../deep/er", 0777 },
		{ '1', "pkg/hard", "pkg/a.py", 0 },
		{ '1', "pkg/hard", "./pkg/a.py", 0 },
		{ '5', "deep", NULL, 07777 },
		{ '5', "./", NULL, 0755 },
	};
	struct place *at = *state;
	struct error err = { 0 };
	char target[64] = "", *path;
	mode_t old = umask(0);

	put_tar(at->archive, items, COUNT(items));
	archive_unpack(at->archive, NULL, at->out, NULL, &err);
	umask(old);
	assert_string_equal(err.text, "");
	assert_file(at, "", NULL, 0700);
	assert_file(at, "pkg", NULL, 0700);
	assert_file(at, "deep", NULL, 0700);
	assert_file(at, "pkg/a.py", "print(2)\n", 0600);
	assert_file(at, "pkg/run.sh", "#!/bin/sh\n", 0700);
	assert_file(at, "pkg/empty", "", 0600);
	assert_file(at, "pkg/hard", "print(2)\n", 0600);
	assert_file(at, "deep/er/file", "x", 0600);
	path = path_join(at->out, "pkg/link");
	assert_int_equal(readlink(path, target, sizeof(target) - 1), 4);
	assert_string_equal(target, "a.py");
	free(path);
}

static void what_leads_out_is_refused(void **state)
{
	static const char text[] = "owned";
	const struct {
		struct item items[3];
		const char *want; /* after the archive's name */
	} cases[] = {
		{ { { '0', "/tmp/evil", text, 0 } },
		  ": entry '/tmp/evil' has an absolute path" },
		{ { { '0', "../evil", text, 0 } },
		  ": entry '../evil' has a path with '..'" },
		{ { { '0', "a/../../evil", text, 0 } },
		  ": entry 'a/../../evil' has a path with '..'" },
		{ { { '5', "..", NULL, 0 } },
		  ": entry '..' has a path with '..'" },
		{ { { '2', "a", "/etc", 0 } },
		  ": entry 'a' is a link that leads out" },
		{ { { '2', "a/b", "../../x", 0 } },
		  ": entry 'a/b' is a link that leads out" },
		{ { { '2', "a", "b/../..", 0 } },
		  ": entry 'a' is a link that leads out" },
		{ { { '2', "x/a", "b/..", 0 } },
		  ": entry 'x/a' is a link that leads out" },
		{ { { '2', "a", "", 0 } },
		  ": entry 'a' is a link that leads out" },
		{ { { '2', "a", ".", 0 }, { '0', "a/evil", text, 0 } },
		  ": entry 'a/evil' is below a link or a file" },
		{ { { '0', "a", text, 0 }, { '0', "a/evil", text, 0 } },
		  ": entry 'a/evil' is below a link or a file" },
		{ { { '1', "a", "/etc/passwd", 0 } },
		  ": entry 'a' links to an absolute path" },
		{ { { '1', "a", "../evil", 0 } },
		  ": entry 'a' links to a path with '..'" },
		{ { { '1', "a", "gone", 0 } },
		  ": entry 'a' is a link to something that is not a file of "
		  "the archive" },
		{ { { '2', "b", ".", 0 }, { '1', "a", "b", 0 } },
		  ": entry 'a' is a link to something that is not a file of "
		  "the archive" },
		{ { { '2', "b", ".", 0 },
		    { '0', "c", text, 0 },
		    { '1', "a", "b/c", 0 } },
		  ": entry 'a' is a link to something that is not a file of "
		  "the archive" },
		{ { { '3', "null", NULL, 0 } },
		  ": entry 'null' is not a file, folder or link" },
		{ { { '4', "disk", NULL, 0 } },
		  ": entry 'disk' is not a file, folder or link" },
		{ { { '6', "pipe", NULL, 0 } },
		  ": entry 'pipe' is not a file, folder or link" },
		{ { { '5', "a", NULL, 0 }, { '0', "a", text, 0 } },
		  ": entry 'a' has the name of a folder" },
		{ { { '0', "a", text, 0 }, { '5', "a", NULL, 0 } },
		  ": entry 'a' is a folder in place of a file" },
		{ { { '2', "a", ".", 0 }, { '5', "a", NULL, 0 } },
		  ": entry 'a' is a folder in place of a file" },
		{ { { '0', "\033[2Jevil/../..", text, 0 } },
		  ": entry '?[2Jevil/../..' has a path with '..'" },
	};
	struct place *at = *state;
	char want[512];
	size_t i, j;

	for (i = 0; i < COUNT(cases); i++) {
		struct error err = { 0 };

		for (j = 0; j < 3 && cases[i].items[j].type; j++)
			;
		put_tar(at->archive, cases[i].items, j);
		assert_int_equal(
			archive_unpack(at->archive, NULL, at->out, NULL, &err),
			-1);
		snprintf(want, sizeof(want), "'%s'%s", at->archive,
			 cases[i].want);
		assert_string_equal(err.text, want);
		assert_int_equal(err.code, ERROR_INVALID);
		assert_clean(at);
	}
}

/* Returns a pax header with the name of an entry, which may have any length
 * there. */
static char *pax_path(const char *name)
{
	size_t len = strlen(name) + 7;
	char digits[24];
	size_t total = len;
	int i;

	for (i = 0; i < 3; i++)
		total = len +
			(size_t)snprintf(digits, sizeof(digits), "%zu", total);
	return mem_printf("%zu path=%s\n", total, name);
}

static void names_have_limits(void **state)
{
	struct place *at = *state;
	struct buf name = { 0 };
	struct error err = { 0 };
	struct item items[2];
	int kind, i;
	char *pax;

	for (kind = 0; kind < 3; kind++) {
		buf_clear(&name);
		if (kind == 0)
			for (i = 0; i < 65; i++)
				buf_puts(&name, "d/");
		else
			buf_fill(&name, 'x', kind == 1 ? 300 : 200000);
		if (kind == 0)
			buf_puts(&name, "f");
		pax = pax_path(name.data);
		items[0] = (struct item){ 'x', "pax", pax, 0 };
		items[1] = (struct item){ '0', "f", "x", 0 };
		put_tar(at->archive, items, 2);
		assert_int_equal(
			archive_unpack(at->archive, NULL, at->out, NULL, &err),
			-1);
		if (!text_ends(err.text, "' has too long a path"))
			fail_msg("%d: %s", kind, err.text);
		assert_clean(at);
		free(pax);
	}
	buf_done(&name);
}

static void sizes_have_limits(void **state)
{
	static const struct item items[] = {
		{ '0', "a", "12345", 0 },
		{ '0', "b", "12345", 0 },
	};
	const struct {
		struct archive_limits limits;
		const char *want;
	} cases[] = {
		{ { 10, 2 }, "" },
		{ { 9, 2 },
		  "'%s' unpacks to more than the allowed number of bytes, at "
		  "'b'" },
		{ { 10, 1 },
		  "'%s' has more than the allowed number of entries" },
	};
	struct place *at = *state;
	struct error err;
	size_t i;

	for (i = 0; i < COUNT(cases); i++) {
		struct buf want = { 0 };
		const char *mark = strstr(cases[i].want, "%s");

		if (mark) {
			buf_add(&want, cases[i].want,
				(size_t)(mark - cases[i].want));
			buf_puts(&want, at->archive);
			buf_puts(&want, mark + 2);
		}
		put_tar(at->archive, items, COUNT(items));
		err.text[0] = '\0';
		archive_unpack(at->archive, NULL, at->out, &cases[i].limits,
			       &err);
		assert_string_equal(err.text, buf_text(&want));
		buf_done(&want);
		folder_remove(at->out, &err);
		assert_clean(at);
	}
}

static void what_is_no_archive_is_said(void **state)
{
	struct place *at = *state;
	struct error err = { 0 };
	char want[256];

	assert_int_equal(archive_unpack(at->archive, NULL, at->out, NULL, &err),
			 -1);
	snprintf(want, sizeof(want),
		 "cannot open '%s': No such file or "
		 "directory",
		 at->archive);
	assert_string_equal(err.text, want);
	assert_int_equal(archive_unpack(at->folder, NULL, at->out, NULL, &err),
			 -1);
	snprintf(want, sizeof(want), "'%s' is a directory", at->folder);
	assert_string_equal(err.text, want);

	assert_int_equal(file_write(at->archive, "hello\n", 6, &err), 0);
	assert_int_equal(archive_unpack(at->archive, NULL, at->out, NULL, &err),
			 -1);
	snprintf(want, sizeof(want),
		 "cannot unpack '%s': Unrecognized archive format",
		 at->archive);
	assert_string_equal(err.text, want);
	assert_int_equal(err.code, ERROR_INVALID);
	assert_clean(at);

	assert_int_equal(file_write(at->archive, "", 0, &err), 0);
	assert_int_equal(archive_unpack(at->archive, NULL, at->out, NULL, &err),
			 -1);
	assert_clean(at);
}

static void what_is_there_stays(void **state)
{
	static const struct item items[] = { { '0', "a", "1", 0 } };
	struct place *at = *state;
	struct error err = { 0 };
	char path[128], want[256];

	put_tar(at->archive, items, COUNT(items));
	assert_int_equal(mkdir(at->out, 0755), 0);
	assert_int_equal(archive_unpack(at->archive, NULL, at->out, NULL, &err),
			 0);
	assert_file(at, "a", "1", 0600);
	snprintf(path, sizeof(path), "%s/mine", at->out);
	assert_int_equal(file_write(path, "", 0, &err), 0);
	assert_int_equal(archive_unpack(at->archive, NULL, at->out, NULL, &err),
			 -1);
	snprintf(want, sizeof(want),
		 "cannot unpack '%s' to '%s': Directory not empty", at->archive,
		 at->out);
	assert_string_equal(err.text, want);
	assert_int_equal(access(path, F_OK), 0);
	snprintf(path, sizeof(path), "%s/x/y/z", at->folder);
	assert_int_equal(archive_unpack(at->archive, NULL, path, NULL, &err),
			 0);
}

static struct {
	__typeof__(&archive_write_new) new;
	__typeof__(&archive_write_free) free;
	__typeof__(&archive_write_set_format_by_name) format;
	__typeof__(&archive_write_add_filter_by_name) filter;
	__typeof__(&archive_write_open_filename) open;
	__typeof__(&archive_write_header) header;
	__typeof__(&archive_write_data) data;
	__typeof__(&archive_entry_new) entry_new;
	__typeof__(&archive_entry_free) entry_free;
	__typeof__(&archive_entry_set_pathname) set_pathname;
	__typeof__(&archive_entry_set_size) set_size;
	__typeof__(&archive_entry_set_filetype) set_filetype;
	__typeof__(&archive_entry_set_perm) set_perm;
} lib;

static const struct library_symbol symbols[] = {
	{ "archive_write_new", &lib.new },
	{ "archive_write_free", &lib.free },
	{ "archive_write_set_format_by_name", &lib.format },
	{ "archive_write_add_filter_by_name", &lib.filter },
	{ "archive_write_open_filename", &lib.open },
	{ "archive_write_header", &lib.header },
	{ "archive_write_data", &lib.data },
	{ "archive_entry_new", &lib.entry_new },
	{ "archive_entry_free", &lib.entry_free },
	{ "archive_entry_set_pathname", &lib.set_pathname },
	{ "archive_entry_set_size", &lib.set_size },
	{ "archive_entry_set_filetype", &lib.set_filetype },
	{ "archive_entry_set_perm", &lib.set_perm },
	{ NULL, NULL },
};

static void put_archive(const char *path, const char *format,
			const char *filter, const char *name)
{
	struct archive_entry *entry;
	struct archive *out;
	struct error err;
	size_t size = 300000, i;
	char *data = mem_alloc(size);

	assert_int_equal(library_open("libarchive.so.13", symbols, &err), 0);
	for (i = 0; i < size; i++)
		data[i] = (char)(i * i >> 7);
	out = lib.new();
	assert_int_equal(lib.format(out, format), ARCHIVE_OK);
	if (filter)
		assert_int_equal(lib.filter(out, filter), ARCHIVE_OK);
	assert_int_equal(lib.open(out, path), ARCHIVE_OK);
	entry = lib.entry_new();
	lib.set_pathname(entry, name);
	lib.set_size(entry, (la_int64_t)size);
	lib.set_filetype(entry, AE_IFREG);
	lib.set_perm(entry, 0755);
	assert_int_equal(lib.header(out, entry), ARCHIVE_OK);
	assert_int_equal(lib.data(out, data, size), size);
	lib.entry_free(entry);
	assert_int_equal(lib.free(out), ARCHIVE_OK);
	free(data);
}

static void all_forms_are_read(void **state)
{
	static const struct {
		const char *format, *filter, *name;
	} cases[] = {
		{ "gnutar", NULL, "t.tar" },
		{ "paxr", "gzip", "t-1.0.tar.gz" },
		{ "ustar", "bzip2", "t.tar.bz2" },
		{ "ustar", "xz", "t.tar.xz" },
		{ "ustar", "zstd", "t.tar.zst" },
		{ "zip", NULL, "t-1.0-py3-none-any.whl" },
		{ "zip", NULL, "t.zip" },
	};
	struct place *at = *state;
	size_t i;

	for (i = 0; i < COUNT(cases); i++) {
		char *path = path_join(at->folder, cases[i].name);
		char *out = mem_printf("%s.d", path);
		char *file = path_join(out, "pkg/data");
		struct error err = { 0 };
		struct stat st;

		put_archive(path, cases[i].format, cases[i].filter, "pkg/data");
		archive_unpack(path, NULL, out, NULL, &err);
		assert_string_equal(err.text, "");
		assert_int_equal(stat(file, &st), 0);
		assert_int_equal(st.st_size, 300000);
		assert_int_equal(st.st_mode & 07777, 0700);
		free(file);
		free(out);
		free(path);
	}
}

/* Damage gives an error or files, never a crash or a part of the files. */
static void damage_is_survived(void **state)
{
	static const char *const formats[][2] = { { "zip", NULL },
						  { "paxr", "gzip" },
						  { "paxr", NULL } };
	struct place *at = *state;
	struct error err;
	unsigned seed = 1;
	size_t i, len, j;
	char *whole;
	int round, ret;

	for (i = 0; i < COUNT(formats); i++) {
		put_archive(at->archive, formats[i][0], formats[i][1],
			    "pkg/data");
		whole = file_read(at->archive, 1 << 20, &len, &err);
		assert_non_null(whole);
		for (round = 0; round < 200; round++) {
			char *damaged = mem_alloc(len);
			size_t size = len;

			memcpy(damaged, whole, len);
			if (round % 4 == 0)
				size = (size_t)rand_r(&seed) % len;
			for (j = 0; round % 4 && j < 8; j++) {
				/* Damage mostly the headers. */
				size_t to = (size_t)rand_r(&seed) %
					    (j % 2 ? 512 : len);

				damaged[to] = (char)rand_r(&seed);
			}
			assert_int_equal(
				file_write(at->archive, damaged, size, &err),
				0);
			ret = archive_unpack(at->archive, NULL, at->out, NULL,
					     &err);
			/* Only a checksum can tell that all is there. */
			if (i == 1 && size < len)
				assert_int_equal(ret, -1);
			if (ret == 0)
				assert_int_equal(folder_remove(at->out, &err),
						 0);
			assert_clean(at);
			free(damaged);
		}
		free(whole);
	}
}

/* Names that are not ASCII keep their bytes, also in the C locale. */
static void names_keep_their_bytes(void **state)
{
	struct place *at = *state;
	char *pax = pax_path("n\xc3\xbcr.py");
	const struct item items[] = {
		{ '0',
		  "stra\xc3\x9f"
		  "e.py",
		  "1", 0 },
		{ 'x', "pax", pax, 0 },
		{ '0', "other", "2", 0 },
		{ '0', "latin\xe9", "3", 0 },
	};
	struct error err = { 0 };

	put_tar(at->archive, items, COUNT(items));
	archive_unpack(at->archive, NULL, at->out, NULL, &err);
	assert_string_equal(err.text, "");
	assert_file(at,
		    "stra\xc3\x9f"
		    "e.py",
		    "1", 0600);
	assert_file(at, "n\xc3\xbcr.py", "2", 0600);
	assert_file(at, "latin\xe9", "3", 0600);
	free(pax);
}

static void packages_are_found(void **state)
{
	/* Files of a package, and the expected result; @ is its folder. */
	static const struct {
		const char *files[4];
		const char *want;
	} cases[] = {
		{ { "t-1/setup.py", "t-1/trainer/__init__.py" }, "@/t-1" },
		{ { "t-1/PKG-INFO" }, "@/t-1" },
		{ { "t-1/pyproject.toml", "t-1/src/t/__init__.py" },
		  "@/t-1/src:@/t-1" },
		{ { "t-1/setup.py", "t-1/src/__init__.py" }, "@/t-1" },
		{ { "t-1/setup.py", ".hidden" }, "@/t-1" },
		{ { "setup.py", "src/t.py" }, "@/src:@" },
		{ { "trainer/__init__.py" }, "@" },
		{ { "a/__init__.py", "b/setup.py" }, "@" },
		{ { "t/__init__.py", "t-1.dist-info/METADATA",
		    "t-1.data/purelib/u.py", "t-1.data/platlib/v.so" },
		  "@:@/t-1.data/purelib:@/t-1.data/platlib" },
		{ { "setup.py" }, "@" },
	};
	struct place *at = *state;
	struct error err = { 0 };
	size_t i, j;

	for (i = 0; i < COUNT(cases); i++) {
		struct buf want = { 0 };
		const char *p;
		char *root;

		for (j = 0; j < 4 && cases[i].files[j]; j++) {
			char *path = path_join(at->out, cases[i].files[j]);
			char *folder = path_folder(path);

			assert_int_equal(folder_make(folder, &err), 0);
			assert_int_equal(file_write(path, "", 0, &err), 0);
			free(folder);
			free(path);
		}
		for (p = cases[i].want; *p; p++) {
			if (*p == '@')
				buf_puts(&want, at->out);
			else
				buf_putc(&want, *p);
		}
		root = package_root(at->out, &err);
		assert_non_null(root);
		assert_string_equal(root, want.data);
		free(root);
		buf_done(&want);
		assert_int_equal(folder_remove(at->out, &err), 0);
	}
	assert_null(package_root(at->out, &err));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_tar_is_unpacked),
		TEST(what_leads_out_is_refused),
		TEST(names_have_limits),
		TEST(sizes_have_limits),
		TEST(what_is_no_archive_is_said),
		TEST(what_is_there_stays),
		TEST(all_forms_are_read),
		TEST(damage_is_survived),
		TEST(names_keep_their_bytes),
		TEST(packages_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
