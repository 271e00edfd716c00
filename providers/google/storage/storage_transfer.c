/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uploads and downloads contents.  An upload is a session (a URL that is a
 * secret): the bytes are sent in one request, and after an interruption the
 * server is asked how many it has.  A download goes on after the last byte
 * received.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/crc32c.h"
#include "core/base/json.h"
#include "core/net/url.h"
#include "providers/google/api.h"
#include "providers/google/base/api_error.h"
#include "providers/google/base/endpoint.h"
#include "providers/google/storage/storage_internal.h"

/* Sessions keep whole chunks of this size, so a smaller file is sent in one
 * request. */
#define SMALL_MAX ((uint64_t)1 << 18)

/* The same as in google-resumable-media-python. */
static const struct retry_policy patience = {
	.first_ms = 1000,
	.max_ms = 64000,
	.total_ms = 600000,
};

/* An interruption: how long it has lasted, and whether to go on. */
struct patience {
	int64_t begun_ms; /* first of the failures in a row; 0: none */
	int failed;
};

/* Waits for the next try; returns -1, with `err` unchanged, if the time is
 * over. */
static int be_patient(struct google *google, struct patience *so_far,
		      struct error *err)
{
	int64_t now = time_monotonic_ms(), delay;

	if (!so_far->begun_ms)
		so_far->begun_ms = now;
	delay = retry_delay_ms(&patience, ++so_far->failed, 0);
	if (now + delay - so_far->begun_ms > patience.total_ms)
		return -1;
	return http_sleep(google_http(google), delay, err);
}

struct upload {
	struct google *google;
	const char *bucket, *object;
	const struct storage_put *how;
	int fd;
	uint64_t size;
	char *session; /* URL of the session, or NULL */
	uint64_t kept; /* bytes the server certainly has */
	uint64_t at;   /* next byte to give */
	int source_errno;
	/* The CRC of the bytes sent so far, valid while none was sent twice. */
	uint32_t crc;
	uint64_t crc_at;
	struct patience patience;
	bool taken; /* the object exists: ours, or another */
};

static long give(void *arg, char *data, size_t size)
{
	struct upload *up = arg;
	ssize_t n;

	do {
		n = pread(up->fd, data, size, (off_t)up->at);
	} while (n < 0 && errno == EINTR);
	if (n < 0 || (n == 0 && up->at < up->size)) {
		up->source_errno = n < 0 ? errno : EIO;
		return -1;
	}
	if (up->at == up->crc_at) {
		up->crc = crc32c_add(up->crc, data, (size_t)n);
		up->crc_at += (uint64_t)n;
	}
	up->at += (uint64_t)n;
	return n;
}

static int begin_session(struct upload *up, struct error *err)
{
	const char *type = up->how->content_type ? up->how->content_type
						 : "application/octet-stream";
	char number[24], size_header[64];
	char *type_header = mem_printf("X-Upload-Content-Type: %s", type);
	const char *const headers[] = { type_header, size_header, NULL };
	struct http_request request = {
		.method = "POST",
		.headers = headers,
		.content_type = "application/json; charset=UTF-8",
		.flags = HTTP_REPEATABLE, /* an extra session costs nothing */
	};
	struct http_response answer = { 0 };
	json_t *body = json_object();
	struct buf url = { 0 };
	char *text;
	int ret;

	snprintf(size_header, sizeof(size_header),
		 "X-Upload-Content-Length: %llu", (unsigned long long)up->size);
	snprintf(number, sizeof(number), "%lld", up->how->generation);
	json_put_text(body, "name", up->object);
	json_put_text(body, "contentType", type);
	text = json_dumps(body, JSON_COMPACT);
	endpoint_add_root(SERVICE_STORAGE, NULL, &url);
	buf_puts(&url, "upload/storage/v1/");
	storage_path_add(&url, up->bucket, NULL);
	url_add_query(&url, "uploadType", "resumable");
	url_add_query(&url, "name", up->object);
	url_add_query(&url, "ifGenerationMatch", number);
	request.url = url.data;
	request.body = text;
	request.body_len = strlen(text);
	ret = api_send(up->google, &request, &answer, err);
	if (ret == 0 && answer.status / 100 == 2) {
		up->session = http_response_header(&answer, "location");
		up->kept = 0;
		if (!up->session)
			ret = error_set(err, ERROR_FAILED,
					"Cloud Storage gives no upload "
					"location");
	} else if (ret == 0 && answer.status == 412) {
		up->taken = true;
	} else if (ret == 0) {
		ret = api_error_set(&answer, err);
	}
	http_response_done(&answer);
	buf_done(&url);
	json_decref(body);
	free(type_header);
	free(text);
	return ret;
}

