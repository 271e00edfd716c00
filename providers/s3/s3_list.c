/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/s3/s3_list.h"

#include <stdlib.h>
#include <string.h>

struct s3_listing {
	int (*each)(void *arg, const struct s3_entry *entry, struct error *err);
	void *arg;
	char *next; /* where the next page begins; "": there is none */
};

static int digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c | 0x20) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Keys are asked for in the encoding of URLs, as XML can't hold all of them.
 * Decodes in place. */
static void decode(char *text)
{
	char *out = text;

	for (; *text; text++) {
		if (*text == '%' && digit(text[1]) >= 0 &&
		    digit(text[2]) >= 0) {
			*out++ = (char)(digit(text[1]) << 4 | digit(text[2]));
			text += 2;
		} else {
			*out++ = *text == '+' ? ' ' : *text;
		}
	}
	*out = '\0';
}

static int take_one(struct s3_listing *listing, struct xml of,
		    struct error *err)
{
	char *key = xml_text(of, "Key"), *tag = xml_text(of, "ETag");
	char *size = xml_text(of, "Size");
	struct s3_entry entry = { key, tag, strtoull(size, NULL, 10) };
	int ret;

	decode(key);
	ret = listing->each(listing->arg, &entry, err);
	free(size);
	free(tag);
	free(key);
	return ret;
}

static int take_page(struct s3_listing *listing, struct xml page,
		     struct error *err)
{
	struct xml rest = page, one;
	char *more = xml_text(page, "IsTruncated");
	int ret = 0;

	while (ret == 0 && xml_next(&rest, "Contents", &one))
		ret = take_one(listing, one, err);
	free(listing->next);
	listing->next = xml_text(page, "NextContinuationToken");
	if (!strcmp(more, "true") && !*listing->next)
		ret = error_set(err, ERROR_FAILED,
				"the store does not say where the list goes "
				"on");
	if (strcmp(more, "true") != 0)
		listing->next[0] = '\0';
	free(more);
	return ret;
}

int s3_list(struct s3 *s3, const char *bucket, const char *prefix,
	    int (*each)(void *arg, const struct s3_entry *entry,
			struct error *err),
	    void *arg, struct error *err)
{
	struct s3_listing listing = { .each = each, .arg = arg };
	const char *query[] = { "list-type", "2",      "encoding-type",
				"url",       "prefix", prefix,
				NULL,        NULL,     NULL };
	struct s3_call call = { .bucket = bucket, .query = query };
	int ret;

	do {
		struct http_response answer = { 0 };

		if (listing.next) {
			query[6] = "continuation-token";
			query[7] = listing.next;
		}
		ret = s3_do(s3, &call, &answer, err);
		if (ret == 0 && answer.status / 100 != 2)
			ret = s3_refuse(&answer, err);
		if (ret < 0)
			error_prefix(err, "s3://%s/%s", bucket, prefix);
		else
			ret = take_page(&listing, s3_body(&answer), err);
		http_response_done(&answer);
	} while (ret == 0 && *listing.next);
	free(listing.next);
	return ret;
}
