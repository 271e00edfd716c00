/* SPDX-License-Identifier: Apache-2.0 */
/* Headers whose sizes are in other headers, in pieces of every length. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "core/stream/stream_tar.h"

static char bytes[64 * STREAM_TAR_BLOCK];
static size_t len;

static char *add_header(char kind, unsigned size)
{
	char *at = bytes + len;
	unsigned sum = 0;
	size_t i;

	memset(at, 0, STREAM_TAR_BLOCK);
	strcpy(at, "name");
	snprintf(at + 124, 12, "%011o", size);
	memset(at + 148, ' ', 8);
	at[156] = kind;
	/* GNU tar's flag for a sparse map that continues. */
	if (kind == 'S')
		at[482] = 1;
	for (i = 0; i < STREAM_TAR_BLOCK; i++)
		sum += (unsigned char)at[i];
	snprintf(at + 148, 8, "%06o", sum);
	len += STREAM_TAR_BLOCK;
	return at;
}

static void add_block(char fill)
{
	memset(bytes + len, fill, STREAM_TAR_BLOCK);
	len += STREAM_TAR_BLOCK;
}

static void add_pax(const char *records)
{
	add_header('x', (unsigned)strlen(records));
	add_block(0);
	memcpy(bytes + len - STREAM_TAR_BLOCK, records, strlen(records));
}

/* Checks that two blocks, and nothing more, are the end. */
static void assert_end(size_t piece)
{
	struct stream_tar tar;
	size_t i, n, owed, used, passed = 0;

	stream_tar_begin(&tar, true);
	for (i = 0; i < len; i += used) {
		n = piece < len - i ? piece : len - i;
		used = stream_tar_skip(&tar, passed, bytes + i, n, &owed);
		assert_int_equal(owed, 0);
		if (used)
			continue;
		used = stream_tar_add(&tar, passed, bytes + i, n);
		passed += used;
		assert_true(tar.is_tar);
	}
	assert_int_equal(passed, len - STREAM_TAR_END);
	assert_int_equal(tar.zeros, STREAM_TAR_END);
	assert_true(stream_tar_is_whole(&tar, passed));
}

static void assert_all(void)
{
	size_t piece;

	add_block(0);
	add_block(0);
	for (piece = 1; piece < 1100; piece++)
		assert_end(piece);
	len = 0;
}

static void a_pax_header_has_the_size(void **state)
{
	(void)state;
	add_pax("20 comment=size=512\n13 size=1024\n");
	add_header('0', 0);
	add_block(0);
	add_block(0);
	/* The size was for one member only. */
	add_header('0', 512);
	add_block(0);
	assert_all();
	/* A long name may be between the two. */
	add_pax("12 size=512\n");
	add_header('L', 10);
	add_block('x');
	add_header('0', 0);
	add_block(0);
	assert_all();
}

static void a_sparse_map_has_no_header(void **state)
{
	(void)state;
	add_header('S', 600);
	add_block(0);
	bytes[len - 8] = 1; /* another follows */
	add_block(0);
	add_block(0);
	add_block(0);
	assert_all();
}

static void links_have_no_contents(void **state)
{
	(void)state;
	add_header('1', 512);
	add_header('2', 512);
	add_header('5', 512);
	assert_all();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pax_header_has_the_size),
		cmocka_unit_test(a_sparse_map_has_no_header),
		cmocka_unit_test(links_have_no_contents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