/* Reads "bytes=0-N": the server has N+1 bytes, without the header none. */
static int read_kept(struct upload *up, const struct http_response *answer,
		     struct error *err)
{
	char *range = http_response_header(answer, "range");
	unsigned long long last = 0;
	uint64_t kept = 0;
	int ret = 0;

	if (range && sscanf(range, "bytes=0-%llu", &last) == 1)
		kept = last + 1;
	if (kept < up->kept || kept > up->size)
		ret = error_set(err, ERROR_FAILED,
				"Cloud Storage has lost a part of the upload");
	else if (kept > up->kept)
		up->patience = (struct patience){ 0 };
	if (ret == 0)
		up->kept = kept;
	free(range);
	return ret;
}

enum step {
	STEP_FAILED, /* `err` says why */
	STEP_DONE,
	STEP_GO_ON,  /* continue at `kept` */
	STEP_BROKEN, /* `err` says why; ask for `kept` later */
	STEP_ANEW,   /* the session is gone */
};

static enum step judge_put(struct upload *up,
			   const struct http_response *answer,
			   struct error *err)
{
	switch (answer->status) {
	case 200:
	case 201:
		return STEP_DONE;
	case 308:
		return read_kept(up, answer, err) < 0 ? STEP_FAILED
						      : STEP_GO_ON;
	case 404:
	case 410:
		error_set(err, ERROR_UNREACHABLE,
			  "Cloud Storage has forgotten "
			  "the upload");
		return STEP_ANEW;
	case 412:
		up->taken = true;
		return STEP_DONE;
	default:
		api_error_set(answer, err);
		return api_error_judge(answer) == RETRY_NEVER ? STEP_FAILED
							      : STEP_BROKEN;
	}
}

/* Sends all that is left, or with `ask` nothing, to learn how much the server
 * has. */
static enum step put(struct upload *up, bool ask, struct http_response *answer,
		     struct error *err)
{
	char range[100];
	const char *const headers[] = { range, NULL };
	struct http_request request = {
		.method = "PUT",
		.url = up->session,
		.headers = headers,
		/* The request can be repeated, as the service stores no byte of
		 * a range twice. */
		.flags = HTTP_REPEATABLE,
		.arg = up,
	};

	if (ask || !up->size) {
		snprintf(range, sizeof(range), "Content-Range: bytes */%llu",
			 (unsigned long long)up->size);
	} else {
		snprintf(range, sizeof(range),
			 "Content-Range: bytes %llu-%llu/%llu",
			 (unsigned long long)up->kept,
			 (unsigned long long)up->size - 1,
			 (unsigned long long)up->size);
		request.source = give;
		request.source_len = up->size - up->kept;
		up->at = up->kept;
	}
	if (http_do(google_http(up->google), &request, answer, err) < 0) {
		if (!up->source_errno)
			return err->code == ERROR_UNREACHABLE ? STEP_BROKEN
							      : STEP_FAILED;
		errno = up->source_errno;
		error_errno(err, "cannot read what is to be uploaded");
		return STEP_FAILED;
	}
	return judge_put(up, answer, err);
}

bool storage_is_small(uint64_t size)
{
	return size <= SMALL_MAX;
}

static int read_small(struct upload *up, char *data, struct error *err)
{
	long n = 1;

	while (n > 0 && up->at < up->size)
		n = give(up, data + up->at, up->size - up->at);
	if (n > 0 || !up->size)
		return 0;
	errno = up->source_errno;
	return error_errno(err, "cannot read what is to be uploaded");
}

/* Writes the message of multipart/related: what the object is called, and its
 * bytes. */
static void put_parts(const struct upload *up, const char *boundary,
		      const char *type, const char *data, struct buf *out)
{
	json_t *about = json_object();
	char crc[9];
	char *text;

	crc32c_format(up->crc, crc);
	json_put_text(about, "name", up->object);
	json_put_text(about, "contentType", type);
	json_put_text(about, "crc32c", crc);
	text = json_dumps(about, JSON_COMPACT);
	buf_printf(out,
		   "--%s\r\nContent-Type: application/json; "
		   "charset=UTF-8\r\n\r\n%s\r\n--%s\r\nContent-Type: "
		   "%s\r\n\r\n",
		   boundary, text, boundary, type);
	buf_add(out, data, up->size);
	buf_printf(out, "\r\n--%s--\r\n", boundary);
	free(text);
	json_decref(about);
}

