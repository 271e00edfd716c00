/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/s3/s3_upload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/crc32c.h"

/* "Multipart upload limits" of the Amazon S3 user guide: at most 10,000
 * parts, of at least 5 MiB; AWS's own tools take 8. */
#define PART_MIN ((uint64_t)8 << 20)
#define PARTS_MAX 10000

struct s3_transfer {
	struct s3 *s3;
	const char *bucket, *key;
	const struct object_put *how;
	int fd;
	uint64_t size, part;
	char *id;        /* of the multipart upload; NULL: none */
	struct buf done; /* the parts, as XML */
	uint32_t crc;    /* of all that was read */
	char condition[160];
};

/* Reads the next part; `data` has room for it. */
static int read_part(struct s3_transfer *up, uint64_t at, char *data,
		     size_t len, char crc[9], struct error *err)
{
	size_t have = 0;
	uint32_t sum;
	ssize_t n;

	while (have < len) {
		n = pread(up->fd, data + have, len - have, (off_t)(at + have));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			errno = n < 0 ? errno : EIO;
			return error_errno(err, "cannot read what is to be "
						"uploaded");
		}
		have += (size_t)n;
	}
	sum = crc32c_add(0, data, len);
	up->crc = crc32c_join(up->crc, sum, len);
	crc32c_format(sum, crc);
	return 0;
}

/* 0: done, 1: another object is there, -1: refused. */
static int judge(const struct http_response *answer, struct error *err)
{
	if (answer->status == 412 || answer->status == 409)
		return 1;
	if (answer->status / 100 != 2)
		return s3_refuse(answer, err);
	return 0;
}

static int put_whole(struct s3_transfer *up, struct error *err)
{
	char *data = mem_alloc(up->size + 1);
	char sum[9], checksum[64];
	const char *const signed_headers[] = { checksum, NULL };
	const char *const headers[] = { up->condition[0] ? up->condition : NULL,
					NULL };
	struct s3_call call = {
		.method = "PUT",
		.bucket = up->bucket,
		.key = up->key,
		.signed_headers = signed_headers,
		.headers = headers,
		.content_type = up->how->content_type,
		.body = data,
		.body_len = up->size,
	};
	struct http_response answer = { 0 };
	int ret = read_part(up, 0, data, up->size, sum, err);

	snprintf(checksum, sizeof(checksum), "x-amz-checksum-crc32c:%s", sum);
	if (ret == 0)
		ret = s3_do(up->s3, &call, &answer, err);
	if (ret == 0)
		ret = judge(&answer, err);
	http_response_done(&answer);
	free(data);
	return ret;
}

static int begin(struct s3_transfer *up, struct error *err)
{
	static const char *const query[] = { "uploads", "", NULL };
	static const char *const signed_headers[] = {
		"x-amz-checksum-algorithm:CRC32C",
		"x-amz-checksum-type:FULL_OBJECT", NULL
	};
	struct s3_call call = {
		.method = "POST",
		.bucket = up->bucket,
		.key = up->key,
		.query = query,
		.signed_headers = signed_headers,
		.content_type = up->how->content_type,
	};
	struct http_response answer = { 0 };
	int ret = s3_do(up->s3, &call, &answer, err);

	if (ret == 0 && answer.status / 100 != 2)
		ret = s3_refuse(&answer, err);
	if (ret == 0) {
		up->id = xml_text(s3_body(&answer), "UploadId");
		if (!*up->id)
			ret = error_set(err, ERROR_FAILED,
					"the store gives no UploadId");
	}
	http_response_done(&answer);
	return ret;
}

static int put_part(struct s3_transfer *up, long number, const char *data,
		    size_t len, const char *sum, struct error *err)
{
	char text[24], checksum[64];
	const char *const query[] = { "partNumber", text, "uploadId", up->id,
				      NULL };
	const char *const signed_headers[] = { checksum, NULL };
	struct s3_call call = {
		.method = "PUT",
		.bucket = up->bucket,
		.key = up->key,
		.query = query,
		.signed_headers = signed_headers,
		.body = data,
		.body_len = len,
	};
	struct http_response answer = { 0 };
	char *tag = NULL;
	int ret;

	snprintf(text, sizeof(text), "%ld", number);
	snprintf(checksum, sizeof(checksum), "x-amz-checksum-crc32c:%s", sum);
	ret = s3_do(up->s3, &call, &answer, err);
	if (ret == 0 && answer.status / 100 != 2)
		ret = s3_refuse(&answer, err);
	if (ret == 0 && !(tag = http_response_header(&answer, "etag")))
		ret = error_set(err, ERROR_FAILED,
				"the store gives a part no ETag");
	if (ret == 0)
		buf_printf(&up->done,
			   "<Part><ETag>%s</ETag><ChecksumCRC32C>%s"
			   "</ChecksumCRC32C><PartNumber>%ld</PartNumber>"
			   "</Part>",
			   tag, sum, number);
	free(tag);
	http_response_done(&answer);
	return ret;
}

