/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writing side of log.h.  A piece is appended to its raw file, then its
 * record to the index.  A piece that cannot be indexed is taken back, so the
 * index covers the raw files exactly, except for one piece that a killed writer
 * may have left.
 */
#include "core/log/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/log/log_file.h"

/* A record's length has 32 bits. */
#define PIECE_MAX ((size_t)1 << 30)
/* How often losses are recorded while bytes are being lost. */
#define NOTE_EVERY_MS 1000

/* The bytes read at once from a pipe that cannot be spliced. */
#define CHUNK_SIZE ((size_t)64 << 10)

struct raw {
	int fd; /* -1: nothing written yet */
	uint64_t size;
	bool broken; /* holds bytes that could not be taken back */
	/* its file system does not support splicing from a pipe */
	bool no_splice;
	uint64_t gone;    /* all bytes lost so far */
	uint64_t lost;    /* lost bytes without a record yet */
	int64_t lost_ms;  /* when the first of them was lost */
	int64_t noted_ms; /* when a loss was last recorded */
};

struct log_writer {
	char *folder; /* of the run */
	char *type;
	int task; /* its index among those of its type */
	struct raw raw[LOG_STREAMS];
	int index; /* -1: does not exist yet */
	uint64_t index_size;
	bool index_torn; /* part of a record could not be taken back */
	uint64_t lost;   /* in all */
};

/* Takes the path.  Files are created only when there is something to write, as
 * many tasks never write anything. */
static int open_file(char *path, int flags)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | flags, 0600);

	free(path);
	return fd;
}

static int open_raw(struct log_writer *writer, unsigned stream, int flags)
{
	struct raw *raw = &writer->raw[stream];

	if (raw->fd < 0)
		raw->fd =
			open_file(log_stream_path(writer->folder, writer->type,
						  writer->task, stream),
				  flags);
	return raw->fd < 0 ? -1 : 0;
}

static int open_index(struct log_writer *writer, int flags)
{
	if (writer->index < 0)
		writer->index =
			open_file(log_index_path(writer->folder, writer->type,
						 writer->task),
				  flags);
	return writer->index < 0 ? -1 : 0;
}

static bool note(struct log_writer *writer, int64_t time_ms, size_t len,
		 unsigned kind)
{
	struct log_record record = { .time_ms = time_ms,
				     .len = (uint32_t)len,
				     .kind = kind };
	ssize_t n;

	if (open_index(writer, O_CREAT) < 0)
		return false;
	if (writer->index_torn) {
		if (ftruncate(writer->index, (off_t)writer->index_size) < 0)
			return false;
		writer->index_torn = false;
	}
	do
		n = pwrite(writer->index, &record, sizeof(record),
			   (off_t)writer->index_size);
	while (n < 0 && errno == EINTR);
	if (n == (ssize_t)sizeof(record)) {
		writer->index_size += sizeof(record);
		return true;
	}
	if (n > 0)
		writer->index_torn =
			ftruncate(writer->index, (off_t)writer->index_size) < 0;
	return false;
}

static bool note_lost(struct log_writer *writer, enum log_stream stream)
{
	struct raw *raw = &writer->raw[stream];

	while (raw->lost) {
		size_t len = raw->lost < PIECE_MAX ? raw->lost : PIECE_MAX;

		if (!note(writer, raw->lost_ms, len, stream | LOG_KIND_LOST))
			return false;
		raw->lost -= len;
	}
	return true;
}

static void lose(struct log_writer *writer, enum log_stream stream, size_t len,
		 int64_t time_ms)
{
	struct raw *raw = &writer->raw[stream];

	if (!raw->lost)
		raw->lost_ms = time_ms;
	raw->lost += len;
	raw->gone += len;
	writer->lost += len;
	if (time_ms < raw->noted_ms ||
	    time_ms - raw->noted_ms >= NOTE_EVERY_MS) {
		if (note_lost(writer, stream))
			raw->noted_ms = time_ms;
	}
}

