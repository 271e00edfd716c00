/* SPDX-License-Identifier: Apache-2.0 */
/* Samples that are left out of a tar file, in pieces of many lengths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/data/tar_header.h"
#include "core/stream/stream_internal.h"
#include "core/stream/stream_skip.h"

/* Adds a file of that name, as many bytes long as the name. */
static void add_file(struct buf *out, const char *name)
{
	const struct tar_head head = {
		.path = name,
		.kind = TAR_KIND_FILE,
		.mode = 0644,
		.size_bytes = strlen(name),
	};
	char *header = mem_alloc(TAR_HEADER_MAX);

	buf_add(out, header, tar_header_write(header, &head));
	buf_puts(out, name);
	buf_fill(out, '\0', tar_padding(strlen(name)));
	free(header);
}

/* What comes after some samples, of bytes in such pieces; or the error. */
static int leave_out(const struct buf *from, uint64_t samples, size_t piece,
		     struct buf *out, struct error *err)
{
	struct stream_skip *skip = stream_skip_new(samples);
	size_t at, used = 0, n;
	int ret = 0;

	buf_clear(out);
	for (at = 0; at < from->len && ret == 0; at += used) {
		n = piece < from->len - at ? piece : from->len - at;
		ret = stream_skip_add(skip, from->data + at, n, &used, err);
	}
	if (ret > 0) {
		const struct buf *head = stream_skip_head(skip);

		buf_add(out, head->data, head->len);
		assert_int_equal(stream_skip_left_out(skip), at - head->len);
		buf_add(out, from->data + at, from->len - at);
	}
	stream_skip_free(skip);
	return ret;
}

static void the_next_sample_is_the_first(void **state)
{
	char folder[300], name[320];
	struct buf all = { 0 }, rest = { 0 };
	size_t starts[5], count = 0, piece, i;
	struct error err;

	(void)state;
	memset(folder, 'd', sizeof(folder) - 1);
	folder[sizeof(folder) - 1] = '\0';
	/* It is no sample to readers. */
	add_file(&all, "README");
	starts[count++] = all.len;
	add_file(&all, "a/1.cls");
	add_file(&all, "a/1.jpg");
	starts[count++] = all.len;
	add_file(&all, "a/10.jpg");
	/* A key that comes again begins another sample. */
	starts[count++] = all.len;
	add_file(&all, "a/1.cls");
	/* The name is in a header of its own. */
	starts[count++] = all.len;
	snprintf(name, sizeof(name), "%s/1.cls", folder);
	add_file(&all, name);
	snprintf(name, sizeof(name), "%s/1.jpg", folder);
	add_file(&all, name);
	starts[count++] = all.len;
	snprintf(name, sizeof(name), "%s/2.jpg", folder);
	add_file(&all, name);
	buf_fill(&all, '\0', TAR_END);
	for (piece = 1; piece < 2000; piece += piece < 600 ? 1 : 97)
		for (i = 0; i < count; i++) {
			assert_int_equal(leave_out(&all, i, piece, &rest, &err),
					 1);
			assert_int_equal(rest.len, all.len - starts[i]);
			assert_memory_equal(rest.data, all.data + starts[i],
					    rest.len);
		}
	assert_int_equal(leave_out(&all, count, 512, &rest, &err), -1);
	assert_string_equal(err.text,
			    "cannot resume after 5 samples: it has no more");
	buf_done(&all);
	buf_done(&rest);
}

static void what_is_no_tar_file_is_refused(void **state)
{
	struct buf all = { 0 }, rest = { 0 };
	struct error err;

	(void)state;
	buf_fill(&all, 'x', 2048);
	assert_int_equal(leave_out(&all, 1, 100, &rest, &err), -1);
	assert_string_equal(
		err.text,
		"cannot resume after 1 samples: it is not a tar file");
	/* A header alone may not take all memory. */
	buf_clear(&all);
	add_file(&all, "a.jpg");
	all.data[156] = 'x';
	memcpy(all.data + 124, "77777777777", 11);
	memset(all.data + 148, ' ', 8);
	{
		unsigned sum = 0, i;

		for (i = 0; i < 512; i++)
			sum += (unsigned char)all.data[i];
		snprintf(all.data + 148, 8, "%06o", sum);
	}
	assert_int_equal(leave_out(&all, 1, 512, &rest, &err), -1);
	assert_string_equal(err.text, "cannot resume after 1 samples: a header "
				      "in it is too large");
	buf_done(&all);
	buf_done(&rest);
}

/* How many bytes are written of an object that goes on. */
static uint64_t written_of(const struct buf *all, struct object_stream *object)
{
	struct stream *stream = mem_alloc(sizeof(*stream));
	FILE *file = tmpfile();
	struct error err;
	struct stat st;
	size_t at, n;

	assert_non_null(file);
	stream_output_init(&stream->out, fileno(file));
	object->stream = stream;
	object->skip = stream_skip_new(1);
	assert_int_equal(object_begin(object, object->size, &err), STREAM_DONE);
	for (at = 0; at < all->len; at += n) {
		n = all->len - at < 4096 ? all->len - at : 4096;
		assert_int_equal(object_add(object, all->data + at, n, &err),
				 STREAM_DONE);
	}
	assert_null(object->skip);
	assert_int_equal(fstat(fileno(file), &st), 0);
	fclose(file);
	free(stream);
	return (uint64_t)st.st_size;
}

static void what_may_be_the_end_is_held_back(void **state)
{
	struct object_stream known = { .kind = OBJECT_FILE };
	struct object_stream open = {
		.kind = OBJECT_REMOTE,
		.size = STREAM_SIZE_OPEN,
		.is_open = true,
	};
	struct buf all = { 0 };
	uint64_t first, most, written;
	char name[32];
	int i;

	(void)state;
	add_file(&all, "0.x");
	first = all.len;
	for (i = 1; i < 60; i++) {
		snprintf(name, sizeof(name), "%d.x", i);
		add_file(&all, name);
	}
	most = all.len - first - STREAM_HELD_BYTES;
	written = written_of(&all, &open);
	assert_true(written > 0 && written <= most);
	known.size = all.len;
	written = written_of(&all, &known);
	assert_true(written > 0 && written <= most);
	buf_done(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_next_sample_is_the_first),
		cmocka_unit_test(what_is_no_tar_file_is_refused),
		cmocka_unit_test(what_may_be_the_end_is_held_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