static int send_parts(struct upload *up, const char *data,
		      struct http_response *answer, struct error *err)
{
	const char *type = up->how->content_type ? up->how->content_type
						 : "application/octet-stream";
	unsigned long long random[2];
	char boundary[40], number[24], content_type[80];
	struct buf url = { 0 }, body = { 0 };
	struct http_request request = { .method = "POST",
					.content_type = content_type,
					.flags = HTTP_REPEATABLE };
	int ret;

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return error_errno(err, "cannot get a random number");
	snprintf(boundary, sizeof(boundary), "%016llx%016llx", random[0],
		 random[1]);
	snprintf(content_type, sizeof(content_type),
		 "multipart/related; boundary=%s", boundary);
	snprintf(number, sizeof(number), "%lld", up->how->generation);
	put_parts(up, boundary, type, data, &body);
	endpoint_add_root(SERVICE_STORAGE, NULL, &url);
	buf_puts(&url, "upload/storage/v1/");
	storage_path_add(&url, up->bucket, NULL);
	url_add_query(&url, "uploadType", "multipart");
	url_add_query(&url, "ifGenerationMatch", number);
	request.url = url.data;
	request.body = body.data;
	request.body_len = body.len;
	ret = api_send(up->google, &request, answer, err);
	if (ret == 0 && answer->status == 412)
		up->taken = true;
	else if (ret == 0 && answer->status / 100 != 2)
		ret = api_error_set(answer, err);
	buf_done(&url);
	buf_done(&body);
	return ret;
}

/* Sends a file that a session could only keep as a whole in one request. */
static int transfer_small(struct upload *up, struct http_response *answer,
			  struct error *err)
{
	char *data = mem_alloc(up->size + 1);
	int ret = read_small(up, data, err);

	if (ret == 0)
		ret = send_parts(up, data, answer, err);
	free(data);
	return ret;
}

static int transfer(struct upload *up, struct http_response *answer,
		    struct error *err)
{
	enum step step = STEP_GO_ON;
	uint64_t before;
	bool ask = false;

	if (storage_is_small(up->size))
		return transfer_small(up, answer, err);
	for (;;) {
		if (!up->session) {
			if (begin_session(up, err) < 0)
				return -1;
			if (up->taken)
				return 0;
		}
		before = up->kept;
		step = put(up, ask, answer, err);
		/* All bytes were sent, but none stored. */
		if (step == STEP_GO_ON && !ask && up->kept == before) {
			error_set(err, ERROR_UNREACHABLE,
				  "Cloud Storage keeps nothing of it");
			step = STEP_BROKEN;
		}
		ask = step == STEP_BROKEN;
		switch (step) {
		case STEP_FAILED:
			return -1;
		case STEP_DONE:
			return 0;
		case STEP_GO_ON:
			break;
		case STEP_ANEW:
			free(up->session);
			up->session = NULL;
			/* fall through */
		case STEP_BROKEN:
			if (up->how->broken)
				up->how->broken(up->how->arg, err);
			if (be_patient(up->google, &up->patience, err) < 0)
				return -1;
		}
	}
}

/* Computes the CRC of the whole file, unless the bytes were sent in one
 * piece. */
static int whole_crc(struct upload *up, struct error *err)
{
	size_t size = 1 << 18;
	char *data;
	long n;

	if (up->crc_at == up->size)
		return 0;
	data = mem_alloc(size);
	up->at = up->crc_at;
	do {
		n = give(up, data, size);
	} while (n > 0);
	free(data);
	if (n < 0) {
		errno = up->source_errno;
		return error_errno(err, "cannot read what was uploaded");
	}
	return 0;
}

/* Checks that the object has the intended contents. */
static int check(struct upload *up, const struct http_response *answer,
		 struct arena *mem, struct storage_object *out,
		 struct error *err)
{
	char crc[9];
	json_t *body =
		json_loadb(buf_text(&answer->body), answer->body.len, 0, NULL);

	if (up->taken || !body) {
		if (storage_stat(up->google, up->bucket, up->object, mem, out,
				 err) < 0) {
			json_decref(body);
			return -1;
		}
	} else {
		storage_object_read(body, mem, out);
	}
	json_decref(body);
	if (whole_crc(up, err) < 0)
		return -1;
	crc32c_format(up->crc, crc);
	if (out->exists && out->size == up->size && !strcmp(out->crc32c, crc))
		return 0;
	if (up->taken)
		return error_set(err, ERROR_FAILED,
				 out->exists ? "another object is there"
					     : "another object was there, and "
					       "is gone");
	/* Delete the broken object, or others might use it. */
	storage_delete(up->google, up->bucket, up->object, out->generation,
		       &(struct error){ 0 });
	return error_set(err, ERROR_FAILED,
			 "it arrived corrupted: its CRC-32C is %.20s, not %s",
			 out->crc32c, crc);
}

