/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frees the front of the spool.  Events are kept, as every client must get
 * them: they and the amount of output freed are written over the end of the
 * freed part, which needs no space on a full disk.  They begin and end where
 * frames did, so that a daemon that is killed in between leaves a valid spool
 * with some events twice.
 */
#include "cmd/jobrun-host/spool_internal.h"

#include <fcntl.h>
#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"

/* Freeing less is not worth the effort. */
#define FREE_MIN ((uint64_t)2 << 20)
/* What is kept is written at the end of the freed part. */
#define TAIL ((uint64_t)512 << 10)
#define KEPT_MAX ((size_t)256 << 10)
#define BLOCK ((size_t)64 << 10) /* longer than any event */
#define PAGE 4096

struct freeing {
	uint32_t round;
	struct wire_out events;
	uint64_t (*totals)[FRAME_STREAMS]; /* by task */
	size_t count;
};

/* Whether output goes into the next log.  A log also has what was written
 * before the first round. */
static bool is_of_next_log(const struct freeing *freeing, uint32_t round)
{
	return round > 1 && round > freeing->round;
}

static void begin_log(struct freeing *freeing, uint32_t round)
{
	if (is_of_next_log(freeing, round)) {
		freeing->events.len = 0;
		freeing->count = 0;
	}
	freeing->round = round;
}

static uint64_t *total_of(struct freeing *freeing, uint32_t task,
			  uint32_t stream)
{
	size_t count = (size_t)task + 1;

	if (count > freeing->count) {
		uint64_t(*more)[FRAME_STREAMS] =
			mem_alloc(count * sizeof(*more));

		for (size_t i = 0; i < freeing->count; i++)
			for (int j = 0; j < FRAME_STREAMS; j++)
				more[i][j] = freeing->totals[i][j];
		free(freeing->totals);
		freeing->totals = more;
		freeing->count = count;
	}
	return &freeing->totals[task][stream];
}

static void keep_event(struct freeing *freeing, const struct frame *frame,
		       size_t used, const void *data)
{
	struct frame_event event;
	uint64_t *total;

	if (frame->type == FRAME_PAD || !frame_get_event(frame, &event) ||
	    event.task >= FRAME_TASKS_MAX)
		return;
	begin_log(freeing, event.round);
	if (frame->type != FRAME_LOST && frame->type != FRAME_FREED) {
		wire_put_bytes(&freeing->events, data, used);
		return;
	}
	total = total_of(freeing, event.task, event.stream);
	if (frame->type == FRAME_LOST)
		*total += (uint64_t)event.value;
	else if ((uint64_t)event.value > *total)
		*total = (uint64_t)event.value;
}

/* Looks at one frame, of which `len` bytes are here; returns false if these are
 * too few. */
static bool look_at(struct freeing *freeing, const char *data, size_t len)
{
	struct frame_output output;
	struct frame frame;
	size_t left, used;

	if (frame_get_output_part(data, len, &output, &left)) {
		begin_log(freeing, output.round);
		if (output.task < FRAME_TASKS_MAX)
			*total_of(freeing, output.task, output.stream) +=
				output.len + left;
		return true;
	}
	if (frame_find(data, len, &frame, &used) == FRAME_WHOLE)
		keep_event(freeing, &frame, used, data);
	else if (!frame_is_pad(data, len))
		return false;
	return true;
}

/* Looks at everything that is to be freed; returns false if it can't be
 * read. */
static bool gather(const struct spool *spool, uint64_t until,
		   struct freeing *freeing)
{
	char *block = mem_alloc(BLOCK);
	uint64_t at = spool->start;

	while (at < until) {
		size_t n = spool_read_at(spool->fd, block, BLOCK, at);
		size_t off = 0, size;

		while (off < n && at + off < until) {
			size = frame_size(block + off, n - off);
			if (!size || !look_at(freeing, block + off, n - off))
				break;
			off += size;
		}
		if (!off)
			break;
		at += off;
	}
	free(block);
	return at == until;
}

static void put_totals(struct freeing *freeing)
{
	for (size_t i = 0; i < freeing->count; i++) {
		for (uint32_t j = 0; j < FRAME_STREAMS; j++) {
			struct frame_event event = {
				.task = (uint32_t)i,
				.stream = j,
				.round = freeing->round,
				.time_ms = (uint64_t)time_now_ms(),
				.value = (int64_t)freeing->totals[i][j]
			};

			if (event.value)
				frame_put_event(&freeing->events, FRAME_FREED,
						&event);
		}
	}
}

/* Fills up to `size` bytes with a frame that has no meaning. */
static void put_pad(struct wire_out *out, uint64_t size)
{
	unsigned char header[FRAME_HEADER];

	frame_header(header, FRAME_PAD, (size_t)size - out->len - FRAME_HEADER);
	wire_put_bytes(out, header, sizeof(header));
}

void spool_release(struct spool *spool, uint64_t until)
{
	struct freeing freeing = { 0 };
	uint64_t start;

	if (until < spool->start + FREE_MIN)
		return;
	start = spool_walk(spool->fd, spool->start, until - TAIL, until);
	if (!gather(spool, until, &freeing))
		goto out;
	put_totals(&freeing);
	if (freeing.events.len > KEPT_MAX ||
	    start + KEPT_MAX + FRAME_HEADER > until)
		goto out;
	put_pad(&freeing.events, until - start);
	if (!spool_write_at(spool->fd, freeing.events.data, freeing.events.len,
			    start) ||
	    !spool_write_at(spool->start_fd, &start, sizeof(start), 0))
		goto out;
	spool->start = start;
	/* A file system that can't do this only wastes space. */
	fallocate(spool->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
		  (off_t)(start / PAGE * PAGE));
out:
	wire_out_done(&freeing.events);
	free(freeing.totals);
}
