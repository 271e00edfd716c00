/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/s3/xml.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/text.h"

int xml_next(struct xml *from, const char *name, struct xml *out)
{
	char *open = mem_printf("<%s", name),
	     *close = mem_printf("</%s>", name);
	const char *end = from->at + from->len;
	const char *at = from->at, *stop = NULL, *last;
	size_t n = strlen(open);

	for (;;) {
		at = memmem(at, (size_t)(end - at), open, n);
		if (!at || at + n >= end || strchr("> \t\r\n", at[n]))
			break;
		at += n;
	}
	if (at && at + n < end)
		stop = memchr(at, '>', (size_t)(end - at));
	last = stop ? memmem(stop, (size_t)(end - stop), close, strlen(close))
		    : NULL;
	if (last) {
		out->at = stop + 1;
		out->len = (size_t)(last - stop) - 1;
		from->at = last + strlen(close);
		from->len = (size_t)(end - from->at);
	}
	free(open);
	free(close);
	return last != NULL;
}

/* Adds what an entity stands for; returns its length, 1 for a lone '&'. */
static size_t add_entity(struct buf *out, const char *at)
{
	static const struct {
		const char *name;
		char c;
	} known[] = {
		{ "&amp;", '&' },  { "&lt;", '<' },    { "&gt;", '>' },
		{ "&quot;", '"' }, { "&apos;", '\'' }, { "&#34;", '"' },
	};

	for (size_t i = 0; i < COUNT(known); i++)
		if (text_starts(at, known[i].name)) {
			buf_putc(out, known[i].c);
			return strlen(known[i].name);
		}
	buf_putc(out, '&');
	return 1;
}

char *xml_text(struct xml in, const char *name)
{
	struct buf out = { 0 };
	struct xml found;
	char *copy, *at;

	if (!xml_next(&in, name, &found))
		return mem_strdup("");
	copy = mem_printf("%.*s", (int)found.len, found.at);
	for (at = copy; *at;) {
		if (*at == '&')
			at += add_entity(&out, at);
		else
			buf_putc(&out, *at++);
	}
	free(copy);
	return out.len ? buf_take(&out) : mem_strdup("");
}
