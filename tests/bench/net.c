/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP client and the uploads on it, without what a command does besides:
 *
 *	net upload FILE			to gs://bench/object, resumable
 *	net get URL COUNT PARALLEL	so many requests, so many under way
 *	net crc FILE			its CRC-32C, as Cloud Storage has it
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/crc32c.h"
#include "core/net/http.h"
#include "providers/google/google.h"
#include "providers/google/storage/storage.h"

#define PIECE (1 << 20)

static int fail(const struct error *err)
{
	fprintf(stderr, "net: %s\n", err->text);
	return 1;
}

static int upload(const char *path)
{
	static const struct storage_put how = { 0 };
	struct error err;
	struct http *http = http_new(NULL, &err);
	struct google *google;
	struct storage_object object;
	struct arena *mem = arena_new();
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int ret;

	if (!http || fd < 0)
		return 1;
	google = google_open(http);
	ret = storage_put_file(google, "bench", "object", fd, &how, mem,
			       &object, &err);
	close(fd);
	google_close(google);
	http_free(http);
	arena_free(mem);
	return ret < 0 ? fail(&err) : 0;
}

/* As one that gives the next when the oldest is done. */
static int get(const char *base, long count, long parallel)
{
	struct error err;
	struct http *http = http_new(NULL, &err);
	struct http_request *requests =
		mem_alloc((size_t)parallel * sizeof(*requests));
	struct http_call **calls =
		mem_alloc((size_t)parallel * sizeof(struct http_call *));
	char **urls = mem_alloc((size_t)parallel * sizeof(char *));
	struct http_response response = { 0 };
	long i, at;

	if (!http)
		return fail(&err);
	for (i = 0; i < count + parallel; i++) {
		at = i % parallel;
		if (calls[at]) {
			if (http_wait(calls[at], &response, &err) < 0)
				return fail(&err);
			if (response.status != 200)
				return 1;
			http_response_done(&response);
			free(urls[at]);
			calls[at] = NULL;
		}
		if (i >= count)
			continue;
		urls[at] = mem_printf("%s%ld", base, i);
		requests[at] = (struct http_request){
			.method = "GET",
			.url = urls[at],
			.flags = HTTP_REPEATABLE,
		};
		calls[at] = http_start(http, &requests[at]);
	}
	http_free(http);
	free(requests);
	free(calls);
	free(urls);
	return 0;
}

static int crc(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *data = mem_alloc(PIECE);
	uint32_t sum = 0;
	char text[9];
	ssize_t n;

	while ((n = read(fd, data, PIECE)) > 0)
		sum = crc32c_add(sum, data, (size_t)n);
	crc32c_format(sum, text);
	puts(text);
	free(data);
	close(fd);
	return n < 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "upload"))
		return upload(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "crc"))
		return crc(argv[2]);
	if (argc == 5 && !strcmp(argv[1], "get"))
		return get(argv[2], atol(argv[3]), atol(argv[4]));
	fputs("usage: net upload FILE | crc FILE | get URL COUNT PARALLEL\n",
	      stderr);
	return 64;
}
