/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/base64.h"

#include <string.h>

static const char standard[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
			       "abcdefghijklmnopqrstuvwxyz0123456789+/";
static const char for_urls[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
			       "abcdefghijklmnopqrstuvwxyz0123456789-_";

static void add(struct buf *out, const unsigned char *data, size_t len,
		const char *letters, bool pad)
{
	size_t i;

	for (i = 0; i < len; i += 3) {
		size_t n = len - i < 3 ? len - i : 3;
		unsigned bits = (unsigned)data[i] << 16;

		if (n > 1)
			bits |= (unsigned)data[i + 1] << 8;
		if (n > 2)
			bits |= data[i + 2];
		buf_putc(out, letters[bits >> 18]);
		buf_putc(out, letters[bits >> 12 & 63]);
		if (n > 1)
			buf_putc(out, letters[bits >> 6 & 63]);
		if (n > 2)
			buf_putc(out, letters[bits & 63]);
		if (pad)
			buf_fill(out, '=', 3 - n);
	}
}

void base64_add(struct buf *out, const void *data, size_t len)
{
	add(out, data, len, standard, true);
}

void base64_url_add(struct buf *out, const void *data, size_t len)
{
	add(out, data, len, for_urls, false);
}

bool base64_decode(struct buf *out, const char *text, size_t len)
{
	size_t i, letters = 0, pads = 0;
	unsigned bits = 0;

	for (i = 0; i < len; i++) {
		const char *at;

		if (!text[i])
			return false;
		if (strchr(" \t\r\n", text[i]))
			continue;
		if (text[i] == '=') {
			pads++;
			continue;
		}
		at = strchr(standard, text[i]);
		if (!at || pads)
			return false;
		bits = bits << 6 | (unsigned)(at - standard);
		/* Each letter but the first of four completes a byte. */
		if (letters++ % 4)
			buf_putc(out,
				 (char)(bits >> (6 - 2 * ((letters - 1) % 4))));
	}
	return (letters + pads) % 4 == 0 && pads < 3 && letters % 4 != 1;
}
