/* SPDX-License-Identifier: Apache-2.0 */
#include "core/net/url.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/alloc.h"

static bool is_unreserved(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' ||
	       c == '~';
}

void url_encode(struct buf *out, const char *text, const char *keep)
{
	for (; *text; text++) {
		if (is_unreserved(*text) || (keep && strchr(keep, *text)))
			buf_putc(out, *text);
		else
			buf_printf(out, "%%%02X", (unsigned char)*text);
	}
}

static void add_pair(struct buf *out, const char *name, const char *value)
{
	url_encode(out, name, NULL);
	buf_putc(out, '=');
	url_encode(out, value, NULL);
}

void url_add_pair(struct buf *out, const char *name, const char *value)
{
	if (out->len)
		buf_putc(out, '&');
	add_pair(out, name, value);
}

void url_add_query(struct buf *url, const char *name, const char *value)
{
	const char *query = strchr(buf_text(url), '?');

	if (!query)
		buf_putc(url, '?');
	else if (query[1])
		buf_putc(url, '&');
	add_pair(url, name, value);
}

char *url_without_query(const char *url)
{
	size_t len = strcspn(url, "?#");
	const char *slashes = memmem(url, len, "://", 3);
	const char *host = slashes ? slashes + 3 : url;
	const char *end = host + strcspn(host, "/?#");
	const char *at = memrchr(host, '@', (size_t)(end - host));

	if (at)
		return mem_printf("%.*s%.*s", (int)(host - url), url,
				  (int)(url + len - at - 1), at + 1);
	return mem_printf("%.*s", (int)len, url);
}

bool url_host_is_loopback(const char *host)
{
	struct in_addr v4;
	struct in6_addr v6;
	size_t len = strlen(host);
	char *bare;
	bool is;

	if (!strcasecmp(host, "localhost"))
		return true;
	bare = len > 1 && host[0] == '[' && host[len - 1] == ']'
		       ? mem_printf("%.*s", (int)len - 2, host + 1)
		       : mem_strdup(host);
	is = (inet_pton(AF_INET, bare, &v4) == 1 &&
	      ntohl(v4.s_addr) >> 24 == 127) ||
	     (inet_pton(AF_INET6, bare, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6));
	free(bare);
	return is;
}