static int put_parts(struct s3_transfer *up, struct error *err)
{
	char *data = mem_alloc(up->part);
	uint64_t at;
	size_t len;
	char sum[9];
	int ret = 0;

	for (at = 0; ret == 0 && at < up->size; at += len) {
		len = up->size - at < up->part ? up->size - at : up->part;
		ret = read_part(up, at, data, len, sum, err);
		if (ret == 0)
			ret = put_part(up, (long)(at / up->part) + 1, data, len,
				       sum, err);
	}
	free(data);
	return ret;
}

/* The answer may be 200 and hold an error nevertheless. */
static int complete(struct s3_transfer *up, struct error *err)
{
	const char *const query[] = { "uploadId", up->id, NULL };
	const char *const headers[] = { up->condition[0] ? up->condition : NULL,
					NULL };
	char sum[9], checksum[64];
	const char *const signed_headers[] = {
		checksum, "x-amz-checksum-type:FULL_OBJECT", NULL
	};
	struct s3_call call = {
		.method = "POST",
		.bucket = up->bucket,
		.key = up->key,
		.query = query,
		.signed_headers = signed_headers,
		.headers = headers,
		.content_type = "application/xml",
	};
	struct http_response answer = { 0 };
	struct buf body = { 0 };
	struct xml from, found;
	int ret;

	crc32c_format(up->crc, sum);
	snprintf(checksum, sizeof(checksum), "x-amz-checksum-crc32c:%s", sum);
	buf_printf(&body,
		   "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/"
		   "doc/2006-03-01/\">%s</CompleteMultipartUpload>",
		   buf_text(&up->done));
	call.body = body.data;
	call.body_len = body.len;
	ret = s3_do(up->s3, &call, &answer, err);
	if (ret == 0)
		ret = judge(&answer, err);
	from = s3_body(&answer);
	if (ret == 0 && xml_next(&from, "Error", &found)) {
		answer.status = 500;
		ret = s3_refuse(&answer, err);
	}
	buf_done(&body);
	http_response_done(&answer);
	return ret;
}

/* Parts that nobody completes cost money. */
static void abort_parts(struct s3_transfer *up)
{
	const char *const query[] = { "uploadId", up->id, NULL };
	struct s3_call call = { .method = "DELETE",
				.bucket = up->bucket,
				.key = up->key,
				.query = query };
	struct http_response answer = { 0 };
	struct error ignored;

	s3_do(up->s3, &call, &answer, &ignored);
	http_response_done(&answer);
}

static int put_multipart(struct s3_transfer *up, struct error *err)
{
	int ret = begin(up, err);

	if (ret == 0)
		ret = put_parts(up, err);
	if (ret == 0)
		ret = complete(up, err);
	if (ret != 0 && up->id && *up->id)
		abort_parts(up);
	return ret;
}

int s3_upload(struct s3 *s3, const char *bucket, const char *key, int fd,
	      const struct object_put *how, uint32_t *crc32c, uint64_t *size,
	      struct error *err)
{
	struct s3_transfer up = {
		.s3 = s3, .bucket = bucket, .key = key, .how = how, .fd = fd
	};
	struct stat st;
	int ret;

	if (fstat(fd, &st) < 0)
		return error_errno(err, "cannot read what is to be uploaded");
	up.size = (uint64_t)st.st_size;
	up.part = (up.size / PARTS_MAX + PART_MIN) / PART_MIN * PART_MIN;
	if (how->version ? !*how->version : !how->replace)
		snprintf(up.condition, sizeof(up.condition),
			 "If-None-Match: *");
	else if (how->version)
		snprintf(up.condition, sizeof(up.condition), "If-Match: %s",
			 how->version);
	ret = up.size <= PART_MIN ? put_whole(&up, err)
				  : put_multipart(&up, err);
	*crc32c = up.crc;
	*size = up.size;
	buf_done(&up.done);
	free(up.id);
	return ret;
}