static size_t write_some(const struct raw *raw, const char *data, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = pwrite(raw->fd, data + done, len - done,
				   (off_t)(raw->size + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return done;
}

/* Records `len` bytes appended to the raw file, and takes back those that can't
 * be recorded.  Returns how many have stayed. */
static size_t keep(struct log_writer *writer, enum log_stream stream,
		   size_t len, int64_t time_ms)
{
	struct raw *raw = &writer->raw[stream];

	/* Record earlier losses before this piece. */
	if (note_lost(writer, stream) && note(writer, time_ms, len, stream)) {
		raw->size += len;
		return len;
	}
	raw->broken = ftruncate(raw->fd, (off_t)raw->size) < 0;
	return 0;
}

static void add_piece(struct log_writer *writer, enum log_stream stream,
		      const char *data, size_t len, int64_t time_ms)
{
	struct raw *raw = &writer->raw[stream];
	size_t done = 0;

	if (!raw->broken && open_raw(writer, stream, O_CREAT) == 0)
		done = write_some(raw, data, len);
	if (done)
		done = keep(writer, stream, done, time_ms);
	if (done < len)
		lose(writer, stream, len - done, time_ms);
}

void log_writer_add(struct log_writer *writer, enum log_stream stream,
		    const void *data, size_t len, int64_t time_ms)
{
	const char *p = data;

	while (len) {
		size_t piece = len < PIECE_MAX ? len : PIECE_MAX;

		add_piece(writer, stream, p, piece, time_ms);
		p += piece;
		len -= piece;
	}
}

/* Copies from a pipe that can't be spliced, or not now. */
static ssize_t take_copy(struct log_writer *writer, enum log_stream stream,
			 int fd, size_t limit, int64_t time_ms)
{
	char chunk[CHUNK_SIZE];
	ssize_t n;

	do
		n = read(fd, chunk,
			 limit < sizeof(chunk) ? limit : sizeof(chunk));
	while (n < 0 && errno == EINTR);
	if (n > 0)
		log_writer_add(writer, stream, chunk, (size_t)n, time_ms);
	return n;
}

ssize_t log_writer_take(struct log_writer *writer, enum log_stream stream,
			int fd, size_t limit, int64_t time_ms)
{
	struct raw *raw = &writer->raw[stream];
	off_t at = (off_t)raw->size;
	size_t kept;
	ssize_t n;

	/* Create the file for the first byte, not for the end of the pipe. */
	if (raw->fd < 0 || raw->broken || raw->no_splice)
		return take_copy(writer, stream, fd, limit, time_ms);
	do
		n = splice(fd, NULL, raw->fd, &at, limit, SPLICE_F_NONBLOCK);
	while (n < 0 && errno == EINTR);
	if (n == 0 || (n < 0 && errno == EAGAIN))
		return n;
	if (n < 0) {
		raw->no_splice = errno == EINVAL;
		return take_copy(writer, stream, fd, limit, time_ms);
	}
	kept = keep(writer, stream, (size_t)n, time_ms);
	if (kept < (size_t)n)
		lose(writer, stream, (size_t)n - kept, time_ms);
	return n;
}

/* Sums up the index, and removes half a record at its end. */
static int index_sum(struct log_writer *writer, uint64_t *sums,
		     struct error *err)
{
	struct log_record records[256];
	struct stat st;
	uint64_t at = 0;
	int64_t n;

	if (writer->index < 0)
		return 0;
	if (fstat(writer->index, &st) < 0)
		return error_errno(err, "cannot read the index of a log");
	writer->index_size =
		(uint64_t)st.st_size / sizeof(records[0]) * sizeof(records[0]);
	if ((uint64_t)st.st_size != writer->index_size)
		writer->index_torn = true; /* the next note() repairs it */
	for (; at < writer->index_size; at += sizeof(records)) {
		n = log_pread(writer->index, records, sizeof(records), at);
		if (n < 0)
			return error_errno(err,
					   "cannot read the index of a log");
		for (size_t i = 0; i < (size_t)n / sizeof(records[0]); i++) {
			unsigned stream = records[i].kind & ~LOG_KIND_LOST;

			if (records[i].kind < LOG_STREAMS)
				sums[stream] += records[i].len;
			else if (stream < LOG_STREAMS)
				writer->raw[stream].gone += records[i].len;
		}
	}
	return 0;
}

/* Records data that a killed writer appended and did not record. */
static int mend(struct log_writer *writer, struct error *err)
{
	uint64_t sums[LOG_STREAMS] = { 0 };

	if (index_sum(writer, sums, err) < 0)
		return -1;
	for (unsigned i = 0; i < LOG_STREAMS; i++) {
		struct raw *raw = &writer->raw[i];
		struct stat st;
		int64_t time_ms;

		if (raw->fd < 0)
			continue;
		if (fstat(raw->fd, &st) < 0)
			return error_errno(err, "cannot read a log");
		time_ms = (int64_t)st.st_mtim.tv_sec * 1000 +
			  st.st_mtim.tv_nsec / 1000000;
		raw->size = (uint64_t)st.st_size;
		while (sums[i] < raw->size) {
			uint64_t left = raw->size - sums[i];
			size_t len = left < PIECE_MAX ? left : PIECE_MAX;

			if (!note(writer, time_ms, len, i))
				return error_errno(
					err, "cannot write the index of a log");
			sums[i] += len;
		}
	}
	return 0;
}

/* Appends to the files that an earlier writer left. */
static int open_old(struct log_writer *writer, struct error *err)
{
	bool failed = open_index(writer, 0) < 0 && errno != ENOENT;

	for (unsigned i = 0; i < LOG_STREAMS && !failed; i++)
		failed = open_raw(writer, i, 0) < 0 && errno != ENOENT;
	if (failed)
		return error_errno(err, "cannot open the log of %s %d in '%s'",
				   writer->type, writer->task, writer->folder);
	return mend(writer, err);
}

struct log_writer *log_writer_open(const char *folder, const char *type,
				   int index, struct error *err)
{
	struct log_writer *writer = mem_alloc(sizeof(*writer));
	char *logs = log_folder_path(folder);

	writer->folder = mem_strdup(folder);
	writer->type = mem_strdup(type);
	writer->task = index;
	writer->index = -1;
	for (int i = 0; i < LOG_STREAMS; i++) {
		writer->raw[i].fd = -1;
		writer->raw[i].noted_ms = INT64_MIN / 2;
	}
	if (folder_make(logs, err) < 0 || open_old(writer, err) < 0) {
		log_writer_close(writer);
		writer = NULL;
	}
	free(logs);
	return writer;
}

uint64_t log_writer_lost(const struct log_writer *writer)
{
	return writer ? writer->lost : 0;
}

void log_writer_lose(struct log_writer *writer, enum log_stream stream,
		     uint64_t len, int64_t time_ms)
{
	lose(writer, stream, (size_t)len, time_ms);
}

uint64_t log_writer_position(const struct log_writer *writer,
			     enum log_stream stream)
{
	return writer->raw[stream].size + writer->raw[stream].gone;
}

void log_writer_close(struct log_writer *writer)
{
	if (!writer)
		return;
	for (int i = 0; i < LOG_STREAMS; i++) {
		note_lost(writer, i);
		if (writer->raw[i].fd >= 0)
			close(writer->raw[i].fd);
	}
	if (writer->index >= 0)
		close(writer->index);
	free(writer->folder);
	free(writer->type);
	free(writer);
}