int storage_put_file(struct google *google, const char *bucket,
		     const char *object, int fd, const struct storage_put *how,
		     struct arena *mem, struct storage_object *out,
		     struct error *err)
{
	struct upload up = { .google = google,
			     .bucket = bucket,
			     .object = object,
			     .how = how,
			     .fd = fd };
	struct http_response answer = { 0 };
	struct storage_object found;
	struct stat st;
	int ret;

	if (fstat(fd, &st) < 0)
		return error_errno(err, "cannot read what is to be uploaded");
	up.size = (uint64_t)st.st_size;
	ret = transfer(&up, &answer, err);
	if (ret == 0)
		ret = check(&up, &answer, mem, &found, err);
	if (ret < 0)
		error_prefix(err, "gs://%s/%s", bucket, object);
	else if (out)
		*out = found;
	http_response_done(&answer);
	free(up.session);
	return ret;
}

struct download {
	storage_sink *sink;
	void *arg;
	uint64_t at, end;
	uint32_t crc;
	bool wrong; /* not the requested bytes */
};

static int take(void *arg, const struct http_response *answer, const char *data,
		size_t len)
{
	struct download *down = arg;

	/* Status 200 gives the whole object from its start. */
	if ((answer->status != 206 && down->at) || len > down->end - down->at) {
		down->wrong = true;
		return -1;
	}
	if (down->sink(down->arg, data, len) < 0)
		return -1;
	down->crc = crc32c_add(down->crc, data, len);
	down->at += len;
	return 0;
}

/* Reads the rest: returns 0 for a complete answer, 1 if it broke off, -1 if it
 * was refused. */
static int get_rest(struct google *google, const char *url,
		    struct download *down, struct error *err)
{
	char range[80];
	const char *const headers[] = { range, NULL };
	struct http_request request = {
		.method = "GET",
		.url = url,
		.headers = headers,
		.flags = HTTP_REPEATABLE,
		.judge = api_error_judge,
		.sink = take,
		.arg = down,
	};
	struct http_response answer = { 0 };
	int ret;

	snprintf(range, sizeof(range), "Range: bytes=%llu-%llu",
		 (unsigned long long)down->at,
		 (unsigned long long)down->end - 1);
	ret = api_send(google, &request, &answer, err);
	if (ret < 0 && down->wrong)
		error_set(err, ERROR_FAILED,
			  "Cloud Storage sends bytes other than those "
			  "requested");
	else if (ret < 0 && err->code == ERROR_UNREACHABLE)
		ret = 1;
	else if (ret == 0 && answer.status / 100 != 2)
		ret = api_error_set(&answer, err);
	http_response_done(&answer);
	return ret;
}

int storage_read(struct google *google, const char *bucket,
		 const struct storage_object *object, uint64_t offset,
		 uint64_t len, storage_sink *sink, void *arg, struct error *err)
{
	struct download down = {
		.sink = sink, .arg = arg, .at = offset, .end = offset + len
	};
	bool whole = !offset && len == object->size;
	struct patience patient = { 0 };
	char generation[24], crc[9];
	struct buf url = { 0 };
	uint64_t before;
	int ret = 0;

	snprintf(generation, sizeof(generation), "%lld", object->generation);
	endpoint_add(SERVICE_STORAGE, NULL, &url);
	storage_path_add(&url, bucket, object->name);
	url_add_query(&url, "alt", "media");
	url_add_query(&url, "generation", generation);
	while (ret >= 0 && down.at < down.end) {
		before = down.at;
		ret = get_rest(google, url.data, &down, err);
		if (down.at > before)
			patient = (struct patience){ 0 };
		if (ret == 0 && down.at == before)
			ret = error_set(err, ERROR_FAILED,
					"the object is shorter than announced");
		else if (ret > 0)
			ret = be_patient(google, &patient, err);
	}
	crc32c_format(down.crc, crc);
	if (ret == 0 && whole && *object->crc32c &&
	    strcmp(object->crc32c, crc) != 0)
		ret = error_set(err, ERROR_FAILED,
				"it arrived corrupted: its CRC-32C is %s, not "
				"%.20s",
				crc, object->crc32c);
	if (ret < 0)
		error_prefix(err, "gs://%s/%s", bucket, object->name);
	buf_done(&url);
	return ret;
}
