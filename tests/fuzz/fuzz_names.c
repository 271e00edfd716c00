/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the short forms of names, sizes and patterns: each is accepted,
 * or refused with a reason, within its limits, and the result is what the
 * header promises.
 */
#include <assert.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/units.h"
#include "core/data/brace.h"
#include "core/data/ignore.h"
#include "core/ssh/ssh.h"
#include "core/net/url.h"

/* A longer text takes time without testing more. */
#define TEXT_MAX 1024

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expand_braces(const char *text, struct arena *mem)
{
	struct brace_names names = { 0 };
	struct error err = { 0 };
	size_t i, bytes = 0;

	if (brace_expand(text, mem, &names, &err) == 0) {
		assert(names.count && !err.text[0]);
		for (i = 0; i < names.count; i++)
			bytes += strlen(names.items[i]);
		assert(bytes == names.bytes);
	} else {
		assert(err.text[0] && !names.count && !names.bytes);
	}
	brace_names_done(&names);
}

static void read_target(const char *text)
{
	struct ssh_target target;
	struct error err = { 0 };

	if (ssh_target_parse(text, &target, &err) < 0) {
		assert(err.text[0]);
		return;
	}
	/* Neither may look like an option of ssh. */
	assert(target.host[0] && target.host[0] != '-');
	assert(target.destination[0] != '-');
	assert(target.port >= 0 && target.port <= 65535);
	ssh_target_done(&target);
}

/* A pattern made for a folder leaves out that folder. */
static void leave_out(const char *text, struct arena *mem)
{
	struct error err = { 0 };
	const struct ignore *ignore =
		ignore_put(NULL, "", text, strlen(text), "text", mem, &err);
	char *own = ignore_pattern(text);
	uint64_t steps = 0;
	char clean[PATH_MAX];

	if (ignore) {
		ignore_decide(ignore, text, false, &steps);
		ignore_decide(ignore, "a/b.c", false, &steps);
		ignore_decide(ignore, "a/b", true, &steps);
	} else {
		assert(err.text[0]);
	}
	if (own && !path_clean(text, clean) && !strchr(text, '\n')) {
		ignore = ignore_put(NULL, "", own, strlen(own), "own", mem,
				    &err);
		assert(!ignore || ignore_decide(ignore, clean, true, &steps) ==
					  IGNORE_OUT);
	}
	free(own);
}

static int hex(char c)
{
	return c <= '9' ? c - '0' : c - 'A' + 10;
}

/* Decoding gives the original text, and no character ends a query. */
static void encode(const char *text)
{
	struct buf out = { 0 };
	const char *at;
	char *shown = url_without_query(text);

	url_encode(&out, text, NULL);
	for (at = buf_text(&out); *at; at++, text++) {
		assert(!strchr("?#&=/ ", *at));
		if (*at == '%') {
			assert((char)(hex(at[1]) << 4 | hex(at[2])) == *text);
			at += 2;
		} else {
			assert(*at == *text);
		}
	}
	assert(!*text && !strchr(shown, '?') && !strchr(shown, '#'));
	free(shown);
	buf_done(&out);
}

static void read_numbers(const char *text)
{
	struct error err = { 0 };
	uint64_t bytes;
	long seconds;
	char again[64];

	if (duration_parse(text, &seconds, &err) == 0) {
		assert(seconds >= 0);
		duration_format(seconds, again, sizeof(again));
	}
	if (size_parse(text, &bytes, &err) == 0)
		size_format(bytes, again, sizeof(again));
	time_format(time_parse(text), again, sizeof(again));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *mem = arena_new();
	const char *text;

	if (size > TEXT_MAX)
		size = TEXT_MAX;
	text = arena_strndup(mem, (const char *)data, size);
	expand_braces(text, mem);
	read_target(text);
	leave_out(text, mem);
	encode(text);
	read_numbers(text);
	arena_free(mem);
	return 0;
}
